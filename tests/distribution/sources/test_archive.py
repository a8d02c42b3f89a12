"""Archives: what is read, and what is refused whole before the first byte is written."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import MAX_FILES, read_tree
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.distribution.sources.opening import open_source
from prowess.distribution.sources.portable_paths import PortablePaths
from prowess.errors import DistributionError, IntegrityError, LimitExceededError, UnavailableError, UnsafePathError
from prowess.lockfile.source_reference import parse_reference
from prowess.testing.conformance.hostile_archives import SKILL, hostile_archives
from tests.distribution.serving import Answer, serving

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.testing.conformance.hostile_archives import HostileArchive

FILES = {"SKILL.md": SKILL, "scripts/run.sh": b"#!/bin/sh\n", "inner.zip": b"PK\x05\x06" + bytes(18)}


def make_zip(prefix: str = "") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{prefix}docs/", b"")
        for path, data in FILES.items():
            info = zipfile.ZipInfo(prefix + path)
            info.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
            archive.writestr(info, data)
    return out.getvalue()


def make_tar(prefix: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        folder = tarfile.TarInfo(f"{prefix}docs")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for path, data in FILES.items():
            info = tarfile.TarInfo(prefix + path)
            info.size, info.mode = len(data), 0o755 if path.endswith(".sh") else 0o644
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.zip", make_zip()),
        ("a.skill", make_zip("pdf/")),
        ("a.tar.gz", make_tar("./")),
        ("a.tgz", make_tar("pdf/")),
        ("deep.zip", make_zip("skills/office/pdf/")),
    ],
)
def test_zip_and_tar_of_one_skill_give_the_same_tree(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    into, scratch, plain = tmp_path / "into", tmp_path / "scratch", tmp_path / "plain"
    for directory in (into, scratch, plain):
        directory.mkdir()
    for path, content in FILES.items():
        (plain / path).parent.mkdir(exist_ok=True)
        (plain / path).write_bytes(content)
    (plain / "scripts" / "run.sh").chmod(0o755)
    with open_source(parse_reference(str(tmp_path / name)), scratch=str(scratch)) as source:
        (offer,) = source.offers()
        fetched = source.fetch(offer, str(into))
    assert offer.name == "pdf"
    assert fetched.directory == str(into / "pdf")
    assert fetched.tree == read_tree(fetched.directory).digest == read_tree(str(plain)).digest
    assert fetched.artifact == sha256_of(data) == offer.revision
    assert (into / "pdf" / "inner.zip").is_file(), "an archive inside stays a file"


@pytest.mark.parametrize("hostile", hostile_archives(), ids=lambda hostile: hostile.name)
def test_a_hostile_archive_is_refused_before_anything_is_written(
    tmp_path: Path, hostile: HostileArchive, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(os, "mkdir", lambda *args, **kwargs: made.append(args))
    with pytest.raises((UnsafePathError, LimitExceededError, DistributionError)):
        unpack_archive(hostile.make(), str(tmp_path), "out", what="it")
    assert made == []
    assert os.listdir(tmp_path) == []


def test_there_are_at_least_forty_hostile_archives() -> None:
    found = [hostile.name for hostile in hostile_archives()]
    assert len(set(found)) == len(found) >= 40


def test_as_many_files_and_bytes_as_the_limits_are_accepted(tmp_path: Path) -> None:
    paths = PortablePaths("the archive")
    for number in range(MAX_FILES):
        paths.add_file(f"f{number}")
    with pytest.raises(LimitExceededError, match="files in the archive"):
        paths.add_file("one-more")
    with pytest.raises(DistributionError, match="it is no zip"):  # and not that it is too large
        unpack_archive(bytes(MAX_PACKED), str(tmp_path), "pdf", what="it")
    with pytest.raises(LimitExceededError):
        unpack_archive(bytes(MAX_PACKED + 1), str(tmp_path), "pdf", what="it")


def test_an_archive_with_another_digest_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(make_zip())
    (tmp_path / "scratch").mkdir()
    wrong = sha256_of(b"")
    with (
        open_source(parse_reference(str(tmp_path / "a.zip")), scratch=str(tmp_path / "scratch")) as source,
        pytest.raises(IntegrityError, match="nothing was written"),
    ):
        source.offers(wrong)
    assert os.listdir(tmp_path / "scratch") == []


def test_an_archive_is_fetched_once_also_if_another_digest_is_asked_for(tmp_path: Path) -> None:
    data = make_tar("pdf/")
    with (
        serving({"/a.tgz": Answer(data)}) as site,
        open_source(parse_reference(f"{site.url}/a.tgz"), scratch=str(tmp_path)) as source,
    ):
        (offer,) = source.offers(sha256_of(data))
        with pytest.raises(IntegrityError, match=sha256_of(b"")):
            source.offers(sha256_of(b""))
        assert source.offers() == (offer,)
        assert site.paths() == ["/a.tgz"]


def test_an_archive_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with (
        open_source(parse_reference(str(tmp_path / "a.zip")), scratch=str(tmp_path)) as source,
        pytest.raises(UnavailableError, match=r"a\.zip \(No such file or directory\)"),
    ):
        source.offers()
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(b"no tar"))
    with (
        open_source(parse_reference(str(tmp_path / "b.tar.gz")), scratch=str(tmp_path)) as source,
        pytest.raises(DistributionError, match=r"b\.tar\.gz cannot be unpacked"),
    ):
        source.offers()


def test_no_changed_byte_of_an_archive_gives_the_same_digest_and_other_files(tmp_path: Path) -> None:
    data = make_tar()
    digest = sha256_of(data)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(IntegrityError):
            unpack_archive(bytes(changed), str(tmp_path), "out", what="it", digest=digest)
    assert os.listdir(tmp_path) == []
