"""What Python scripts of a skill can import, and what nothing on their path can replace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.policy import Policy, PolicyFile
from prowess.runtime import Session
from tests.runtime.making import result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here"),
]

_PATH = "import json, sys\nprint(json.dumps(sys.path))\n"
FILES = {
    "scripts/__init__.py": "",
    "scripts/numbers_of.py": "TOTAL = 42\n",
    "scripts/sub/deep.py": "from scripts.numbers_of import TOTAL\nimport local\nprint(TOTAL, local.NAME)\n",
    "scripts/sub/local.py": "NAME = 'beside'\n",
    "scripts/run.py": (
        "from scripts.numbers_of import TOTAL\nfrom lib.core import NAME\nimport numbers_of\nimport top\n"
        "print(TOTAL, NAME, numbers_of.TOTAL, top.NAME)\n"
    ),
    "scripts/both.py": "import same\nprint(same.NAME)\n",
    "scripts/same.py": "NAME = 'of the script'\n",
    "scripts/path.py": _PATH,
    "scripts/isolated.py": "#!/usr/bin/env -S python3 -I\n" + _PATH,
    "scripts/wrapped.sh": 'cd / && exec python3 -m scripts.path "$@"\n',
    "scripts/child.py": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import lib.core as c; print(c.NAME)'])\n"
    ),
    "same.py": "NAME = 'of the skill'\n",
    "top.py": "NAME = 'top'\n",
    "lib/core.py": "NAME = 'a package without __init__'\n",
}


async def _session(tmp_path: Path, **options: Any) -> Session:  # noqa: ANN401 -- those of Session
    write_skill(tmp_path / "skills", "kit", files=FILES)
    session = Session(Catalog(tmp_path / "skills"), **options)
    await session.load(["kit"])
    return session


async def _said(session: Session, path: str, **arguments: object) -> str:
    done = result(await session.call("skills.run_script", {"path": path, **arguments}))
    assert done["exit_code"] == 0, done["stderr"]
    return str(done["stdout"]).strip()


@pytest.mark.proves("runtime.run.python-path")
async def test_a_script_imports_packages_of_its_skill_and_modules_beside_it(tmp_path: Path) -> None:
    session = await _session(tmp_path)
    assert await _said(session, "scripts/run.py") == "42 a package without __init__ 42 top"
    assert await _said(session, "scripts/sub/deep.py") == "42 beside"
    assert await _said(session, "scripts/both.py") == "of the script", "its own directory comes first"
    assert await _said(session, "scripts/child.py") == "a package without __init__"
    path = json.loads(await _said(session, "scripts/path.py"))
    assert path[:2] == ["/skill/scripts", "/skill"]
    assert "/skill" in json.loads(await _said(session, "scripts/wrapped.sh"))


@pytest.mark.proves("runtime.run.python-path")
async def test_neither_workspace_nor_host_nor_call_puts_anything_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    for place in (work, work / "sub"):
        (place / "json.py").write_text("raise SystemExit('the workspace was imported')\n")
    monkeypatch.setenv("PYTHONPATH", str(work))
    session = await _session(tmp_path, workspace=work)
    for workdir in (".", "sub"):
        path = json.loads(await _said(session, "scripts/path.py", workdir=workdir))
        assert not [entry for entry in path if entry == "" or entry.startswith(("/workspace", str(tmp_path)))]
    refused = await session.call("skills.run_script", {"path": "scripts/path.py", "env": {"PYTHONPATH": "/workspace"}})
    assert not refused.success
    isolated = json.loads(await _said(session, "scripts/isolated.py"))
    assert not [entry for entry in isolated if entry.startswith("/skill")], "a script may ask for an isolated mode"


async def test_a_policy_that_names_what_may_run_leaves_only_that_on_the_path(tmp_path: Path) -> None:
    named = Policy(files=(PolicyFile(path="p.toml", default="allow", script_dirs=("scripts",)),))
    session = await _session(tmp_path, policy=named)
    assert "/skill" not in json.loads(await _said(session, "scripts/path.py"))


async def test_hooks_import_packages_of_their_skill_too(tmp_path: Path) -> None:
    for number, command in enumerate(("scripts/hook.py", "python3 scripts/hook.py")):
        name = f"hooked-{number}"
        hook = {"scripts/hook.py": "from lib.core import NAME\n", "lib/core.py": "NAME = 1\n"}
        write_skill(tmp_path / "skills", name, files=hook, extra=f"hooks:\n  pre: {{command: {command}}}\n")
        session = Session(Catalog(tmp_path / "skills"))
        await session.load([name])
        assert session.active_skill_name == name
