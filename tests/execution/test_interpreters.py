from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.errors import ScriptUnsupportedError
from prowess.execution import interpreters
from prowess.execution.interpreters import INTERPRETERS, InterpreterMount, InterpreterRule, select_interpreter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@pytest.fixture(autouse=True)
def all_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every row a program that is surely here, so that these tests are about the choice alone."""
    rows = tuple(replace(rule, programs=("/usr/bin/env",)) for rule in INTERPRETERS)
    monkeypatch.setattr(interpreters, "INTERPRETERS", rows)


@pytest.mark.proves("runtime.run.interpreters")
@pytest.mark.parametrize(
    ("script", "first", "name"),
    [
        ("scripts/a.py", b"", "python3"),
        ("scripts/a.sh", b"echo", "sh"),
        ("scripts/a.bash", b"", "bash"),
        ("scripts/a.js", b"", "node"),
        ("scripts/A.PY", b"", "python3"),
        ("a.sh", b"#!/usr/bin/env bash\n", "bash"),
        ("a.sh", b"#! /bin/bash -eu\r\n", "bash"),
        ("a", b"#!/usr/bin/python3.11\n", "python3"),
        ("a", b"#!/usr/bin/env -S node --test\n", "node"),
        ("a.py", b"#!/usr/bin/env -S uv run --script\n", "python3"),
        ("a.py", b"#!/usr/bin/python2\n", "python3"),
        ("a.js", b"#!", "node"),
        ("a.js", b"#!/usr/bin/env\n", "node"),
        ("a.sh", b"#!/bin/b\xffsh\n", "sh"),
    ],
)
def test_a_known_shebang_decides_and_then_the_extension(script: str, first: bytes, name: str) -> None:
    assert select_interpreter(script, first).name == name


@pytest.mark.parametrize(
    ("script", "first", "words"),
    [
        ("a.rb", b"", "no interpreter is configured for '.rb'"),
        ("a", b"", "neither a shebang nor an extension"),
        (".py", b"", "neither a shebang nor an extension"),
        ("a", b"#!/usr/bin/perl\n", "'perl'"),
        ("a.py/b", b"", "neither a shebang nor an extension"),
    ],
)
def test_what_nothing_runs_is_said_with_what_would(script: str, first: bytes, words: str) -> None:
    with pytest.raises(ScriptUnsupportedError) as fault:
        select_interpreter(script, first)
    assert words in str(fault.value)
    assert "python3 (.py)" in str(fault.value)


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        (b"#!/bin/sh -e\n", ("-e",)),
        (b"#!/usr/bin/env -S bash -eu -o pipefail\n", ("-eu",)),
        (b"#!/bin/sh -c id\n", ()),
        (b"#!/bin/sh -\n", ()),
        (b"#!/usr/bin/python3 -I\n", ("-u", "-I")),
        (b"#!/usr/bin/env -S node --require=./x.js\n", ()),
    ],
)
def test_only_listed_flags_of_a_shebang_are_kept(first: bytes, kept: tuple[str, ...]) -> None:
    assert select_interpreter("a", first).command[1:] == kept


@pytest.mark.proves("runtime.run.unsupported")
def test_a_missing_interpreter_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple(replace(rule, programs=("/usr/bin/no-such-program",)) for rule in INTERPRETERS)
    monkeypatch.setattr(interpreters, "INTERPRETERS", rows)
    with pytest.raises(ScriptUnsupportedError, match=r"node is not installed at .*apt-get install nodejs"):
        select_interpreter("a.js", b"")


def test_further_extensions_come_by_configuration() -> None:
    assert select_interpreter("a.mjs", b"", extensions={".mjs": "node"}).name == "node"
    with pytest.raises(ScriptUnsupportedError):
        select_interpreter("a.mjs", b"", extensions={".mjs": "deno"})


def test_an_interpreter_elsewhere_is_mounted_at_a_fixed_name(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "python3"
    program.parent.mkdir()
    program.write_text("")
    mounts = {"python3": InterpreterMount(prefix=str(tmp_path), program="bin/python3")}
    with pytest.raises(ScriptUnsupportedError, match="cannot be executed"):
        select_interpreter("a.py", b"", mounts=mounts)
    program.chmod(0o755)
    found = select_interpreter("a.py", b"", mounts=mounts)
    assert found.command == ("/interpreters/python3/bin/python3", "-u")
    assert (found.prefix, found.mount_point) == (str(tmp_path), "/interpreters/python3")


def _table(rules: Sequence[InterpreterRule]) -> str:
    """Return the table as it stands in `docs/build/scripts.md`."""
    head = [
        "| language | extension | shebang names | runs as | kept flags | Debian package |",
        "|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {rule.language} | {_code(rule.extensions)} | {_code(rule.shebangs)} "
        f"| {_code(' '.join((path, *rule.arguments)) for path in rule.programs)} "
        f"| {_code([f'-{letter}' for letter in rule.flags]) or 'none'} | `{rule.package}` |"
        for rule in rules
    ]
    return "\n".join([*head, *rows])


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


@pytest.mark.proves("runtime.run.interpreters.documented")
def test_the_documented_table_is_the_one_that_the_code_uses(pytestconfig: pytest.Config) -> None:
    page = (pytestconfig.rootpath / "docs" / "build" / "scripts.md").read_text(encoding="utf-8")
    table = _table(INTERPRETERS)
    assert table in page, f"put this table into docs/build/scripts.md:\n{table}"
    for rule in INTERPRETERS:
        for word in (*rule.extensions, *rule.shebangs, *rule.programs):
            assert word in table
