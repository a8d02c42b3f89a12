"""A skill with scripts that a test writes, and one call that runs them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypedDict, Unpack

from prowess.execution.request import ExecLimits, ExecRequest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prowess.execution.result import ExecResult
    from prowess.execution.sandbox import Sandbox


class Options(TypedDict, total=False):
    """What a run may differ in."""

    env: Mapping[str, str]
    workspace: bool
    write: bool
    workdir: str
    stdin: bytes
    limits: ExecLimits
    session_id: str


class Bench:
    """`root` holds `skill`, `workspace` and, after a run, `out`."""

    def __init__(self, sandbox: Sandbox, root: Path) -> None:
        self.sandbox, self.root = sandbox, root
        self.skill, self.workspace, self.out = root / "skill", root / "workspace", root / "out"
        (self.skill / "scripts").mkdir(parents=True)
        self.workspace.mkdir()

    def request(self, script: str, source: str, *args: str, **options: Unpack[Options]) -> ExecRequest:
        """Write the script and return the request that runs it."""
        (self.skill / "scripts" / script).write_text(source, encoding="utf-8")
        workspace = str(self.workspace) if options.pop("workspace", False) else None
        return ExecRequest(
            skill_dir=str(self.skill),
            script=f"scripts/{script}",
            args=args,
            workspace=workspace,
            out_dir=str(self.out),
            **{"limits": ExecLimits(wall_seconds=10), **options},  # type: ignore[arg-type]  # a merged TypedDict is a dict to mypy
        )

    async def sh(self, source: str, *args: str, **options: Unpack[Options]) -> ExecResult:
        """Run a shell script."""
        return await self.sandbox.run(self.request("run.sh", source, *args, **options))

    async def python(self, source: str, *args: str, **options: Unpack[Options]) -> ExecResult:
        """Run a Python script."""
        return await self.sandbox.run(self.request("run.py", source, *args, **options))


def processes_with(token: str) -> list[str]:
    """Return the process ids whose command line holds the token."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if token.encode() in file.read():
                        found.append(name)
            except OSError:
                continue
    return found


def within(seconds: float, question: object) -> bool:
    """Ask again until the answer is yes or the time is up."""
    deadline = time.monotonic() + seconds
    assert callable(question)
    while not question():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
