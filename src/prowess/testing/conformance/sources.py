"""The conformance suite of sources. Every source of skills must pass it, also one that others write.

Subclass `SourceConformance` in a test module, and pytest runs its tests:

    class TestMySource(SourceConformance):
        def publish(self, place, releases):
            for release in releases:
                my_server(place).upload(release)
            return "https://127.0.0.1:8000/skills"

A test receives a new directory from pytest (`tmp_path`). Hooks that a source cannot serve return None, and their tests
then pass without a check.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from prowess._internal.files.tree_digest import read_tree
from prowess.distribution.sources import Access, open_source
from prowess.errors import SkillError, UnavailableError
from prowess.lockfile import parse_reference
from prowess.testing.conformance.hostile_archives import hostile_archives

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from prowess.distribution.sources import Fetched, Offer, SkillSource
    from prowess.testing.conformance.hostile_archives import HostileArchive

_FILES = {
    "scripts/run.sh": b"#!/bin/sh\ntouch executed\n",
    "data/bytes.bin": bytes(range(256)) * 300,
    "data/lines.txt": b"one\r\ntwo\n$Id$ $Format:%H$\n",
    "data/empty": b"",
    "caf\u00e9/\u65e5\u672c.md": b"text",
    ".hidden": b"hidden",
}
_EXECUTABLE = frozenset({"scripts/run.sh"})


class Release(Struct, frozen=True, kw_only=True):
    """One skill to publish: its files by path, SKILL.md included, and the paths that are executable.

    `version` is also that of the metadata in SKILL.md.
    """

    name: str
    version: str
    files: Mapping[str, bytes]
    executable: frozenset[str] = _EXECUTABLE

    def write_to(self, directory: Path) -> Path:
        """Write the skill into the new directory `directory/<name>`, and return that."""
        skill = directory / self.name
        for path, data in self.files.items():
            place = skill / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(0o755 if path in self.executable else 0o644)
        return skill


def release(name: str, version: str, text: str = "Do it.") -> Release:
    """Return a skill with files of many kinds."""
    head = f'---\nname: {name}\ndescription: Does {name}. Use it for {name}.\nmetadata:\n  version: "{version}"\n---\n'
    return Release(name=name, version=version, files={"SKILL.md": f"{head}{text}\n".encode(), **_FILES})


class SourceConformance:
    """The tests of one kind of source.

    `has_versions` is False for a source that has one state only, `has_many` if it has one skill only. `is_remote` is
    True if it contacts a host.
    """

    has_versions: ClassVar[bool] = True
    has_many: ClassVar[bool] = True
    is_remote: ClassVar[bool] = False

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        """Publish the skills at `place`, oldest first, and return the reference of the source."""
        raise NotImplementedError

    def publish_archive(self, place: Path, archive: HostileArchive) -> str | None:
        """Publish the bytes of a hostile archive, and return the reference; None if the source carries no archives."""
        del place, archive
        return None

    def tamper(self, place: Path, reference: str) -> bool:
        """Change bytes of what was published; False if the source promises no bytes, as a plain directory."""
        del place, reference
        return False

    def test_every_skill_is_offered_once_and_sorted(self, tmp_path: Path) -> None:
        """Offers are complete, and their order depends on names alone."""
        names = ["pdf", "mail", "docx"] if self.has_many else ["pdf"]
        reference = self.publish(_new(tmp_path, "place"), [release(name, "1.0.0") for name in names])
        with self._opened(reference, tmp_path) as source:
            offers = source.offers()
            assert [(offer.name, offer.version) for offer in offers] == [(name, "1.0.0") for name in sorted(names)]
            assert source.offers() == offers, "asked twice, it answers the same"
            assert source.problems == ()

    def test_a_skill_is_fetched_byte_for_byte_into_a_private_directory(self, tmp_path: Path) -> None:
        """All files, with their bytes and executable bits, and the digest of what was written."""
        wanted = release("pdf", "1.0.0")
        others = [release("mail", "1.0.0")] if self.has_many else []
        reference = self.publish(_new(tmp_path, "place"), [wanted, *others])
        with self._opened(reference, tmp_path) as source:
            into = _new(tmp_path, "into")
            fetched = source.fetch(_offer(source, "pdf"), str(into))
            copy = into / "pdf"
            assert (fetched.name, fetched.version, fetched.directory) == ("pdf", "1.0.0", str(copy))
            assert dict(_files(copy)) == wanted.files
            assert {path for path, _ in _files(copy) if os.access(copy / path, os.X_OK)} == wanted.executable
            assert fetched.tree == read_tree(str(copy)).digest
            assert fetched.tree == read_tree(str(wanted.write_to(_new(tmp_path, "expected")))).digest
            modes = {stat.S_IMODE(path.lstat().st_mode) & 0o077 for path in (copy, *copy.rglob("*"))}
            assert os.name == "nt" or modes == {0}, "no other user can read the copy"
            assert fetched.source == parse_reference(reference).source
            assert os.listdir(into) == ["pdf"]
        assert not list(tmp_path.rglob("executed")), "nothing that was fetched is executed"

    def test_an_existing_copy_is_not_overwritten(self, tmp_path: Path) -> None:
        """A fetch into a directory that has the skill is refused, and what is there is kept."""
        reference = self.publish(_new(tmp_path, "place"), [release("pdf", "1.0.0")])
        into = _new(tmp_path, "into")
        (into / "pdf").mkdir()
        (into / "pdf" / "mine").touch()
        with self._opened(reference, tmp_path) as source:
            _refused(source, _offer(source, "pdf"), into)
        assert [path.name for path in (into / "pdf").iterdir()] == ["mine"]

    def test_versions_are_listed_newest_first_and_each_can_be_fetched(self, tmp_path: Path) -> None:
        """The newest version is the default; an older one is fetched by its version, or by the recorded state."""
        if not self.has_versions:
            return
        old, new = release("pdf", "1.9.0", "Old."), release("pdf", "1.10.0", "New.")
        reference = self.publish(_new(tmp_path, "place"), [old, new])
        with self._opened(reference, tmp_path) as source:
            assert source.versions() == ("1.10.0", "1.9.0")
            assert _offer(source, "pdf").version == "1.10.0"
            fetched = source.fetch(_offer(source, "pdf", "1.9.0"), str(_new(tmp_path, "old")))
            assert dict(_files(tmp_path / "old" / "pdf")) == old.files
            newest = source.fetch(_offer(source, "pdf"), str(_new(tmp_path, "new")))
            assert dict(_files(tmp_path / "new" / "pdf")) == new.files
            assert newest.tree != fetched.tree
        state = fetched.commit or fetched.artifact
        if state is not None:
            with self._opened(reference, tmp_path) as source:
                again = source.fetch(_offer(source, "pdf", state), str(_new(tmp_path, "again")))
                assert (again.tree, again.version) == (fetched.tree, "1.9.0")

    def test_a_version_that_does_not_exist_is_refused(self, tmp_path: Path) -> None:
        """The error names the version."""
        reference = self.publish(_new(tmp_path, "place"), [release("pdf", "1.0.0")])
        with self._opened(reference, tmp_path) as source:
            message = ""
            try:
                source.offers("9.9.9")
            except SkillError as fault:
                message = str(fault)
            assert "9.9.9" in message, "a version that does not exist was accepted, or is not named"

    def test_only_the_named_host_is_contacted_and_none_offline(self, tmp_path: Path) -> None:
        """Opening contacts nothing; a remote source offline is unavailable, and a local one works."""
        reference = self.publish(_new(tmp_path, "place"), [release("pdf", "1.0.0")])
        with self._opened(reference, tmp_path) as source:
            assert not source.contacted
            source.fetch(_offer(source, "pdf"), str(_new(tmp_path, "into")))
            assert len(source.contacted) == (1 if self.is_remote else 0)
            assert all(host in reference for host in source.contacted)
        with self._opened(reference, tmp_path, offline=True) as source:
            if not self.is_remote:
                assert source.offers()
                return
            try:
                source.offers()
            except UnavailableError:
                assert not source.contacted
            else:
                raise AssertionError("a remote source answered although it is offline")

    def test_a_source_can_be_closed_twice_and_leaves_everything_in_its_scratch_directory(self, tmp_path: Path) -> None:
        """Nothing is written outside the scratch directory and the target."""
        reference = self.publish(_new(tmp_path, "place"), [release("pdf", "1.0.0")])
        before = set(os.listdir(tmp_path))
        with self._opened(reference, tmp_path) as source:
            source.offers()
        source.close()
        assert {name for name in os.listdir(tmp_path) if not name.startswith("scratch")} == before

    def test_changed_bytes_are_refused_and_nothing_is_left(self, tmp_path: Path) -> None:
        """If a source promised a digest, other bytes are an error."""
        place, into = _new(tmp_path, "place"), _new(tmp_path, "into")
        reference = self.publish(place, [release("pdf", "1.0.0")])
        if not self.tamper(place, reference):
            return
        with self._opened(reference, tmp_path) as source:
            try:
                offer = _offer(source, "pdf")
            except SkillError:
                return
            _refused(source, offer, into)
        assert os.listdir(into) == []

    def test_hostile_archives_are_refused_and_nothing_is_written(self, tmp_path: Path) -> None:
        """Each archive of `hostile_archives` is refused whole."""
        for number, archive in enumerate(hostile_archives()):
            here = _new(tmp_path, str(number))
            reference = self.publish_archive(_new(here, "place"), archive)
            if reference is None:
                return
            into = _new(here, "into")
            with self._opened(reference, here) as source:
                try:
                    offers = source.offers()
                except SkillError:
                    offers = ()
                for offer in offers:
                    _refused(source, offer, into)
            assert os.listdir(into) == [], archive.name
            written = [path for scratch in here.glob("scratch*") for path in scratch.rglob("*") if path.is_file()]
            assert written == [], archive.name
            assert not list(tmp_path.rglob("escaped")), archive.name

    @staticmethod
    def _opened(reference: str, place: Path, *, offline: bool = False) -> SkillSource:
        scratch = _new(place, f"scratch-{len(os.listdir(place))}")
        return open_source(parse_reference(reference), scratch=str(scratch), access=Access(offline=offline))


def _new(place: Path, name: str) -> Path:
    directory = place / name
    directory.mkdir(mode=0o700)
    return directory


def _files(directory: Path) -> Iterator[tuple[str, bytes]]:
    for path in directory.rglob("*"):
        if not path.is_dir():
            yield path.relative_to(directory).as_posix(), path.read_bytes()


def _offer(source: SkillSource, name: str, version: str | None = None) -> Offer:
    (found,) = [offer for offer in source.offers(version) if offer.name == name]
    return found


def _refused(source: SkillSource, offer: Offer, into: Path) -> None:
    fetched: Fetched | None = None
    try:
        fetched = source.fetch(offer, str(into))
    except SkillError:
        return
    raise AssertionError(f"{fetched.name} was fetched, but it must be refused")
