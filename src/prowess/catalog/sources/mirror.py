"""Local copies of skills that other servers offer, unchanged since a person requested them.

A server describes a skill by its front matter and a list of its files with sizes and digests. A file is stored only if
it matches this description exactly. Each copy has a directory of its own, which no search for skills reaches:

    <cache>/mcp/<label>/<skill>/<set>/<name>/…     the files
    <cache>/mcp/<label>/<skill>/<set>/origin.json  where they came from

`<label>` is the host's name of the server, `<skill>` a digest of the skill's URI, `<set>` a digest of its list of
files. So skills of different servers cannot be confused. Trust (`prowess trust`) belongs to a path. Because the path
contains the digest, a changed skill has a new path, which is not trusted.

This module does not connect to servers. Source: MCP Skills extension, skill entries, integrity, security
considerations.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import unicodedata
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.contained import check_relative
from prowess._internal.files.tree_digest import is_left_out, read_tree
from prowess._internal.places import cache_home, ensure_private_directory
from prowess._internal.text.canonical_json import is_digest
from prowess._internal.text.terminal_text import json_text
from prowess.catalog.layers import Layer
from prowess.catalog.skill_uri import DOCUMENT
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.trust import TrustStore
from prowess.errors import RemoteSkillError, SkillError, UnsafePathError
from prowess.format.json_rendering import renders
from prowess.format.name import name_faults
from prowess.format.parsing import parse_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.catalog.scan import Scan

MAX_FILES = 512  # Skills extension, limits
MAX_BYTES = 16 * 1024 * 1024
MAX_URI = 8192
_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ORIGIN = "origin.json"
_SHORT = 32  # hex digits of a digest in a path: 128 bits


class RemoteFile(Struct, frozen=True, kw_only=True):
    """One file as described by its server. `path` is relative with `/`; `digest` is `sha256:` and 64 hex digits."""

    path: str
    uri: str
    digest: str
    size: int


class RemoteSkill(Struct, frozen=True, kw_only=True):
    """One skill as described by its server.

    The form of the description has been checked. The files are verified when they are fetched.

    `origin` is the label of the server. `(origin, uri)` is the identity of the skill; two skills may have the same
    `name`.
    """

    origin: str
    uri: str
    name: str
    description: str
    frontmatter: Mapping[str, object]
    files: tuple[RemoteFile, ...]

    @property
    def set_digest(self) -> str:
        """`sha256:` over the URIs and digests of all files. A person's approval applies to this digest."""
        whole = hashlib.sha256(f"{self.uri}\n".encode())
        for file in sorted(self.files, key=lambda one: one.uri):
            whole.update(f"{file.uri}\0{file.digest}\n".encode())
        return f"sha256:{whole.hexdigest()}"


class MirrorSource(DirectorySource):
    """One copied skill as a source of the lowest layer, not listed until trusted. `origin` is its server's label."""

    def __init__(self, directory: str, name: str, origin: str) -> None:
        super().__init__(
            f"{directory}/{name}", layer=Layer.PLUGIN, label=f"mcp:{origin}", named=True, project=directory
        )
        self.origin = origin
        self._directory = directory

    def scan(self, scan: Scan) -> None:
        """Add the skill if all its files are unchanged since they were copied."""
        try:
            skill = _recorded(self._directory, self.origin)
            found = {(file.path, f"sha256:{file.sha256}") for file in read_tree(self.root).files}
        except (OSError, SkillError) as fault:
            scan.skip(self.root, "", "catalog.mirror", f"left out: {fault}; fetch it again")
            return
        if found != {(file.path, file.digest) for file in skill.files if not is_left_out(file.path)}:
            scan.skip(self.root, "", "catalog.mirror", "left out: it was changed after it was fetched; fetch it again")
            return
        super().scan(scan)


def checked_label(label: str) -> str:
    """Return the label of a server if it is safe as a part of paths.

    Raises:
        ValueError: not 1 to 64 lower-case letters, digits, `.`, `_` and `-` that begin with a letter or digit.
    """
    if not _LABEL.fullmatch(label):
        message = (
            f"{label!r} is not a label: write 1 to 64 lower-case letters, digits, '.', '_' or '-', "
            "a letter or digit first"
        )
        raise ValueError(message)
    return label


