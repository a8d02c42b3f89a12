"""Environment variables of a script: a small base set plus the variables of the request, never inherited.

A variable that tells a loader or an interpreter which code to load is refused, because it would run other code than the
script.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.files.workspace_root import SANDBOX_NAME
from prowess._internal.text.variable_names import name_fault
from prowess.errors import InvalidArgumentsError
from prowess.execution.request import LONGEST_STRING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_VARIABLES = 256

SKILL = "/skill"  # directory of the script's skill
HOME = "/tmp/home"
PRIVATE_DIRECTORY = "/tmp/work"  # working directory of a script without a workspace
# In the workspace, because data of a plugin must last from a command to the next hook. The home of a run is discarded.
PLUGIN_DATA = {"CLAUDE_PLUGIN_DATA": f"{SANDBOX_NAME}/.prowess-data"}
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def check_environment(env: Mapping[str, str]) -> None:
    """Refuse variables that may not be set. InvalidArgumentsError has one sentence for each refused variable."""
    problems = [problem for name, value in env.items() if (problem := _fault(name, value))]
    if len(env) > MOST_VARIABLES:
        problems.append(f"env has {len(env)} variables; at most {MOST_VARIABLES} are allowed")
    if problems:
        raise InvalidArgumentsError(tuple(problems))


def check_mounts(mounts: Iterable[tuple[str, str]]) -> None:
    """Refuse mounts outside /skills and the home directory. InvalidArgumentsError has one sentence for each."""
    problems = [
        f"a skill cannot be mounted at {place!r}"
        for place, _ in mounts
        if re.fullmatch(rf"(/skills|{HOME})(/(?!\.\.?(/|\Z))[A-Za-z0-9._-]+)+", place) is None
    ]
    if problems:
        raise InvalidArgumentsError(tuple(problems))


def _fault(name: str, value: str) -> str | None:
    if (fault := name_fault(name)) is not None:
        return fault
    if "\0" in value:
        return f"env variable {name} holds a NUL character"
    if len(name) + 1 + len(value.encode("utf-8", "surrogateescape")) > LONGEST_STRING:
        return f"env variable {name} is longer than {LONGEST_STRING} bytes"
    return None


def base_environment(
    *, session_id: str, workspace: bool, skill: bool = True, skill_imports: bool = True
) -> dict[str, str]:
    """Return the base set of variables, with paths as the script sees them.

    `WORKSPACE` is set only with a workspace, and `SKILL_DIR` only with a skill. With `skill_imports`, Python searches
    the root of the skill for modules, after the directory of the script.
    """
    # Every name here is also in BASE_NAMES of `_internal/text/variable_names.py`, so that callers cannot replace it.
    env = {
        "PATH": PATH,
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "SESSION_ID": session_id,
        "OUT": "/out",
    }
    if skill:
        env["SKILL_DIR"] = SKILL
    if skill and skill_imports:
        # Exactly one directory: an empty entry would mean the working directory, which is the workspace.
        env["PYTHONPATH"] = SKILL
    if workspace:
        env["WORKSPACE"] = SANDBOX_NAME
    return env
