"""What the index must not hide: an edit of equal size, a decision about trust, a scope, a second hard link.

`tests/property/test_index_changes_no_answer.py` makes random edits.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Answers = Callable[..., tuple[int, str, str]]

NAMES = ("alpha", "beta", "gamma", "delta")
JIFFY = 0.012  # seconds; file systems note times of changes that are this far apart as different ones


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been left alone for more than two seconds."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))


@pytest.fixture
def answer(capfd: pytest.CaptureFixture[str]) -> Answers:
    """Return a function that runs a command; it gives the exit code and both streams."""

    def ask(*words: str) -> tuple[int, str, str]:
        code = run(list(words))
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return ask


@pytest.fixture
def root(tmp_path: Path, answer: Answers) -> Path:
    place = tmp_path / "skills"
    for name in NAMES:
        write_skill(place / name, description=f"Does {name}.")
    write_skill(place / "group" / "alpha", description="Another.")
    (place / "linked").symlink_to("group")
    assert '"built"' in answer("index", "--root", str(place), "--json")[1]
    return place


@pytest.mark.proves("catalog.index.same-size")
def test_an_edit_of_equal_size_with_its_times_put_back_is_listed(root: Path, answer: Answers) -> None:
    time.sleep(JIFFY)
    document = root / "beta" / "SKILL.md"
    before = document.stat()
    document.write_text(document.read_text().replace("Does beta.", "Doze beta."))
    os.utime(document, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (document.stat().st_size, document.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert "Doze beta." in answer("list", "--root", str(root))[1]


@pytest.mark.proves("catalog.index.guards")
def test_trust_and_scope_are_asked_anew_although_no_file_changed(
    tmp_path: Path, answer: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    write_skill(project / ".prowess" / "skills" / "ours", extra="scope:\n  environments: production\n")
    write_skill(project / ".prowess" / "skills" / "free")
    monkeypatch.chdir(project)
    assert answer("trust", str(project))[0] == exit_codes.OK
    assert '"built"' in answer("index", "--json")[1]
    assert "free" in answer("list")[1]
    monkeypatch.setenv("PROWESS_ENVIRONMENT", "production")
    assert "ours" in answer("list")[1]
    monkeypatch.delenv("PROWESS_ENVIRONMENT")
    assert "ours" not in answer("list")[1]
    assert answer("trust", "--revoke", str(project))[0] == exit_codes.OK
    code, out, err = answer("list")
    assert (code, out) == (exit_codes.OK, "")
    assert "not trusted" in err


@pytest.mark.proves("catalog.index.guards")
def test_a_second_hard_link_is_refused_although_the_index_has_the_skill(root: Path, answer: Answers) -> None:
    assert "beta" in answer("list", "--root", str(root))[1]
    os.link(root / "beta" / "SKILL.md", root.parent / "second")
    code, out, err = answer("list", "--root", str(root))
    assert code == exit_codes.OK
    assert "beta" not in out
    assert "catalog.hardLink" in err
