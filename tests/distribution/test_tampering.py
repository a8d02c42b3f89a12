"""One changed byte of what is on the way to an agent is refused: lock, archive, OCI manifest, statement, file.

Five skills are packed, signed, mirrored and installed. `PROWESS_FLIPS=all` changes every byte, and every bit of the
lock; by default a few are changed.
"""

from __future__ import annotations

import os
import shutil
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import prowess_home
from prowess.distribution.installation.disk.store import SkillStore
from prowess.distribution.sources import Mirror, open_source
from prowess.errors import IntegrityError, LockfileError
from prowess.lockfile import parse_lock
from prowess.lockfile.source_reference import parse_reference
from prowess.signing.keys import read_public_key
from prowess.signing.trust import Trust, TrustedKey
from prowess.signing.verification import Verifier
from tests.distribution.installation.projects import Commands, write_skill
from tests.signing.authorities import NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WHOLE = os.environ.get("PROWESS_FLIPS") == "all"
_FEW = 4  # changed bytes of one file by default


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    """A project in which five signed skills are installed, with their archives and a mirror beside it."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    found = Commands(tmp_path / "project", monkeypatch, capfd)
    names = ("csv-report", "git-changelog", "http-api-review", "log-triage", "release-notes")
    for name in names:
        write_skill(tmp_path / "skills" / name, script=f"print({name!r})\n")
    found.text("key", "new", "../k")
    found.text("sign", "../skills", "--key", "../k")
    for number, name in enumerate(names):
        kind, ending = (("zip", "zip"), ("tar.gz", "tar.gz"))[number % 2]
        found.text("pack", f"../skills/{name}", "--format", kind, "-o", f"../{name}.{ending}")
    found.text("install", "../skills", "--skill", "*")
    found.text("mirror", "--to", "../mirror")
    return tmp_path


def test_each_changed_bit_or_byte_is_refused(place: Path) -> None:
    mirrored = _by_mirror(place)
    tried = {
        "lock": _flip_lock(place / "project" / "prowess.lock"),
        "archive": _count(_flip(file, _by_archive(file, place)) for file in _archives(place)),
        "mirror": _count(_flip(blob, mirrored) for blob in _blobs(place)),
        "statement": _count(_flip(file, _by_signature(file, place)) for file in place.glob("skills/*/skill.oms.sig")),
        "file": _count(_flip(file, _by_store(file)) for file in _stored()),
    }
    assert min(tried.values()) >= _FEW * 5, tried


def _count(numbers: Iterator[int]) -> int:
    return sum(numbers)


def _flip_lock(path: Path) -> int:
    data = path.read_bytes()
    places = list(_places(len(data) * 8, 100))
    for at in places:
        changed = bytearray(data)
        changed[at // 8] ^= 1 << (at % 8)
        with pytest.raises(LockfileError):
            parse_lock(bytes(changed), "prowess.lock")
    return len(places)


def _flip(path: Path, accepts: Callable[[], bool]) -> int:
    """Change single bytes of a file, and require that none is accepted. Return how many were changed."""
    data, mode = path.read_bytes(), path.stat().st_mode
    path.chmod(mode | 0o200)
    places = list(_places(len(data), _FEW))
    with path.open("r+b", buffering=0) as file:
        for at in places:
            file.seek(at)
            file.write(bytes((data[at] ^ (1 << (at % 8)),)))
            assert not accepts(), (path, at)
            file.seek(at)
            file.write(data[at : at + 1])
    path.chmod(mode)
    return len(places)


def _places(size: int, few: int) -> Iterator[int]:
    """Yield every place, or the first, the last and some between."""
    yield from range(size) if _WHOLE else islice(chain((0, size - 1), range(1, size, max(1, size // few))), few)


def _archives(place: Path) -> list[Path]:
    return sorted((*place.glob("*.zip"), *place.glob("*.tar.gz")))


def _by_archive(path: Path, place: Path) -> Callable[[], bool]:
    """Return whether the locked artifact is read from an archive."""
    reference = parse_reference(str(path))
    with open_source(reference, scratch=str(_fresh(place))) as source:
        artifact = source.offers()[0].revision
    shutil.rmtree(_fresh(place))

    def accepts() -> bool:
        scratch = _fresh(place)
        try:
            with open_source(reference, scratch=str(scratch)) as source:
                return bool(source.offers(artifact))
        except IntegrityError:
            return False
        finally:
            shutil.rmtree(scratch)

    assert accepts()
    return accepts


def _fresh(place: Path) -> Path:
    scratch = place / "scratch"
    scratch.mkdir(exist_ok=True)
    return scratch


def _blobs(place: Path) -> list[Path]:
    """Return manifests and layers of the mirror. The configuration, `{}` or facts, is read by nobody."""
    found = sorted((place / "mirror" / "blobs" / "sha256").iterdir())
    return [path for path in found if path.read_bytes() != b"{}" and b'"schemaVersion":"1"' not in path.read_bytes()]


def _by_mirror(place: Path) -> Callable[[], bool]:
    """Return whether everything that the lock names is read from the mirror."""
    skills = list(parse_lock((place / "project" / "prowess.lock").read_bytes()).skills)

    def accepts() -> bool:
        scratch = _fresh(place)
        try:
            mirror = Mirror(str(place / "mirror"))
            if mirror.lock() is None:
                return False
            for skill in tuple(skills):
                into = scratch / skill.name
                into.mkdir()
                skills.remove(skill)
                skills.insert(0, skill)  # the one that is refused is tried first at the next change
                mirror.fetch(skill, str(into), str(scratch))
        except IntegrityError:
            return False
        finally:
            shutil.rmtree(scratch)
        return True

    assert accepts()
    return accepts


def _by_signature(path: Path, place: Path) -> Callable[[], bool]:
    key = TrustedKey(key=read_public_key((place / "k.pub").read_bytes(), "k.pub"))
    verifier, manifest = Verifier(Trust(keys=(key,)), NOW), read_tree(str(path.parent))

    def accepts() -> bool:
        return verifier.tree(manifest, path.read_bytes()).status == "verified"

    assert accepts()
    return accepts


def _stored() -> list[Path]:
    """Return the files of skills in the store that the digest covers."""
    found = sorted(path for path in Path(prowess_home(), "store").rglob("*") if path.is_file())
    return [path for path in found if path.name not in {".files", "skill.oms.sig"}]


def _by_store(path: Path) -> Callable[[], bool]:
    root = Path(prowess_home(), "store")
    tree, name = path.relative_to(root).parts[:2]

    def accepts() -> bool:
        return SkillStore(prowess_home()).has(tree.replace("-", ":", 1), name)

    assert accepts()
    return accepts
