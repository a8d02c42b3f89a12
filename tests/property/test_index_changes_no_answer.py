"""The index changes no answer: after random edits of a tree, each command prints the same with and without it.

Each edit keeps as many `stat` values as it can, so that a stamp that lacks one of them gives a wrong answer. The tests
with a planted fault check that. Time stamps of local file systems change every few milliseconds, so files count as
settled after 30 milliseconds here instead of two seconds. Where a test is about equal times, it sees them as they are
on a file system with coarser stamps.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.catalog import Catalog, scan
from prowess.catalog.memo import index, seen
from prowess.catalog.memo.readings import NoMemo
from prowess.catalog.sources import directory
from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

EDITS = int(os.environ.get("PROWESS_INDEX_EDITS", "120"))
_SETTLED_SECONDS = 0.03
_NAMES = tuple(f"skill-{letter}" for letter in "abcdefgh")

Output = Callable[[list[str]], tuple[int, str, str]]


class Tree:
    """Two roots of skills that are edited at random.

    `claimed` tells whether the last edit may have given a file another name without a change of its searched directory.
    """

    def __init__(self, place: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.roots = [place / "one", place / "two"]
        self.outside = place / "outside"
        self.claimed = False
        self.number = 0
        for root in (*self.roots, self.outside):
            root.mkdir()
        for name in _NAMES:
            self._write(self.roots[0] / name)
            self._write(self.outside / f"far-{name}" / name)
        self._write(self.roots[1] / "skill-a")
        self._write(self.roots[1] / "group" / "skill-z")
        (self.outside / "now").symlink_to("far-skill-a")
        (self.roots[1] / "link").symlink_to(self.outside / "now")

    def edit(self, among: tuple[str, ...] = ()) -> str:
        """Make one edit, `among` these or all, and return its name."""
        self.claimed = False
        name = self.chance.choice(among or [name for name in dir(self) if name.startswith("do_")])
        getattr(self, name)()
        return name

    def _write(self, skill: Path, name: str | None = None, extra: str = "") -> None:
        self.number += 1
        skill.mkdir(parents=True, exist_ok=True)
        text = f"---\nname: {name or skill.name}\ndescription: Text {self.number:06d}.\n{extra}---\n# Do it\n"
        self._clear(skill / "SKILL.md")
        (skill / "SKILL.md").write_text(text)

    @staticmethod
    def _clear(path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def _skill(self) -> Path:
        """A skill of a root, with a regular SKILL.md."""
        found = [path.parent for root in self.roots for path in root.glob("**/SKILL.md") if path.is_file()]
        found = sorted(path for path in found if not path.is_symlink())
        if not found:
            self._write(self.roots[0] / "skill-a")
            return self.roots[0] / "skill-a"
        return self.chance.choice(found)

    def _rewrite(self, file: Path, text: str) -> None:
        """Write in place, so that the inode and the directory stay as they are."""
        with open(file, "r+", encoding="utf-8") as stream:
            stream.write(text)
            stream.truncate()

    def do_same_size_with_times_put_back(self) -> None:
        file = self._skill() / "SKILL.md"
        before, text = file.stat(), file.read_text()
        self._rewrite(file, text.swapcase() if self.chance.random() < 0.1 else text.replace("Text 0", "Text 9"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def do_two_quick_edits(self) -> None:
        """Edit, let the index read it, and edit again at once, with the same size."""
        self.claimed = True
        self.number += 1
        file = self._skill() / "SKILL.md"
        text = f"---\nname: {file.parent.name}\ndescription: Tick {self.number:06d}.\n---\n"
        self._rewrite(file, text)
        list(Catalog(*self.roots).entries())
        self._rewrite(file, text.replace("Tick", "Tock"))

    def do_exchange_twins(self) -> None:
        """Exchange two directories whose files differ in nothing but the text and the inode."""
        one, two = self.roots[0] / "twin-a", self.roots[0] / "twin-b"
        self._write(one)
        self._write(two)
        time.sleep(_SETTLED_SECONDS * 2)
        list(Catalog(*self.roots).entries())
        self._exchange(one, two)

    def do_exchange_directories(self) -> None:
        one, two = self._skill(), self._skill()
        if one != two and one not in two.parents and two not in one.parents:
            self._exchange(one, two)

    def _exchange(self, one: Path, two: Path) -> None:
        aside = self.outside / "aside"
        one.rename(aside)
        two.rename(one)
        aside.rename(two)

    def do_turn_a_link_outside(self) -> None:
        (self.outside / "now").unlink()
        (self.outside / "now").symlink_to(f"far-{self.chance.choice(_NAMES)}")

    def do_turn_a_link_of_the_root(self) -> None:
        link = self.roots[1] / "link"
        link.unlink(missing_ok=True)
        targets = (self.outside / "now", self.outside / "absent", self.roots[0], link)
        link.symlink_to(self.chance.choice(targets))

    def do_another_spelling(self) -> None:
        skill = self._skill()
        (skill / "SKILL.md").rename(skill / self.chance.choice(["skill.md", "Skill.md"]))

    def do_put_spelling_right(self) -> None:
        for root in self.roots:
            for path in sorted(root.glob("**/[Ss]kill.md")):
                self._clear(path.parent / "SKILL.md")
                path.rename(path.parent / "SKILL.md")

    def do_no_regular_file(self) -> None:
        file = self._skill() / "SKILL.md"
        text = file.read_text()
        self._clear(file)
        match self.chance.randrange(3):
            case 0:
                os.mkfifo(file)
            case 1:
                (self.outside / "text").write_text(text)
                file.symlink_to(self.outside / "text")
            case _:
                file.mkdir()

    def do_regular_file_again(self) -> None:
        for root in self.roots:
            for path in sorted(root.glob("**/SKILL.md")):
                if path.is_symlink() or not path.is_file():
                    self._write(path.parent)

    def do_second_hard_link(self) -> None:
        second = self.outside / "second"
        self._clear(second)
        if self.chance.random() < 0.7:
            os.link(self._skill() / "SKILL.md", second)

    def do_break(self) -> None:
        self.claimed = True
        file = self._skill() / "SKILL.md"
        self._rewrite(file, self.chance.choice(["# none\n", "---\nname: [\n---\n", "---\ndescription: no end\n", ""]))

    def do_mend(self) -> None:
        self.claimed = True
        for root in self.roots:
            for path in sorted(root.glob("**/SKILL.md")):
                if path.is_file() and not path.is_symlink() and not path.read_text().startswith("---\nname: s"):
                    self._rewrite(path, f"---\nname: {path.parent.name}\ndescription: Mended.\n---\n")

    def do_another_copy(self) -> None:
        file = self._skill() / "SKILL.md"
        before = file.stat()
        draft = self.outside / "draft"
        draft.write_text(file.read_text().replace("Text", "Copy"))
        os.utime(draft, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(draft, file)

    def do_claim_a_name(self) -> None:
        self.claimed = True
        file = self._skill() / "SKILL.md"
        name = self.chance.choice([*_NAMES, "straße", "Ａ"])
        self._rewrite(file, f"---\nname: {name}\ndescription: Claimed {self.number}.\n---\n")

    def do_add(self) -> None:
        self.claimed = True
        place = self.chance.choice(["", "group/", "group/deep/", "later/"])
        self._write(self.chance.choice(self.roots) / f"{place}{self.chance.choice(_NAMES)}")

    def do_add_odd(self) -> None:
        self.claimed = True
        odd = ("version: 1\n", "hooks: 1\n", "tags: [a, b]\n", "metadata: {a: {b: c}}\n", "x: &a 1\n")
        extra = self.chance.choice(odd)
        self._write(self.chance.choice(self.roots) / self.chance.choice(_NAMES), extra=extra)

    def do_remove(self) -> None:
        shutil.rmtree(self._skill())

    def do_move(self) -> None:
        skill = self._skill()
        target = self.chance.choice(self.roots) / "group" / f"moved-{self.number}"
        if target.parent.is_dir() and not target.exists() and skill not in target.parents:
            skill.rename(target)

    def do_manifest(self) -> None:
        manifest = self._skill() / "skill.manifest.yaml"
        if manifest.exists():
            manifest.unlink()
        else:
            manifest.write_text(self.chance.choice(["wrong: 1\n", "[]\n"]))

    def do_change_a_mode(self) -> None:
        (self._skill() / "SKILL.md").chmod(self.chance.choice([0o600, 0o644, 0o666]))

    def do_a_skill_above(self) -> None:
        above = self.roots[1] / "group" / "SKILL.md"
        if above.exists():
            self._clear(above)
        elif (self.roots[1] / "group").is_dir():
            above.write_text("---\nname: group\ndescription: Hides what is below.\n---\n")

    def do_nothing(self) -> None:
        time.sleep(_SETTLED_SECONDS * 2)


@pytest.fixture
def output(capfd: pytest.CaptureFixture[str]) -> Output:
    """Run one command line; return its exit code and both streams."""

    def call(words: list[str]) -> tuple[int, str, str]:
        capfd.readouterr()
        code = run(words)
        return code, *capfd.readouterr()

    return call


@pytest.fixture(autouse=True)
def always_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "LEAST_SKILLS", 0)
    monkeypatch.setattr(file_mark, "SETTLED_NS", int(_SETTLED_SECONDS * 1e9))


def _differences(tree: Tree, output: Output, edits: int, among: tuple[str, ...] = ()) -> str | None:
    """Edit the tree and compare the commands after each edit. Return the first difference, or None."""
    roots = [word for root in tree.roots for word in ("--root", str(root))]
    for number in range(edits):
        edit = tree.edit(among)
        why = ["why", tree.chance.choice([*_NAMES, "group", "twin-a", "straße"]), *roots]
        why += ["--json"] if tree.chance.random() < 0.5 else []
        # A file that was edited in place to claim another name is noticed by the next listing.
        lists = [["list", *roots], ["list", "--json", *roots]]
        commands = [*lists, why] if tree.claimed or tree.chance.random() < 0.5 else [why, *lists]
        for words in commands:
            with_index, without = output(words), output([*words, "--no-index"])
            if with_index != without:
                return f"after edit {number}, {edit}: {words}\n{with_index}\n{without}"
        if tree.chance.random() < 0.5:
            time.sleep(_SETTLED_SECONDS * 1.2)
    return None


@pytest.mark.proves("catalog.index.same-answers")
@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", range(4))
def test_no_edit_makes_an_answer_differ(tmp_path: Path, output: Output, seed: int) -> None:
    assert _differences(Tree(tmp_path, seed), output, EDITS // 4) is None


def _mtime_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    _stamp(monkeypatch, lambda found: hash((found.st_mtime_ns, found.st_mode)) or 1)


def _no_inode(monkeypatch: pytest.MonkeyPatch) -> None:
    _stamp(monkeypatch, lambda found: hash((*_seconds(found), found.st_size, found.st_mode)) or 1)


def _seconds(found: os.stat_result) -> tuple[int, int]:
    """The times of a file as on a file system whose time stamps are a second apart."""
    return found.st_mtime_ns // 10**9, found.st_ctime_ns // 10**9


def _stamp(monkeypatch: pytest.MonkeyPatch, stamp: Callable[[os.stat_result], int]) -> None:
    for module in (scan, seen, directory):
        monkeypatch.setattr(module, "stamp_of", stamp)


def _no_link_target(monkeypatch: pytest.MonkeyPatch) -> None:
    targets: dict[str, str] = {}
    honest = os.path.realpath

    def kept(path: str) -> str:
        return targets.setdefault(path, honest(path)) if str(path).endswith("/link") else honest(path)

    def with_index_only(self: directory.Walk, parent: str, path: str, name: str, depth: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if not isinstance(self._scan.memo, NoMemo):
                patch.setattr(os.path, "realpath", kept)
            follow(self, parent, path, name, depth)

    follow = directory.Walk._follow
    monkeypatch.setattr(directory.Walk, "_follow", with_index_only)


def _coarse_times(monkeypatch: pytest.MonkeyPatch) -> None:
    _stamp(monkeypatch, lambda found: hash((*_seconds(found), found.st_size, found.st_ino, found.st_mode)) or 1)


def _no_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    _coarse_times(monkeypatch)
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("fault", "edit"),
    [
        (_mtime_alone, "do_same_size_with_times_put_back"),
        (_no_inode, "do_exchange_twins"),
        (_no_link_target, "do_turn_a_link_outside"),
        (_no_two_seconds, "do_two_quick_edits"),
    ],
)
def test_each_number_of_the_stamp_is_needed(
    tmp_path: Path,
    output: Output,
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[pytest.MonkeyPatch], None],
    edit: str,
) -> None:
    fault(monkeypatch)
    assert _differences(Tree(tmp_path, 1), output, 40, (edit, "do_nothing")) is not None


def test_coarse_time_stamps_do_no_harm_because_of_the_two_seconds(
    tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    _coarse_times(monkeypatch)
    monkeypatch.setattr(file_mark, "SETTLED_NS", 2 * 10**9)
    assert _differences(Tree(tmp_path, 1), output, 10, ("do_two_quick_edits", "do_another_copy")) is None
