"""The skills of a catalog as resources: a complete list of files with digests, and the bytes of these files.

A skill is served only if it follows the format's rules, because it is served under its own name. The conditions are:

- It has a valid name and a description, both text, in a file called SKILL.md.
- It has at most 512 files, with at most 16 MiB in total.
- A request can contain each of its paths.

All other skills remain available through the tools; `why_not` returns the reason.

A file is opened below its skill's directory without following links. Its bytes are returned only if they have the hash
in the list. All functions of this module read the disk and block.

Source: MCP Skills extension `io.modelcontextprotocol/skills`.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.text.invisible import visible
from prowess._internal.text.terminal_text import json_text
from prowess.catalog.skill_uri import DOCUMENT, parse_skill_uri, skill_uri
from prowess.errors import (
    InvalidArgumentsError,
    NotAFileError,
    ResourceNotFoundError,
    SkillError,
    SkillNotFoundError,
    UnavailableError,
    UnsafePathError,
)
from prowess.execution.artifacts import media_type
from prowess.format.json_rendering import as_json
from prowess.format.name import name_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.files.tree_digest import FileRecord
    from prowess.catalog import Catalog, SkillEntry
    from prowess.format import Skill
    from prowess.runtime.activation.visibility import Visibility

MAX_FILES = 512  # Skills extension, limits
MAX_BYTES = 16 * 1024 * 1024
DIRECTORY_TYPE = "inode/directory"
MANIFEST = "_manifest"
JSON_TYPE = "application/json"
_INDEX_SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_UNKNOWN = "application/octet-stream"


class ServedSkill(Struct, frozen=True, kw_only=True):
    """A skill that is served. `frontmatter` is JSON; `files` are all its files, sorted by path.

    `is_recorded` is whether a package recorded the files (`TreeManifest`).
    """

    name: str
    description: str
    root_dir: str
    frontmatter: dict[str, object]
    files: tuple[FileRecord, ...]
    is_recorded: bool

    @property
    def uri(self) -> str:
        """The URI of the skill's SKILL.md."""
        return skill_uri(self.name, DOCUMENT)

    def as_entry(self) -> dict[str, object]:
        """Return the entry of the Skills extension."""
        return {
            "uri": self.uri,
            "frontmatter": self.frontmatter,
            "resources": [
                {"uri": skill_uri(self.name, file.path), "digest": f"sha256:{file.sha256}", "size": file.size}
                for file in self.files
            ],
        }


class Child(Struct, frozen=True, kw_only=True):
    """An entry of a directory: a file, or a directory (type `inode/directory`, no size)."""

    uri: str
    name: str
    media_type: str
    size: int | None = None


class SkillResources:
    """Looks up served skills. A name means the copy that the catalog uses; shadowed copies are not served."""

    def __init__(self, catalog: Catalog, visibility: Visibility) -> None:
        self._catalog, self._visibility = catalog, visibility
        self._shown: tuple[tuple[SkillEntry, ...], tuple[SkillEntry, ...]] = ((), ())

    def listed(self) -> tuple[SkillEntry, ...]:
        """Return the skills that a model may see and whose names can be served, by name. Does not check their files."""
        shown = self._visibility.shown("model")
        if shown is not self._shown[0]:
            self._shown = shown, tuple(entry for entry in shown if not name_faults(entry.name))
        return self._shown[1]

    def page(self, after: str, size: int) -> tuple[list[ServedSkill], str | None]:
        """Return the served skills among the next `size` names after `after`, and the next `after` or None."""
        listed = self.listed()
        begin = bisect_right(listed, after, key=attrgetter("name"))
        found = []
        for entry in listed[begin : begin + size]:
            with suppress(SkillError):  # one broken skill must not break the whole list
                found.append(self.get(entry.name))
        return found, listed[begin + size - 1].name if len(listed) > begin + size else None

    def get(self, name: str) -> ServedSkill:
        """Return a skill by name, even if the skill is hidden from models.

        Raises:
            SkillNotFoundError: there is no such skill, or it cannot be served; `reason` states why.
            UnavailableError: its files are being written.
        """
        return _served(self._catalog.skill(name), name)

    def at(self, uri: str) -> ServedSkill:
        """Return the skill whose SKILL.md has this URI. Raise InvalidArgumentsError or the errors of `get`."""
        name, path = parsed_uri(uri)
        if path != DOCUMENT:
            raise InvalidArgumentsError((f"{uri} is not the URI of a skill's SKILL.md",))
        return self.get(name)

    def read(self, uri: str) -> tuple[str, bytes]:
        """Return the media type and the bytes of one file of a skill.

        Raise InvalidArgumentsError, SkillNotFoundError, ResourceNotFoundError, NotAFileError or UnavailableError.
        """
        name, path = parsed_uri(uri)
        skill = self.get(name)
        record = next((file for file in skill.files if file.path == path), None)
        if record is None:
            if not path or _holds(skill, path):
                raise NotAFileError(name, path or ".", tuple(child.name for child in _children(skill, path)))
            raise ResourceNotFoundError(name, path)
        return _type(path), _bytes(skill, record)

    def children(self, uri: str) -> list[Child]:
        """Return a directory's entries, sorted by name. Raise InvalidArgumentsError or the errors of `get`."""
        name, path = parsed_uri(uri)
        skill = self.get(name)
        if path and not _holds(skill, path):
            raise InvalidArgumentsError((f"{uri} is not a directory resource",))
        return _children(skill, path)


