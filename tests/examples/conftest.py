"""Every example is tried twice: as a plain program, and in the sandbox as an agent would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess import Catalog, Session
from prowess.execution import default_sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.runtime import RunResult

SKILLS = Path(__file__).resolve().parents[2] / "examples" / "skills"
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a script left: its exit code, its two streams, and the files it wrote to $OUT."""

    code: int
    stdout: str
    stderr: str
    files: dict[str, bytes] = field(default_factory=dict)


@pytest.fixture
def skills() -> Path:
    """The directory of the example skills."""
    return SKILLS


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty directory that scripts work on."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of one script."""

    workspace: Path
    out: Path
    skill: str
    script: str
    args: tuple[str, ...]
    stdin: str | None


@pytest.fixture(params=["plain", "sandboxed"])
def run(request: pytest.FixtureRequest, workspace: Path, tmp_path: Path) -> Callable[..., Outcome]:
    """`run(skill, script, *args, stdin=None)` in the workspace, both ways."""
    way = _plain if request.param == "plain" else _sandboxed
    out = tmp_path / "out"
    out.mkdir()

    def call(skill: str, script: str, *args: str, stdin: str | None = None) -> Outcome:
        return way(Call(workspace=workspace, out=out, skill=skill, script=script, args=args, stdin=stdin))

    return call


def _plain(call: Call) -> Outcome:
    program = SKILLS / call.skill / "scripts" / call.script
    interpreter = [PYTHON, "-B"] if call.script.endswith(".py") else ["sh"]
    done = subprocess.run(
        [*interpreter, str(program), *call.args],
        cwd=call.workspace,
        env={"PATH": os.environ["PATH"], "OUT": str(call.out), "HOME": str(call.out), "LC_ALL": "C.UTF-8"},
        input=call.stdin or "",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    files = {path.name: path.read_bytes() for path in call.out.iterdir()}
    return Outcome(code=done.returncode, stdout=done.stdout, stderr=done.stderr, files=files)


def _sandboxed(call: Call) -> Outcome:
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox can be started on this machine")
    catalog = Catalog(SKILLS)

    async def play() -> tuple[RunResult, dict[str, bytes]]:
        session = await Session.create(catalog, initial=[call.skill], workspace=call.workspace, artifacts_dir=call.out)
        try:
            done = await session.run_script(f"scripts/{call.script}", *call.args, stdin=call.stdin)
            return done, {one.name: await anyio.Path(str(one.path)).read_bytes() for one in done.artifacts}
        finally:
            await session.close()

    done, files = anyio.run(play)
    return Outcome(code=done.exit_code, stdout=done.stdout, stderr=done.stderr, files=files)
