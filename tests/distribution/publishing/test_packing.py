"""Archives of skills: the same bytes everywhere, and readable by the programs that people have."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.distribution.publishing import archive_writer
from prowess.distribution.publishing.packing import PackedFile, pack, read_skill_files
from prowess.errors import LimitExceededError, UnsafePathError
from tests.counterparts import counterpart

if TYPE_CHECKING:
    from prowess.distribution.publishing.packing import ArchiveForm

FORMS: tuple[ArchiveForm, ...] = ("tar.gz", "zip")
LONG = "/".join(["deep" * 10] * 6)  # longer than a ustar header allows


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """Return a skill with everything that an archive can have."""
    root = tmp_path / "pdf"
    (root / "scripts").mkdir(parents=True)
    (root / LONG).mkdir(parents=True)
    (root / "SKILL.md").write_text("---\nname: pdf\ndescription: Reads.\nmetadata:\n  version: 1.0.0\n---\nRead.\n")
    (root / "scripts" / "run.sh").write_text("#!/bin/sh\n")
    (root / "scripts" / "run.sh").chmod(0o755)
    (root / "größe.md").write_text("ü")
    (root / "empty").write_bytes(b"")
    (root / "big.bin").write_bytes(bytes(range(256)) * 1000)
    (root / LONG / "a.md").write_text("deep")
    (root / ("p" * 90)).mkdir()
    (root / ("p" * 90) / "split.md").write_text("in two parts of the header")
    (root / "skill.oms.sig").write_text("{}")
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref")
    return root


def _expected(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def test_a_tar_holds_every_file_with_its_mode_and_nothing_of_this_machine(skill: Path) -> None:
    data = pack(read_skill_files(str(skill)).files, prefix="pdf/")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        entries = archive.getmembers()
        found = {entry.name: archive.extractfile(entry).read() for entry in entries}  # type: ignore[union-attr] # files
    assert found == {f"pdf/{path}": content for path, content in _expected(skill).items()}
    assert {entry.name for entry in entries if entry.mode == 0o755} == {"pdf/scripts/run.sh"}
    assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) for entry in entries} == {(0, 0, 0, "", "")}
    assert [entry.name.encode() for entry in entries] == sorted(entry.name.encode() for entry in entries)


def test_a_zip_holds_every_file_with_its_mode(skill: Path) -> None:
    data = pack(read_skill_files(str(skill)).files, "zip")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {entry.filename: archive.read(entry) for entry in archive.infolist()} == _expected(skill)
        executable = {entry.filename for entry in archive.infolist() if entry.external_attr >> 16 & 0o100}
    assert executable == {"scripts/run.sh"}


def test_tar_itself_reads_the_archive(skill: Path, tmp_path: Path) -> None:
    (tmp_path / "pdf.tar.gz").write_bytes(pack(read_skill_files(str(skill)).files))
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        ["tar", "-xzf", tmp_path / "pdf.tar.gz", "-C", tmp_path / "out"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert _expected(tmp_path / "out") == _expected(skill)


@pytest.mark.parametrize("form", FORMS)
def test_times_owners_order_and_umask_change_no_byte(skill: Path, tmp_path: Path, form: ArchiveForm) -> None:
    first = pack(read_skill_files(str(skill)).files, form)
    copy = tmp_path / "elsewhere" / "pdf"
    for path in sorted(_expected(skill), reverse=True):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_bytes((skill / path).read_bytes())
        (copy / path).chmod(0o700 if path == "scripts/run.sh" else 0o604)
        os.utime(copy / path, (1, 1))
    assert pack(read_skill_files(str(copy)).files, form) == first


@pytest.mark.parametrize("form", FORMS)
def test_a_compressed_archive_has_the_same_files_and_is_smaller(skill: Path, form: ArchiveForm) -> None:
    files = read_skill_files(str(skill)).files
    small = pack(files, form, compress=True)
    assert len(small) < len(pack(files, form)) / 2
    if form == "zip":
        with zipfile.ZipFile(io.BytesIO(small)) as archive:
            assert {entry.filename: archive.read(entry) for entry in archive.infolist()} == _expected(skill)
    else:
        with tarfile.open(fileobj=io.BytesIO(small)) as tar:
            assert len(tar.getmembers()) == len(files)


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
def test_what_has_no_digest_is_not_packed(skill: Path, kind: str) -> None:
    match kind:
        case "link":
            (skill / "odd").symlink_to("SKILL.md")
        case "hard link":
            os.link(skill / "SKILL.md", skill / "odd")
        case _:
            os.mkfifo(skill / "odd")
    with pytest.raises(UnsafePathError, match="cannot be packed"):
        read_skill_files(str(skill))


def test_a_skill_that_could_not_be_installed_is_not_packed(skill: Path) -> None:
    with (skill / "large").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(LimitExceededError, match="bytes in one archive"):
        read_skill_files(str(skill))


_PACK = """
import hashlib, json, runpy, sys, types
writer = runpy.run_path(sys.argv[1])
files = [types.SimpleNamespace(path=p, executable=x, data=bytes.fromhex(d)) for p, x, d in json.load(sys.stdin)]
archives = [writer[form](files, prefix) for form in ("tar_gz_of", "zip_of") for prefix in ("", "pdf/")]
print(*(hashlib.sha256(data).hexdigest() for data in archives))
"""
_ZLIB_NG = "from zlib_ng import zlib_ng; sys.modules['zlib'] = zlib_ng\n"


def _pythons() -> list[str]:
    places = [Path(os.environ.get("PYENV_ROOT", "/root/.pyenv")) / "versions", Path("/opt/python")]
    return [sys.executable, *(str(found) for place in places for found in sorted(place.glob("*3.1[1-9]*/bin/python3")))]


def _digests(python: str, skill: Path, before: str = "") -> str:
    files = [(file.path, file.executable, file.data.hex()) for file in read_skill_files(str(skill)).files]
    done = subprocess.run(
        [python, "-c", before + _PACK, archive_writer.__file__],
        input=json.dumps(files),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_python_at_hand_writes_the_same_bytes(skill: Path) -> None:
    pythons = _pythons()
    if len(pythons) < 3:
        pytest.skip("there are fewer than three Pythons from 3.11 on this machine")
    assert len({_digests(python, skill) for python in pythons}) == 1


def test_zlib_ng_in_the_place_of_zlib_writes_the_same_bytes(skill: Path) -> None:
    before = f"import sys; sys.path.insert(0, {str(counterpart('zlib-ng'))!r})\n{_ZLIB_NG}"
    assert _digests(sys.executable, skill, before) == _digests(sys.executable, skill)


@pytest.mark.proves("governance.plugin.reproducible")
@pytest.mark.parametrize("form", FORMS)
def test_an_archive_has_the_bytes_that_it_always_had(form: ArchiveForm) -> None:
    files = [
        PackedFile(path="SKILL.md", executable=False, data=b"x"),
        PackedFile(path="run", executable=True, data=b""),
    ]
    known = {
        "tar.gz": "06e65598a851f59a9e1f9bb838b93247f8b7f1ea84a90ce38374d63d3296bfe6",
        "zip": "0fc8b78eaaecefa2803d478148cbd853be18cc774f1bd563aa05c917a2ea90bf",
    }
    assert hashlib.sha256(pack(files, form)).hexdigest() == known[form]