def remote_skill(origin: str, entry: object) -> RemoteSkill:
    """Return the skill that an entry of `skills/list` or `skills/get` describes.

    Raises:
        RemoteSkillError: the entry breaks a rule of the extension, exceeds a limit, or names a file outside its skill.
    """
    if not isinstance(entry, dict) or not isinstance(uri := entry.get("uri"), str) or len(uri) > MAX_URI:
        raise RemoteSkillError(origin, None, "an entry has no uri")
    frontmatter, resources = entry.get("frontmatter"), entry.get("resources")
    if not isinstance(frontmatter, dict):
        raise RemoteSkillError(origin, uri, "its entry has no front matter")
    name, description = frontmatter.get("name"), frontmatter.get("description")
    if not isinstance(name, str) or not isinstance(description, str) or name_faults(name):
        raise RemoteSkillError(origin, uri, "its front matter must have a conforming name and a description")
    if resources == "dynamic":
        raise RemoteSkillError(origin, uri, "its content is generated, so no digest can be checked")
    if not isinstance(resources, list) or not resources:
        raise RemoteSkillError(origin, uri, "its entry does not list its files")
    root, _, document = uri.rpartition("/")
    if document != DOCUMENT or _segment(root.rpartition("/")[2]) != name:
        raise RemoteSkillError(origin, uri, f"its URI does not end in /{name}/{DOCUMENT}")
    if len(resources) > MAX_FILES:
        raise RemoteSkillError(origin, uri, f"it has {len(resources)} files, at most {MAX_FILES} are taken")
    files = tuple(_file(origin, uri, f"{root}/", resource) for resource in resources)
    if (size := sum(file.size for file in files)) > MAX_BYTES:
        raise RemoteSkillError(origin, uri, f"its files have {size} bytes together, at most {MAX_BYTES} are taken")
    if uri not in {file.uri for file in files}:
        raise RemoteSkillError(origin, uri, f"it does not list its own {DOCUMENT}")
    if (clash := _clash(files)) is not None:
        raise RemoteSkillError(origin, uri, f"it lists {clash!r} twice, or as file and directory")
    return RemoteSkill(origin=origin, uri=uri, name=name, description=description, frontmatter=frontmatter, files=files)


def verify(skill: RemoteSkill, file: RemoteFile, data: bytes) -> None:
    """Compare the contents of a file with its description. For SKILL.md, compare the front matter too.

    Raises:
        RemoteSkillError: the file differs from its description.
    """
    if len(data) != file.size or f"sha256:{hashlib.sha256(data).hexdigest()}" != file.digest:
        reason = f"{file.path} differs from the entry; the skill may have changed, so list it again"
        raise RemoteSkillError(skill.origin, skill.uri, reason)
    if file.uri == skill.uri:
        document = parse_document(data, path=DOCUMENT)
        if not document.complete or not renders(document, dict(skill.frontmatter)):
            raise RemoteSkillError(skill.origin, skill.uri, f"the front matter of {DOCUMENT} is not that of the entry")


def keep(skill: RemoteSkill, contents: Mapping[str, bytes]) -> MirrorSource:
    """Verify and store all files of a skill. Older copies of the skill are removed and lose their trust.

    `contents` maps each path to its bytes. The copy is stored completely or not at all.

    Raises:
        RemoteSkillError: a file is missing or differs from the entry.
        OSError: the cache cannot be written.
    """
    for file in skill.files:
        if file.path not in contents:
            raise RemoteSkillError(skill.origin, skill.uri, f"{file.path} was not read")
        verify(skill, file, contents[file.path])
    place = _place(skill.origin, skill.uri)
    directory = os.path.join(place, skill.set_digest[7 : 7 + _SHORT])
    ensure_private_directory(place)
    draft = os.path.join(place, f".draft-{os.urandom(8).hex()}")
    try:
        for file in skill.files:
            target = os.path.join(draft, skill.name, *check_relative(file.path))
            ensure_private_directory(os.path.dirname(target))
            write_atomically(target, contents[file.path], sync=False)
        write_atomically(os.path.join(draft, _ORIGIN), _origin_text(skill), sync=False)
        _forget_others(place, but=(draft, directory))
        if os.path.isdir(directory):  # the same set of files, which may have been damaged
            shutil.rmtree(directory)
        os.rename(draft, directory)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return MirrorSource(os.path.realpath(directory), skill.name, skill.origin)


def mirrored(origin: str | None = None) -> list[MirrorSource]:
    """Return the stored skills of one server (None: all servers) as catalog sources, sorted by server and name."""
    found = []
    for directory in _sets(origin):
        label = os.path.basename(os.path.dirname(os.path.dirname(directory)))
        try:
            skill = _recorded(directory, label)
        except (OSError, SkillError):
            continue  # partly removed, or not a copy of a skill
        found.append((label, skill.name, directory))
    return [MirrorSource(directory, name, label) for label, name, directory in sorted(found)]


