"""The folders `NAME-workspace/iteration-N/`, which all commands that run evals make, one after another.

iteration-N/skill/KIND/NAME/           installed skills; KIND is a configuration, or `neighbours` for further skills
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.contained import check_relative
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError, UnavailableError, UnsafePathError

NEIGHBOURS = "neighbours"
_ITERATION = re.compile(r"iteration-([1-9][0-9]{0,8})")


def iterations(workspace: str) -> list[tuple[int, str]]:
    """Return number and path of the iterations in a workspace, the oldest first."""
    try:
        names = os.listdir(workspace)
    except OSError:
        return []
    found = [(int(match[1]), os.path.join(workspace, name)) for name in names if (match := _ITERATION.fullmatch(name))]
    return sorted(pair for pair in found if os.path.isdir(pair[1]))


def new_iteration(workspace: str) -> str:
    """Create the next folder, and return its path.

    Raises:
        InvalidArgumentsError: it cannot be created.
    """
    while True:
        listed = iterations(workspace)
        path = os.path.join(workspace, f"iteration-{listed[-1][0] + 1 if listed else 1}")
        try:
            os.makedirs(workspace, exist_ok=True)
            os.mkdir(path, 0o700)  # transcripts and journals are private
        except FileExistsError:
            if os.path.isdir(path):
                continue  # another process took the number
            raise InvalidArgumentsError((f"{path} is no folder; name another one with --out",)) from None
        except OSError as fault:
            raise InvalidArgumentsError((f"{path} cannot be created: {fault.strerror}; name another --out",)) from None
        return path


def skill_directory(iteration: str, kind: str, name: str) -> str:
    """Return where the snapshot of a skill is.

    Raises:
        InvalidArgumentsError: `name`, that of a skill, is no name of a folder.
    """
    return os.path.join(iteration, "skill", kind, as_folder_name(name))


def workspace_at(out: str | None, beside: str, name: str) -> str:
    """Return the folder `name` in `out`, or else in `beside`. Recordings leave out places that are absolute.

    Raises:
        InvalidArgumentsError: `name`, which has that of a skill, is no name of a folder.
    """
    return os.path.join(os.path.abspath(out or beside), as_folder_name(name))


def as_folder_name(name: str) -> str:
    """Return a name that was made of a skill's, which can be any text.

    Raises:
        InvalidArgumentsError: a folder of this name would lie somewhere else, or cannot be.
    """
    try:
        parts = check_relative(name)
    except UnsafePathError:
        parts = ()
    if parts != (name,):
        problem = f"{name!r} has the name of a skill and cannot be the name of a folder; rename the skill"
        raise InvalidArgumentsError((f"{problem}, see prowess check",))
    return name


def require_one_source(*, resume: bool, replay: str | None) -> None:
    """Require that runs are not both continued and replayed.

    Raises:
        InvalidArgumentsError: they are.
    """
    if resume and replay is not None:
        raise InvalidArgumentsError(("a replay starts a new iteration; leave --resume or --replay out",))


def write_json(path: str, value: Any) -> None:  # noqa: ANN401 -- JSON
    """Replace a file by JSON that people can read.

    Raises:
        UnavailableError: it cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        write_atomically(path, text.encode("utf-8", "backslashreplace") + b"\n", 0o644)
    except OSError as fault:
        reason, advice = f"it cannot be written: {fault.strerror}", "free space or change the permissions, and resume"
        raise UnavailableError(f"the file {printable_line(path)}", reason=reason, advice=advice) from fault
