"""A skill is a directory of plain files, and it stays as its author left it until somebody asks for a change."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.cli.dispatch import run
from prowess.cli.main import COMMANDS

# With what a careless tool would tidy up: a mark, carriage returns, a colon, odd layout, no last newline.
_SKILLS = {
    "marked": "\ufeff---\r\nname: marked\r\ndescription: Says: what\r\n---\r\nBody  \r\n",
    "odd": "---\nmetadata:   { a: 1.0 }\nallowed-tools: Read,Grep\nname:    odd\ndescription: 'd'\nmodel: x\n---\nB",
    "plain": "---\nname: plain\ndescription: Does d. Use when asked for d.\n---\n\nRun `scripts/try.py`.\n",
}
_TRY = """\
import pathlib
here = pathlib.Path(__file__).resolve()
for place in (here, here.parents[1] / "SKILL.md", here.parent / "new.txt"):
    try:
        place.write_text("changed")
    except OSError as refused:
        print("refused")
"""
_ANSWERS = [
    {"text": "I load it.", "calls": [{"name": "skills_load", "arguments": {"names": ["plain"]}}]},
    {"calls": [{"name": "skills_run_script", "arguments": {"path": "scripts/try.py"}}]},
    {"text": "Done."},
]
_LINES = [
    {"id": 1, "tool": "skills.load", "arguments": {"names": ["marked", "odd", "plain"]}},
    {"id": 2, "tool": "skills.read", "arguments": {"path": "scripts/try.py"}},
    {"id": 3, "tool": "skills.run_script", "arguments": {"path": "scripts/try.py"}},
    {"id": 4, "tool": "skills.unload", "arguments": {"all": True}},
]
_ROOT = ("--root", ".")
# Every command as one uses it on skills. Those that change skills stand here in the form that only looks.
_LOOKS: dict[str, tuple[str, ...]] = {
    "validate": ("plain", "odd", "marked"),
    "approve": ("plain", *_ROOT),
    "approvals": ("list", *_ROOT),
    "read-properties": ("marked",),
    "to-prompt": ("plain", "odd", "marked", "--form", "xml"),
    "check": (".", "--diff", "--unsafe-fixes"),
    "fmt": (".", "--diff"),
    "test": ("plain", "odd", "marked"),
    "eval": ("--help",),  # it takes files of evals
    "new": ("another", "--into", "elsewhere"),
    "rule": (),
    "conformance": ("--cases",),
    "show": ("odd",),
    "list": _ROOT,
    "match": ("plain", "marked", "--bodies", *_ROOT),
    "watch": _ROOT,
    "index": _ROOT,
    "why": ("plain", *_ROOT),
    "load": ("marked", *_ROOT),
    "read": ("plain", "scripts/try.py", *_ROOT),
    "run": ("plain", "scripts/try.py", *_ROOT, "--write"),
    "block": ("--list",),
    "admin": ("--help",),  # it needs a store
    "access": ("plain", *_ROOT),
    "unblock": ("--help",),  # it takes no skill
    "trust": (".",),
    "session": (*_ROOT, "--write", "--tools", "read,grep"),
    "serve": (*_ROOT, "--write"),
    "lsp": (),
    "agent": ("Try it", *_ROOT, "--write", "--model", "scripted:answers.json"),
    "install": (".", "--skill", "plain"),
    "add": (".", "--skill", "odd"),
    "use": (".", "--skill", "plain"),
    "verify": ("plain",),
    "sign": ("--help",),  # it adds the signature
    "key": ("list",),
    "lock": ("check",),
    "update": (),
    "outdated": (),
    "remove": ("plain",),
    "rollback": ("--list",),
    "store": ("prune",),
    "pack": ("plain", "-o", "plain.zip"),
    "mirror": ("--to", "mirrored"),
    "registry": ("list", "."),
    "publish": ("plain", "--to", "registry"),
    "deploy": ("--to", "deployment", "--discard"),
    "revoke": ("--help",),  # it needs a key
    "sync": ("--from", "deployment", "--into", "host"),
    "hosts": ("--from", "deployment"),
    "inventory": (),
    "policy": ("show",),
    "audit": ("show",),
    "machine": ("status",),
    "report": (),
    "feedback": ("plain", "good", *_ROOT),
    "sandbox": ("check", "--help"),  # it takes no skill
    "config": ("show",),
    "doctor": (),
    "completion": ("bash",),
}


def _state(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Path → mode, time of change and content, of the skills and of every folder in them."""
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for name in _SKILLS
        for path in (root / name, *sorted((root / name).rglob("*")))
    }


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in _SKILLS.items():
        (tmp_path / name / "scripts").mkdir(parents=True)
        (tmp_path / name / "SKILL.md").write_bytes(text.encode())
        (tmp_path / name / "scripts" / "try.py").write_text(_TRY)
    (tmp_path / "answers.json").write_text(json.dumps(_ANSWERS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.unmeasured
@pytest.mark.proves("governance.persona.version-control")
def test_no_command_changes_a_skill_that_it_was_not_asked_to_change(skills: Path) -> None:
    assert set(_LOOKS) == set(COMMANDS)
    before = _state(skills)
    assert len(before) == 4 * len(_SKILLS)
    answered = 0
    lines = "".join(f"{json.dumps(line)}\n" for line in _LINES)
    for command, words in _LOOKS.items():
        if command == "watch":  # it ends because nobody reads
            with subprocess.Popen([sys.executable, "-m", "prowess", command, *words], stdout=subprocess.PIPE) as watch:
                assert watch.stdout is not None
                watch.stdout.close()
                code = watch.wait(60)
        elif command in {"session", "serve", "lsp", "agent", "run"}:
            done = subprocess.run(
                [sys.executable, "-m", "prowess", command, *words],
                input=lines if command == "session" else "",
                env=os.environ,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            code = done.returncode
            answered += done.stdout.count('"success":true')
        else:
            code = run([command, *words])
        assert code in {0, 1}, command
        assert _state(skills) == before, command
    assert answered >= len(_LINES) - 1  # the session did its work; a script runs only where there is a sandbox


@pytest.mark.proves("governance.persona.version-control")
def test_a_skill_is_changed_where_it_was_asked_for_and_in_plain_files_alone(skills: Path) -> None:
    before = _state(skills)
    run(["check", ".", "--fix", "--unsafe-fixes"])
    run(["fmt", "."])
    after = _state(skills)
    assert set(after) == set(before)
    changed = {path for path in before if after[path][2] != before[path][2]}
    assert changed == {str(Path(name, "SKILL.md")) for name in ("marked", "odd")}
    assert (skills / "odd" / "SKILL.md").read_text(encoding="utf-8").startswith("---\n")
