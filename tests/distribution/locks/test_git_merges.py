"""Merges of locks by git itself: with the driver, and mended afterwards without it."""

from __future__ import annotations

import itertools
import os
import random
from typing import TYPE_CHECKING

import pytest

from prowess.distribution.locks.mending import mend_lock
from prowess.distribution.locks.merge_driver import set_up_git
from prowess.errors import LockfileError, UnavailableError
from prowess.lockfile import LockedTarget, Lockfile, merge_locks, parse_lock, render_lock
from tests.distribution.locks.repositories import LOCK, Repository
from tests.lockfile.locks import skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_BASE = Lockfile(skills=(skill("ledger", "1.0.0"), skill("mail", "1.0.0"), skill("pdf", "1.0.0")))
_LEDGER, _MAIL, _PDF = _BASE.skills
_BRANCHES = {
    "upgrade": Lockfile(skills=(skill("ledger", "1.10.0", signer="acme"), _MAIL, _PDF)),
    "other-upgrade": Lockfile(skills=(skill("ledger", "1.9.0"), _MAIL, _PDF), targets=(LockedTarget(agent="codex"),)),
    "removal": Lockfile(skills=(_LEDGER, _PDF)),
    "addition": Lockfile(skills=(*_BASE.skills, skill("app", requires=("mail@^1",)))),
    "change": Lockfile(
        skills=(_LEDGER, skill("mail", "1.0.0", requested="^1"), _PDF, skill("chart")),
        targets=(LockedTarget(agent="codex", mode="link"),),
    ),
}
_ORDERS = int(os.environ.get("PROWESS_LOCK_ORDERS", "4"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository", _BASE, _BRANCHES)


def test_every_order_of_merges_with_the_driver_gives_one_text(repository: Repository) -> None:
    """`PROWESS_LOCK_ORDERS=120` merges in every order."""
    set_up_git(str(repository.root))
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "attributes")
    orders = list(itertools.permutations(_BRANCHES))
    random.Random(1).shuffle(orders)
    expected = render_lock(merge_locks(_BASE, *_BRANCHES.values()))
    at: dict[tuple[str, ...], str] = {
        (): repository.git("rev-parse", "HEAD").strip()
    }  # the commit after each sequence of merges
    for order in orders[:_ORDERS]:
        for length in range(1, len(order) + 1):
            if (merged := order[:length]) in at:
                continue
            repository.git("reset", "-q", "--hard", at[merged[:-1]])
            repository.git("merge", "-q", "--no-ff", "-m", "merge", merged[-1])
            at[merged] = repository.git("rev-parse", "HEAD").strip()
        assert repository.text == expected
    assert parse_lock(expected).find("mail") is not None  # changed on one branch, removed on another


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_without_the_driver_a_conflict_is_mended_from_the_three_stages(repository: Repository, style: str) -> None:
    repository.git("config", "merge.conflictStyle", style)
    repository.git("merge", "-q", "upgrade")
    repository.git("merge", "other-upgrade", fails=True)
    with pytest.raises(LockfileError, match="run `prowess lock`"):
        parse_lock(repository.text)
    mended = mend_lock(str(repository.root / LOCK))
    assert mended is not None
    assert str(mended) == "merged from git's three stages: 3 skills"
    both = merge_locks(_BASE, _BRANCHES["upgrade"], _BRANCHES["other-upgrade"])
    assert repository.text == render_lock(both)
    assert mend_lock(str(repository.root / LOCK)) is None
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "merge")


@pytest.mark.parametrize(("style", "origin"), [("merge", "text"), ("diff3", "text with base")])
def test_a_text_with_markers_is_mended_without_git_too(
    repository: Repository, tmp_path: Path, style: str, origin: str
) -> None:
    repository.git("config", "merge.conflictStyle", style)
    repository.git("merge", "-q", "removal")
    repository.git("merge", "change", fails=True)
    elsewhere = tmp_path / LOCK
    elsewhere.write_bytes(repository.text)
    mended = mend_lock(str(elsewhere))
    assert mended is not None
    assert mended.origin == origin
    assert elsewhere.read_bytes() == render_lock(merge_locks(_BASE, _BRANCHES["removal"], _BRANCHES["change"]))


def test_without_a_base_a_removed_skill_is_kept_and_that_is_told(tmp_path: Path) -> None:
    ours, theirs = Lockfile(skills=(skill("a"),)), Lockfile(skills=(skill("b"),))
    head = render_lock(Lockfile()).decode()
    sides = [render_lock(side).decode().removeprefix(head) for side in (ours, theirs)]
    (tmp_path / LOCK).write_text(f"{head}<<<<<<< ours\n{sides[0]}=======\n{sides[1]}>>>>>>> theirs\n")
    mended = mend_lock(str(tmp_path / LOCK))
    assert "without a base, a skill that one side removed is kept" in str(mended)
    assert [one.name for one in parse_lock((tmp_path / LOCK).read_bytes()).skills] == ["a", "b"]


