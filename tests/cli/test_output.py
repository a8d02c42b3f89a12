"""One place decides about escaping, colour and JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_line_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    output.line("a\x1b[2Jb")
    assert capsys.readouterr().out == "a\\x1b[2Jb\n"


def test_remarks_and_errors_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    output.note("by the way\x07")
    output.error("not so\x07")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "by the way\\x07\nerror: not so\\x07\n"


def test_a_document_is_json_in_utf8_with_the_order_of_its_keys(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output.document({"b": "ü", "a": 1})
    out = capfdbinary.readouterr().out
    assert out == '{\n  "b": "ü",\n  "a": 1\n}\n'.encode()
    assert json.loads(out) == {"b": "ü", "a": 1}


def test_a_long_document_is_printed_before_its_last_item_is_known(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def items() -> Iterator[str]:
        yield "x" * 100_000
        assert capfdbinary.readouterr().out.startswith(b'{\n  "items": [\n    "xxx')
        yield "y"

    output.long_document({"items": items(), "after": 1})
    assert capfdbinary.readouterr().out == b',\n    "y"\n  ],\n  "after": 1\n}\n'


def test_raw_text_and_bytes_are_written_as_they_are(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output.raw("a\x1b\udcff")
    output.raw_bytes(b"\x00\xff")
    assert capfdbinary.readouterr().out == b"a\x1b\xff\x00\xff"


class _Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("err", [False, True])
def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch, *, err: bool) -> None:
    assert output.styled("x", "red", err=err) == "x"
    monkeypatch.setattr(sys, "stderr" if err else "stdout", _Terminal())
    assert output.styled("x", "red", err=err) == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.styled("x", "red", err=err) == "x"


@pytest.mark.skipif(os.name != "posix", reason="closed pipes behave so on POSIX")
def test_a_closed_pipe_ends_quietly() -> None:
    code = "from prowess.cli import output\noutput.drop_standard_output()\nprint('gone')\n"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")
