"""`prowess index`: state of the index, why it is not used, and that it changes no answer."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.catalog.memo.index import LEAST_SKILLS
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("settled")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been left alone for more than two seconds."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    for name in ("a", "b", "group/c"):
        write_skill(root / name)
    write_skill(root / "odd", extra="version: 1\nhooks: 1\n")
    (root / "broken").mkdir()
    (root / "broken" / "SKILL.md").write_text("# no front matter\n")
    return root


def _state(root: Path, capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, object]:
    assert run(["index", "--root", str(root), "--json", *options]) == exit_codes.OK
    answer: dict[str, object] = json.loads(capfd.readouterr().out)
    return answer


@pytest.mark.proves("catalog.index.command", "tooling.cli.catalog")
def test_it_is_built_on_request_used_and_removed(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    built = _state(skills, capfd)
    assert (built["state"], built["reason"], built["skills"], built["directories"]) == ("built", None, 5, 2)
    path = str(built["path"])
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.path.getsize(path) == built["bytes"]
    assert _state(skills, capfd)["state"] == "current"
    write_skill(skills / "b", description="Edited.")
    assert _state(skills, capfd)["state"] == "updated"
    assert _state(skills, capfd, "--rebuild")["state"] == "built"
    assert _state(skills, capfd, "--remove")["state"] == "removed"
    assert not os.path.exists(path)
    assert _state(skills, capfd, "--remove")["state"] == "missing"
    assert run(["list", "--root", str(skills)]) == exit_codes.OK
    assert not os.path.exists(path), "few skills are read as fast without an index"


@pytest.mark.proves("catalog.index.off")
def test_a_listing_of_many_skills_builds_it(
    tmp_path: Path, own_home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(LEAST_SKILLS):
        write_skill(tmp_path / f"skill-{number}")
    words = ["list", "--root", str(tmp_path)]
    for environment in ("1", "0"):
        monkeypatch.setenv("PROWESS_NO_INDEX", environment)
        assert run([*words, "--no-index"] if environment == "0" else words) == exit_codes.OK
    assert not (own_home / ".prowess" / "cache").exists()
    assert run(words) == exit_codes.OK
    capfd.readouterr()
    assert _state(tmp_path, capfd)["state"] == "current"


@pytest.mark.proves("catalog.index.damaged", "catalog.index.data", "catalog.index.command")
@pytest.mark.parametrize(
    "spoil", ["empty", "half", "zeros", "flipped", "pickle", "sparse", "mode", "pipe", "link", "directory"]
)
def test_a_spoilt_file_is_told_and_replaced(
    skills: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], spoil: str
) -> None:
    path = str(_state(skills, capfd)["path"])
    assert run(["list", "--root", str(skills), "--json"]) == exit_codes.OK
    right = capfd.readouterr()
    _spoil(path, spoil, tmp_path)
    assert run(["list", "--root", str(skills), "--json"]) == exit_codes.OK
    assert capfd.readouterr() == right
    assert not (tmp_path / "executed").exists()
    _spoil(path, spoil, tmp_path)
    told = _state(skills, capfd)
    assert (told["state"], told["skills"]) == ("built", 5)
    assert told["reason"]
    assert _state(skills, capfd)["state"] == "current"


def _spoil(path: str, how: str, place: Path) -> None:
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if how == "mode":
        os.chmod(path, 0o666)
        return
    os.unlink(path)
    match how:
        case "pipe":
            os.mkfifo(path)
        case "directory":
            os.mkdir(path)
        case "link":
            (place / "target").write_bytes(data)
            os.symlink(place / "target", path)
        case _:
            contents: dict[str, bytes] = {
                "empty": b"",
                "half": bytes(data[: len(data) // 2]),
                "zeros": bytes(len(data)),
                "flipped": bytes(byte ^ 0x55 if number > 10_000 else byte for number, byte in enumerate(data)),
                "pickle": b"cos\nsystem\n(S'touch " + os.fsencode(place / "executed") + b"'\ntR.",
                "sparse": b"SQLite format 3\0",
            }
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(descriptor, contents[how])
            if how == "sparse":
                os.truncate(descriptor, 1 << 40)
            os.close(descriptor)


def test_another_roots_file_is_not_used(skills: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path / "others" / "z")
    theirs = str(_state(tmp_path / "others", capfd)["path"])
    ours = str(_state(skills, capfd)["path"])
    os.replace(theirs, ours)
    told = _state(skills, capfd)
    assert (told["state"], told["skills"]) == ("built", 5)
    assert "other directories" in str(told["reason"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_told_and_changes_no_answer(
    skills: Path, own_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (own_home / ".prowess").mkdir(mode=0o500)
    told = _state(skills, capfd)
    assert (told["state"], told["skills"]) == ("unusable", 0)
    assert "cannot" in str(told["reason"])


@pytest.mark.proves("catalog.index.off")
def test_it_can_be_switched_off(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "--root", str(skills), "--no-index"]) == exit_codes.OK
    assert capfd.readouterr().out == "no index is used (--no-index or PROWESS_NO_INDEX switches it off)\n"
    assert run(["index", "--rebuild", "--remove"]) == exit_codes.USAGE


def test_one_skill_and_one_directory_are_counted_as_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path / "a")
    assert run(["index", "--root", str(tmp_path)]) == exit_codes.OK
    assert capfd.readouterr().out.startswith("the index was built: 1 skill, 1 directory, ")
