"""Run scripts of skills: choose the interpreter, stage the files, start a sandbox, collect the output files.

The public names are imported lazily, so that a session that runs no script does not import this code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.execution.interpreters import INTERPRETERS, Interpreter, InterpreterMount, select_interpreter
    from prowess.execution.request import ExecLimits, ExecRequest
    from prowess.execution.result import Artifact, ExecNotice, ExecResult, Guarantees
    from prowess.execution.sandbox import Sandbox, SandboxReport, default_sandbox
    from prowess.execution.staging import stage
    from prowess.execution.workspace import usable_workspace

__all__ = [
    "INTERPRETERS",
    "Artifact",
    "ExecLimits",
    "ExecNotice",
    "ExecRequest",
    "ExecResult",
    "Guarantees",
    "Interpreter",
    "InterpreterMount",
    "Sandbox",
    "SandboxReport",
    "default_sandbox",
    "select_interpreter",
    "stage",
    "usable_workspace",
]

_HOMES = {
    "interpreters": ("INTERPRETERS", "Interpreter", "InterpreterMount", "select_interpreter"),
    "request": ("ExecLimits", "ExecRequest"),
    "result": ("Artifact", "ExecNotice", "ExecResult", "Guarantees"),
    "sandbox": ("Sandbox", "SandboxReport", "default_sandbox"),
    "staging": ("stage",),
    "workspace": ("usable_workspace",),
}


if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, _HOMES)
