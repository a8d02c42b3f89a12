"""Create the built-in tools of one workspace by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.execution import default_sandbox
from prowess.tools.builtin.bash import Bash
from prowess.tools.builtin.edit import Edit
from prowess.tools.builtin.glob import Glob
from prowess.tools.builtin.grep import Grep
from prowess.tools.builtin.names import BUILTIN_NAMES, builtin_named
from prowess.tools.builtin.read import Read
from prowess.tools.builtin.workspace import Workspace
from prowess.tools.builtin.write import Write

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from prowess.execution import Sandbox
    from prowess.tools.builtin.workspace import Readable
    from prowess.tools.spec import Tool

_WRITING = frozenset({"Write", "Edit"})


def builtin_tools(
    names: str | Iterable[str] | None = None,
    *,
    workspace: str | os.PathLike[str],
    write: bool = False,
    sandbox: Sandbox | None = None,
    readable: Readable = tuple,
    show_scripts: bool = False,
    session_id: str = "",
) -> tuple[Tool, ...]:
    """Return built-in tools for one workspace, in the order of `names`.

    If `names` is None, return all tools; Write and Edit only with `write`. If Write or Edit is named without `write`,
    it refuses every call. `sandbox` defaults to the strongest sandbox of this machine. `readable` returns skill
    directories that may be read in addition to the workspace; it is called at each tool call. `show_scripts` is for
    skill authors (see `Workspace`).

    Raises:
        InvalidArgumentsError: `workspace` cannot be a workspace.
        ToolNotFoundError: a name is not the name of a built-in tool.
    """
    place = Workspace(workspace, write=write, readable=readable, show_scripts=show_scripts)
    chosen = (
        [name for name in BUILTIN_NAMES if write or name not in _WRITING] if names is None else builtin_named(names)
    )
    made: dict[str, Tool] = {tool.spec.name: tool for tool in (Read(place), Write(place), Edit(place), Glob(place))}
    made["Grep"] = Grep(place)
    made["Bash"] = Bash(place, default_sandbox() if sandbox is None else sandbox, session_id=session_id)
    return tuple(made[name] for name in chosen)