def why_not(skill: Skill) -> str | None:
    """Return the reason why a skill is not served; None if it is served."""
    written = as_json(skill.document)
    name = written.get("name")
    if not isinstance(name, str) or not isinstance(written.get("description"), str):
        return "its front matter must have a name and a description, both strings"
    if name_faults(name):
        return f"its name {name!r} does not follow the rules for names"
    if skill.manifest.find(DOCUMENT) is None:
        return f"its file must be called {DOCUMENT}"
    files = skill.manifest.files
    if len(files) > MAX_FILES:
        return f"it has {len(files)} files, at most {MAX_FILES} are served"
    if (size := sum(file.size for file in files)) > MAX_BYTES:
        return f"its files have {size} bytes in total, at most {MAX_BYTES} are served"
    for file in files:
        try:
            check_relative(file.path)
        except UnsafePathError as error:
            return str(error)
    return None


def _served(skill: Skill, asked: str) -> ServedSkill:
    reason = why_not(skill)
    frontmatter = as_json(skill.document)
    if reason is None and frontmatter["name"] != asked:
        reason = f"its front matter spells the name {frontmatter['name']!r}"
    if reason is not None:
        raise SkillNotFoundError(asked, (), f"it is not served as resources: {reason}")
    return ServedSkill(
        name=asked,
        description=visible(skill.description),
        root_dir=skill.root_dir,
        frontmatter=frontmatter,
        files=skill.manifest.files,
        is_recorded=skill.manifest.is_recorded,
    )


def parsed_uri(uri: str) -> tuple[str, str]:
    """Return name and path of a skill URI. Raise InvalidArgumentsError for any other URI."""
    try:
        return parse_skill_uri(uri)
    except ValueError as error:
        raise InvalidArgumentsError((str(error),)) from None


def _bytes(skill: ServedSkill, record: FileRecord) -> bytes:
    try:
        with (
            ContainedRoot(skill.root_dir) as root,
            root.open(record.path, allow_hard_links=skill.is_recorded) as opened,
        ):
            data = opened.read(record.size + 1)  # one byte more, to detect that the file has grown
    except (OSError, UnsafePathError) as fault:
        raise UnavailableError(f"{record.path!r} of skill {skill.name!r}", 1, "it has just changed") from fault
    if hashlib.sha256(data).hexdigest() != record.sha256:
        raise UnavailableError(f"{record.path!r} of skill {skill.name!r}", 1, "it is being written to")
    return data


def _holds(skill: ServedSkill, directory: str) -> bool:
    return any(file.path.startswith(f"{directory}/") for file in skill.files)


def _children(skill: ServedSkill, directory: str) -> list[Child]:
    prefix = f"{directory}/" if directory else ""
    found: dict[str, Child] = {}
    for file in skill.files:
        if not file.path.startswith(prefix):
            continue
        name, below, _ = file.path[len(prefix) :].partition("/")
        kind, size = (DIRECTORY_TYPE, None) if below else (_type(name), file.size)
        found[name] = Child(uri=skill_uri(skill.name, prefix + name), name=name, media_type=kind, size=size)
    return [found[name] for name in sorted(found)]


def _type(path: str) -> str:
    known = media_type(path)
    return "text/plain" if known == _UNKNOWN and "." not in path.rpartition("/")[2] else known


def index_text(skills: Iterable[ServedSkill]) -> str:
    """Return the text of `skill://index.json`, the discovery index of version 0.2.0 with URIs of this server.

    The index is for clients without the Skills extension, such as Microsoft Agent Framework. It only repeats facts that
    the extension also returns.
    """
    entries = [
        {
            "name": skill.name,
            "type": "skill-md",
            "description": skill.description,
            "url": skill.uri,
            "digest": next(f"sha256:{file.sha256}" for file in skill.files if file.path == DOCUMENT),
        }
        for skill in skills
    ]
    return json_text({"$schema": _INDEX_SCHEMA, "skills": entries}, indent=2)


def manifest_text(skill: ServedSkill) -> str:
    """Return the text of `skill://<name>/_manifest`, which lists the files of one skill. The format is that of FastMCP.

    If a skill has a file called `_manifest`, this file is served instead.
    """
    files = [{"path": file.path, "size": file.size, "hash": f"sha256:{file.sha256}"} for file in skill.files]
    return json_text({"skill": skill.name, "files": files}, indent=2)
