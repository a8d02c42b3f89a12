"""Hashes of a skill's files as other tools compute them. They are for the import alone, never an identity of our own.

Some of them have no boundary between path and content, or leave out modes. So after the check, `prowess.lock` records
the tree digest.

Sources: the npm client `skills` 1.7.4; git; microsoft/apm 0.35.0 and OpenAPM 0.1; stacklok/toolhive; hlock 0.8.0.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from prowess.lockfile.foreign.entries import HashKind, RecordedHash
from prowess.lockfile.foreign.locale_order import in_locale_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class SkillFile(Struct, frozen=True, kw_only=True):
    """The bytes of one regular file, and whether its owner may execute it."""

    data: bytes
    executable: bool = False


def matches(recorded: RecordedHash, files: Mapping[str, SkillFile]) -> bool:
    """Return whether the files of a skill, by their path in it, have the recorded hash.

    Raises:
        UnknownOrderError: the order of the names, and so the hash of `skills`, is not known.
    """
    match recorded.kind:
        case "skills":
            return skills_hash(files) == recorded.expected
        case "skills-site":
            return _skills_site(files) == recorded.expected
        case "git-tree":
            return git_tree(files) == recorded.expected
        case "apm-package":
            return _apm_package(files) == recorded.expected
        case "apm-tree":
            return f"sha256:{_apm_tree(files)}" == recorded.expected
        case "apm-files":
            return {path: _apm_file(file.data) for path, file in files.items()} == dict(recorded.files)
        case "toolhive":
            return _toolhive(files) == recorded.expected
        case "hlock":
            return _hlock(files) == recorded.expected
    assert_never(recorded.kind)


_LEFT_OUT: Mapping[HashKind, frozenset[str]] = {  # directories and files whose content is not in the hash
    "skills": frozenset({".git", "node_modules"}),
    "apm-package": frozenset({".git", "__pycache__"}),
    "hlock": frozenset({".git", ".DS_Store", "__pycache__", "node_modules"}),
}
_APM_PIN = ".apm-pin"  # at the root


def is_covered(recorded: RecordedHash, path: str) -> bool:
    """Return whether the hash depends on the file at `path`. The tools leave out what they do not install."""
    if recorded.kind == "apm-package" and path == _APM_PIN:
        return False
    return _LEFT_OUT.get(recorded.kind, frozenset()).isdisjoint(path.split("/"))


def _covered(kind: HashKind, files: Mapping[str, SkillFile]) -> dict[str, SkillFile]:
    recorded = RecordedHash(kind=kind)
    return {path: file for path, file in files.items() if is_covered(recorded, path)}


def skills_hash(files: Mapping[str, SkillFile]) -> str:
    """Return the hash of the client `skills`: SHA-256 over path and content, in the order of `localeCompare`.

    Raises:
        UnknownOrderError: the order of the names is not known.
    """
    whole = hashlib.sha256()
    for path in in_locale_order(_covered("skills", files)):
        whole.update(path.encode())
        whole.update(files[path].data)
    return whole.hexdigest()


def _skills_site(files: Mapping[str, SkillFile]) -> str:
    """SHA-256 over path and content of each file, each with a NUL after it, in the order of UTF-16."""
    whole = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.encode("utf-16-be")):
        whole.update(path.encode() + b"\0" + files[path].data + b"\0")
    return f"sha256:{whole.hexdigest()}"


def git_tree(files: Mapping[str, SkillFile]) -> str:
    """Return the SHA-1 of the files as a tree object of git."""

    def digest(kind: bytes, data: bytes) -> bytes:
        return hashlib.sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).digest()

    def tree(below: Mapping[str, SkillFile]) -> bytes:
        entries = []
        for name, found in _entries(below):
            if isinstance(found, SkillFile):
                mode = b"100755" if found.executable else b"100644"
                entries.append((name.encode(), b"%s %s\0%s" % (mode, name.encode(), digest(b"blob", found.data))))
            else:  # git sorts a directory as if its name ended with a slash
                entries.append((name.encode() + b"/", b"40000 %s\0%s" % (name.encode(), tree(found))))
        return digest(b"tree", b"".join(entry for _, entry in sorted(entries)))

    return tree(files).hex()


def _apm_package(files: Mapping[str, SkillFile]) -> str:
    """SHA-256 over path and content of each file, in the order of the paths."""
    whole = hashlib.sha256()
    for path in sorted(_covered("apm-package", files)):
        whole.update(path.encode())
        whole.update(files[path].data)
    return f"sha256:{whole.hexdigest()}"


def _apm_tree(files: Mapping[str, SkillFile]) -> str:
    """OpenAPM 0.1, `tree_sha256`: a line for each entry of a directory, and the hash of each directory in one above."""
    lines = []
    for name, found in _entries(files):
        if isinstance(found, SkillFile):
            mode, digest = "100755" if found.executable else "100644", hashlib.sha256(found.data).hexdigest()
        else:
            mode, digest = "040000", _apm_tree(found)
        lines.append((name.encode(), f"{mode} {name} {digest}\n".encode()))
    return hashlib.sha256(b"".join(line for _, line in sorted(lines))).hexdigest()


def _apm_file(data: bytes) -> str:
    """SHA-256 of one file; in a text, CRLF counts as LF."""
    if b"\0" not in data and _is_text(data):
        data = data.replace(b"\r\n", b"\n")
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _toolhive(files: Mapping[str, SkillFile]) -> str:
    return _listed(files, lambda file: b"\0" + hashlib.sha256(file.data).digest() + b"\n", str.encode)


def _hlock(files: Mapping[str, SkillFile]) -> str:
    def row(file: SkillFile) -> bytes:
        mode = "x" if file.executable else "-"
        return f"\0{mode}\0sha256:{hashlib.sha256(file.data).hexdigest()}\n".encode()

    return _listed(_covered("hlock", files), row, lambda path: [part.encode() for part in path.split("/")])


def _listed(files: Mapping[str, SkillFile], row: Callable[[SkillFile], bytes], key: Callable[[str], object]) -> str:
    whole = hashlib.sha256()
    for path in sorted(files, key=key):  # type: ignore[arg-type]  # keys are bytes, or lists of bytes
        whole.update(path.encode() + row(files[path]))
    return f"sha256:{whole.hexdigest()}"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _entries(files: Mapping[str, SkillFile]) -> Iterator[tuple[str, SkillFile | dict[str, SkillFile]]]:
    """Yield the files of a directory, and the directories in it with their files."""
    below: dict[str, dict[str, SkillFile]] = {}
    for path, file in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = file
        else:
            yield name, file
    yield from below.items()
