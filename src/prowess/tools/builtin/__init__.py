"""Read, Write, Edit, Glob, Grep and Bash: the tools that models know, confined to one workspace.

Public names are imported lazily, because most sessions offer none of these tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.tools.builtin.bash import Bash
    from prowess.tools.builtin.edit import Edit
    from prowess.tools.builtin.glob import Glob
    from prowess.tools.builtin.grep import Grep
    from prowess.tools.builtin.names import BUILTIN_NAMES, builtin_named
    from prowess.tools.builtin.read import Read
    from prowess.tools.builtin.tool_set import builtin_tools
    from prowess.tools.builtin.workspace import Workspace
    from prowess.tools.builtin.write import Write

__all__ = [
    "BUILTIN_NAMES",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "Read",
    "Workspace",
    "Write",
    "builtin_named",
    "builtin_tools",
]

_HOMES = {
    "bash": ("Bash",),
    "edit": ("Edit",),
    "glob": ("Glob",),
    "grep": ("Grep",),
    "names": ("BUILTIN_NAMES", "builtin_named"),
    "read": ("Read",),
    "tool_set": ("builtin_tools",),
    "workspace": ("Workspace",),
    "write": ("Write",),
}


if not TYPE_CHECKING:  # a type checker that sees `__getattr__` would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