def test_one_conflict_without_base_is_enough_to_have_none(tmp_path: Path) -> None:
    head = render_lock(Lockfile()).decode()
    a, b, c, d = (render_lock(Lockfile(skills=(skill(name),))).decode().removeprefix(head) for name in "abcd")
    first = f"<<<<<<< ours\n{a}=======\n{b}>>>>>>> theirs\n"
    (tmp_path / LOCK).write_text(f"{head}{first}<<<<<<< ours\n{c}||||||| base\n{c}=======\n{d}>>>>>>> theirs\n")
    assert "without a base" in str(mend_lock(str(tmp_path / LOCK)))
    assert [one.name for one in parse_lock((tmp_path / LOCK).read_bytes()).skills] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("markers", ["<<<<<<< ours\n", "<<<<<<< ours\n=======\n", "<<<<<<< a\n>>>>>>> b\n"])
def test_a_conflict_without_its_end_is_refused_and_nothing_is_written(markers: str, tmp_path: Path) -> None:
    text = f"{render_lock(Lockfile(skills=(skill('a'),))).decode()}{markers}"
    (tmp_path / LOCK).write_text(text)
    with pytest.raises(LockfileError, match="conflict marker has no counterpart"):
        mend_lock(str(tmp_path / LOCK))
    assert (tmp_path / LOCK).read_text() == text


def test_both_sides_added_the_lock(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r", Lockfile(), {})
    repository.git("rm", "-q", LOCK)
    repository.git("commit", "-q", "-m", "none")
    for branch, name in (("one", "a"), ("two", "b")):
        repository.git("checkout", "-q", "-b", branch, "main")
        repository.commit(branch, Lockfile(skills=(skill(name),)))
    repository.git("merge", "one", fails=True)
    assert mend_lock(str(repository.root / LOCK)) is not None
    assert repository.text == render_lock(Lockfile(skills=(skill("a"), skill("b"))))


def test_a_merge_that_the_driver_could_not_do_is_mended_later(repository: Repository) -> None:
    set_up_git(str(repository.root))
    repository.git("config", "merge.prowess-lock.driver", "false")  # such as an environment that was deleted
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "attributes")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "upgrade")
    repository.git("merge", "-q", "other-upgrade", fails=True)
    parse_lock(repository.text)  # git left one side there, without markers
    assert mend_lock(str(repository.root / LOCK)) is not None
    both = merge_locks(_BASE, _BRANCHES["upgrade"], _BRANCHES["other-upgrade"])
    assert repository.text == render_lock(both)


def test_a_module_in_the_repository_is_not_imported_by_the_driver(repository: Repository) -> None:
    set_up_git(str(repository.root))
    for name in ("click.py", "msgspec.py", "prowess.py"):
        (repository.root / name).write_text("open('taken-over', 'w').close()\nraise SystemExit(1)\n")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "modules")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "upgrade")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "other-upgrade")
    assert not (repository.root / "taken-over").exists()
    assert repository.text == render_lock(merge_locks(_BASE, _BRANCHES["upgrade"], _BRANCHES["other-upgrade"]))


def test_a_merge_by_hand_is_left_alone(repository: Repository) -> None:
    repository.git("merge", "-q", "upgrade")
    repository.git("merge", "other-upgrade", fails=True)
    by_hand = render_lock(_BRANCHES["addition"])
    (repository.root / LOCK).write_bytes(by_hand)
    assert mend_lock(str(repository.root / LOCK)) is None
    assert repository.text == by_hand


def test_a_side_that_is_no_lock_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    lock = tmp_path / LOCK
    text = render_lock(_BASE).decode().replace('version = "1.0.0"', "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs", 1)
    for broken in (text, text.replace(">>>>>>> theirs", ""), text.replace("=======\n", "")):
        lock.write_text(broken)
        with pytest.raises(LockfileError) as caught:
            mend_lock(str(lock))
        assert caught.value.location.path == str(lock)
        assert lock.read_text() == broken
    assert mend_lock(str(tmp_path / "none")) is None


def test_setting_up_git_twice_changes_nothing_and_keeps_what_is_there(repository: Repository, tmp_path: Path) -> None:
    attributes = repository.root / ".gitattributes"
    attributes.write_text("# prowess.lock merge=prowess-lock text eol=lf\n*.sh text eol=lf")
    first = set_up_git(str(repository.root))
    assert len(first.changed) == 3
    assert attributes.read_text().endswith("\n*.sh text eol=lf\nprowess.lock merge=prowess-lock text eol=lf\n")
    assert set_up_git(str(repository.root)).changed == ()
    assert "merge: prowess-lock" in repository.git("check-attr", "merge", "below/prowess.lock")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    attributes.unlink()
    attributes.symlink_to(secret)
    with pytest.raises(FileExistsError, match="it is a link"):
        set_up_git(str(repository.root))
    assert attributes.is_symlink()
    (tmp_path / "nowhere").mkdir()
    with pytest.raises(UnavailableError, match="not in a working tree of git"):
        set_up_git(str(tmp_path / "nowhere"))
