"""`prowess machine` with wrong options. `tests/governance/machine` has the rest, in processes of root and users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["", "two\nlines", "a b", "x" * 1025])
def test_a_file_without_a_token_is_refused_before_the_server_is_contacted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    assert run(["machine", "enroll", "https://127.0.0.1:1/", "--token-file", str(file)]) == 2
    assert f"{file} holds no token; a token is one line" in capsys.readouterr().err
