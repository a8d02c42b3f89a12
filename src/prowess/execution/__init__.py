"""Run a script of a skill: choose its interpreter, stage its bytes, start it in a sandbox, bring back what it left."""

from __future__ import annotations

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
