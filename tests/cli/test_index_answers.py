"""The index changes no answer: whatever happens to the files, commands print the same with it and without it."""

from __future__ import annotations

import os
import random
import shutil
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
EDITS = 60
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


def _same(answer: Answers, root: Path) -> None:
    for words in (["list"], ["list", "--json"], ["why", "alpha"], ["why", "beta", "--json"]):
        with_it = answer(*words, "--root", str(root))
        assert with_it == answer(*words, "--root", str(root), "--no-index"), words


@pytest.mark.proves("catalog.index.same-answers")
@pytest.mark.parametrize("number", range(3))
def test_after_random_edits_commands_print_the_same_with_and_without_the_index(
    root: Path, answer: Answers, number: int
) -> None:
    draw = random.Random(number)
    for _ in range(EDITS // 3):
        time.sleep(JIFFY)
        _edit(root, draw)
        _same(answer, root)


def _edit(root: Path, draw: random.Random) -> None:
    directory = root / draw.choice((*NAMES, "group/alpha"))
    document = directory / "SKILL.md"
    match draw.randrange(10):
        case 0:
            shutil.rmtree(directory, ignore_errors=True)
            write_skill(directory, description=f"Does {draw.randrange(1000)}.")
        case 1 if document.is_file():
            _change_in_secret(document, draw)
        case 2:
            other = root / draw.choice(NAMES)
            if directory.exists() and other.exists() and other != directory:
                directory.rename(root / "aside")
                other.rename(directory)
                (root / "aside").rename(other)
        case 3:
            (root / "linked").unlink()
            (root / "linked").symlink_to(draw.choice(("group", "beta", "nowhere", ".")))
        case 4 if document.exists():
            document.rename(directory / "skill.md")
        case 5 if document.exists():
            document.unlink()
            os.mkfifo(document)
        case 6 if document.exists():
            document.unlink()
            document.symlink_to(root / draw.choice(NAMES) / "SKILL.md")
        case 7 if document.is_file() and not document.is_symlink():
            spare = root.parent / f"second-{draw.randrange(10**9)}"
            os.link(document, spare)
        case 8 if document.is_file() and not document.is_symlink():
            document.write_text(draw.choice(("# no front matter\n", "---\nname: [\n---\n", "---\nname: alpha\n---\n")))
        case _:
            (root / "more").mkdir(exist_ok=True)
            write_skill(root / "more" / f"skill-{draw.randrange(5)}", name=draw.choice(NAMES))


def _change_in_secret(document: Path, draw: random.Random) -> None:
    """Change a letter of the description, and put the times back."""
    before, text = document.stat(), document.read_text()
    at = text.find("Does ")
    if at >= 0:
        document.write_text(f"{text[:at]}D{draw.choice('aeiou')}es{text[at + 4 :]}")
    os.utime(document, ns=(before.st_atime_ns, before.st_mtime_ns))


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