def forget(origin: str) -> None:
    """Remove all copies of a server's skills, and the trust in them. Raises OSError if a file cannot be removed."""
    place = os.path.join(_root(), checked_label(origin))
    for directory in tuple(_sets(origin)):
        TrustStore().revoke(directory)
    if os.path.isdir(place):
        shutil.rmtree(place)


def _root() -> str:
    return os.path.realpath(os.path.join(cache_home(), "mcp"))


def _place(origin: str, uri: str) -> str:
    return os.path.join(_root(), checked_label(origin), hashlib.sha256(uri.encode()).hexdigest()[:_SHORT])


def _sets(origin: str | None) -> Iterator[str]:
    labels = _names(_root()) if origin is None else [checked_label(origin)]
    for label in labels:
        for skill in _names(place := os.path.join(_root(), label)):
            for directory in _names(os.path.join(place, skill)):
                yield os.path.join(place, skill, directory)


def _names(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return sorted(
                entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name[0] != "."
            )
    except OSError:
        return []


def _forget_others(place: str, but: tuple[str, ...]) -> None:
    for name in os.listdir(place):
        directory = os.path.join(place, name)
        if directory not in but:
            TrustStore().revoke(directory)
            shutil.rmtree(directory, ignore_errors=True)


def _origin_text(skill: RemoteSkill) -> bytes:
    entry = {
        "uri": skill.uri,
        "frontmatter": dict(skill.frontmatter),
        "resources": [{"uri": file.uri, "digest": file.digest, "size": file.size} for file in skill.files],
    }
    return json_text({"origin": skill.origin, "entry": entry}, indent=1).encode()


def _recorded(directory: str, origin: str) -> RemoteSkill:
    with open(os.path.join(directory, _ORIGIN), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise RemoteSkillError(origin, None, "its record is not a regular file")
        text = file.read(MAX_BYTES)
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("origin") != origin:
        raise RemoteSkillError(origin, None, "its record is damaged")
    skill = remote_skill(origin, record.get("entry"))
    if os.path.basename(directory) != skill.set_digest[7 : 7 + _SHORT]:
        raise RemoteSkillError(origin, skill.uri, "its record is not of this set of files")
    return skill


def _file(origin: str, skill: str, root: str, resource: object) -> RemoteFile:
    if not isinstance(resource, dict):
        raise RemoteSkillError(origin, skill, "its list of files has an item that is not an object")
    uri, digest, size = resource.get("uri"), resource.get("digest"), resource.get("size")
    if not isinstance(uri, str) or len(uri) > MAX_URI or not uri.startswith(root):
        raise RemoteSkillError(origin, skill, f"it lists {str(uri)[:200]!r}, which is not inside it")
    if not isinstance(digest, str) or not is_digest(digest):
        raise RemoteSkillError(origin, skill, f"{uri} has no digest of the form sha256:<64 hex digits>")
    if type(size) is not int or size < 0:
        raise RemoteSkillError(origin, skill, f"{uri} has no size")
    segments = [_segment(part) for part in uri[len(root) :].split("/")]
    path = "/".join(part for part in segments if part is not None)
    if None in segments or not _is_plain(path):
        raise RemoteSkillError(origin, skill, f"{uri} has a part that could mean another place")
    return RemoteFile(path=path, uri=uri, digest=digest, size=size)


def _is_plain(path: str) -> bool:
    try:
        return "/".join(check_relative(path)) == path
    except UnsafePathError:
        return False


def _segment(part: str) -> str | None:
    """Decode one segment of a URI. Return None if the result is not a plain file name."""
    from urllib.parse import unquote_to_bytes  # Imported here: most catalogs have no skills of other servers.

    if _ESCAPE.search(part) or "?" in part or "#" in part:
        return None
    try:
        text = unquote_to_bytes(part).decode()
    except UnicodeError:
        return None
    unfit = text in {"", ".", "..", ".git"} or any(sign in text for sign in "/\\\0") or not text.isprintable()
    return None if unfit else text


def _clash(files: tuple[RemoteFile, ...]) -> str | None:
    """Return a path that would collide with another one on some file system, or None."""
    taken: set[str] = set()
    parents: set[str] = set()
    for file in files:
        key = unicodedata.normalize("NFC", file.path).casefold()
        if key in taken:
            return file.path
        taken.add(key)
        parts = key.split("/")
        parents.update("/".join(parts[:length]) for length in range(1, len(parts)))
    return next((file.path for file in files if unicodedata.normalize("NFC", file.path).casefold() in parents), None)
