"""`SkillEntry`: one listed skill, with the data that a host shows before the skill is loaded.

An entry keeps the bytes of its front matter and parses a field when it is requested. The bytes use less memory than the
parsed fields, and all fields come from one state of the file. Paths are relative to the source, which saves memory.

An entry stores the digest of its SKILL.md, and the file's stamp (`prowess._internal.files.file_mark`), which shows
whether the file has changed since it was listed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from prowess._internal.files.file_mark import stamp_of
from prowess._internal.files.open_flags import READ
from prowess._internal.text.invisible import hides_something, visible
from prowess._internal.text.qualified_names import qualified
from prowess.format.source.plain_front_matter import plain_description, plain_properties

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess._internal.files.tree_digest import TreeReading
    from prowess.catalog.layers import Layer
    from prowess.catalog.memo.readings import Reading
    from prowess.catalog.sources.locked.locked_source import LockedSource
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.format.skill import Skill
    from prowess.format.source.plain_front_matter import PlainFields

_CHUNK = 1 << 20


class EntrySource(Protocol):
    """The attributes of a source that an entry needs."""

    @property
    def root(self) -> str:
        """The real path of the source."""
        ...

    @property
    def named(self) -> str:
        """The absolute path of the source as it was given, with symbolic links unresolved."""
        ...

    @property
    def layer(self) -> Layer:
        """The layer of every skill of this source."""
        ...

    @property
    def label(self) -> str:
        """The name of the source that is shown to people."""
        ...

    @property
    def live(self) -> bool:
        """Whether edits of loaded skills take effect at once."""
        ...


class FileRecords(Protocol):
    """What the files of some skills must be, as it was recorded when they were installed."""

    def compared(self, directory: str, reading: TreeReading) -> TreeReading:
        """Return the files of the skill in the real `directory` if they are the recorded ones.

        `reading` must be made with `allow_hard_links`.

        Raises:
            SkillParseError: a file is another one.
        """
        ...


class SkillEntry:
    """A listed skill. Values are those of the scan. Only `document_digest` and `is_current` access the disk."""

    __slots__ = ("_aliases", "_digest", "_extended", "_location", "_relative", "_source", "reading")

    def __init__(self, reading: Reading, source: EntrySource, relative: str, aliases: tuple[str, ...] = ()) -> None:
        """`relative` is the path of the directory relative to the root of the source, or an absolute path."""
        self.reading = reading
        self._source = source
        self._relative = relative
        self._aliases = aliases
        self._digest: tuple[int, str] | None = None
        self._extended: ExtendedFields | None = None
        self._location: str | None = None  # computed on first use: a listing of many skills may not need it

    @property
    def name(self) -> str:
        """The name as written in the front matter, or the directory's name if the front matter has none."""
        return self.reading.name

    @property
    def key(self) -> str:
        """The normalised name (NFKC), by which names are compared."""
        return key_of(self.reading.name)

    @property
    def description(self) -> str:
        """The description without surrounding whitespace, and without invisible characters that a model would read."""
        return visible(self.written_description)

    @property
    def written_description(self) -> str:
        """The description as its author wrote it, without surrounding whitespace."""
        facts = self.reading.facts
        return (plain_description(facts) if isinstance(facts, bytes) else str(facts["description"])).strip()

    @property
    def hides_something(self) -> bool:
        """Whether the written description has invisible characters, which `description` leaves out."""
        facts = self.reading.facts
        if isinstance(facts, bytes) and facts.isascii():  # most are
            return False
        return hides_something(self.written_description)

    @property
    def properties(self) -> Mapping[str, object]:
        """A new mapping of the parsed front matter, name and description first. Every scalar is a string."""
        facts = self.reading.facts
        if not isinstance(facts, bytes):
            return dict(facts)
        fields, description = _fields(facts), self.written_description
        return {"name": self.reading.name, "description": description} | {
            key: value for key, value in fields.items() if key not in {"name", "description"}
        }

    @property
    def extended(self) -> ExtendedFields:
        """The fields beyond the specification that a runtime obeys. Parsed once, on first use."""
        if self._extended is None:
            # Imported here: a listing does not need the types of these rare fields.
            from prowess.format.fields.extended_fields import extended_fields

            read = self._may_have_extended_fields or self._may_have_tags
            self._extended = extended_fields(self.properties if read else {})
        return self._extended

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, also those below `metadata`. Parses nothing if there are certainly none."""
        return self.extended.tags if self._may_have_tags else ()

    @property
    def _may_have_tags(self) -> bool:
        facts = self.reading.facts
        return not isinstance(facts, bytes) or b"tags:" in facts

    @property
    def has_scope(self) -> bool:
        """Whether the front matter has a `scope`."""
        reading = self.reading
        if not reading.deferred and isinstance(reading.facts, bytes):  # `_may_have_extended_fields` inlined
            return False
        return self.has_field("scope")

    @property
    def _may_have_extended_fields(self) -> bool:
        """False if the front matter certainly has only fields of the specification."""
        return self.reading.deferred or not isinstance(self.reading.facts, bytes)

    def has_field(self, key: str) -> bool:
        """Whether the front matter has a top-level field with this key. Parses nothing."""
        facts = self.reading.facts
        if not isinstance(facts, bytes):
            return key in facts
        start = f"{key}:".encode()  # in plain front matter every key at the start of a line is a top-level key
        return facts.startswith(start) or b"\n" + start in facts

    @property
    def priority(self) -> int:
        """The field `priority`, 0 if absent."""
        return self.extended.priority if self._may_have_extended_fields and self.has_field("priority") else 0

    def has_tags(self, wanted: Iterable[str]) -> bool:
        """Whether the skill has all `wanted` tags. Case and surrounding blanks are ignored."""
        tags = {tag.strip().casefold() for tag in self.tags}
        return all(tag.strip().casefold() in tags for tag in wanted)

    @property
    def is_fork(self) -> bool:
        """Whether the skill runs in a sub-agent and never becomes one of the active skills."""
        return self.has_field("context") and self.extended.context == "fork"

    @property
    def is_open_to_models(self) -> bool:
        """Whether a model may see and start the skill, by `disable-model-invocation`."""
        return not (self.has_field("disable-model-invocation") and self.extended.disable_model_invocation)

    @property
    def is_open_to_users(self) -> bool:
        """Whether a user may start the skill, by `user-invocable`."""
        return not self.has_field("user-invocable") or self.extended.user_invocable

    @property
    def root_dir(self) -> str:
        """The real path of the skill's directory, which is its identity."""
        root, relative = self._source.root, self._relative
        if not relative or relative[0] == "/" or root[-1] == "/" or os.name != "posix":
            return os.path.join(root, relative) if relative else root
        return f"{root}/{relative}"  # same result as join, but faster; it is used several times per call

    @property
    def location(self) -> str:
        """The absolute path of SKILL.md, with the spelling of the real directory entry."""
        if self._location is None:
            self._location = f"{self.root_dir}/{self.reading.file}"
        return self._location

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other paths to the skill's directory: through symbolic links, or from a lower layer."""
        named = self._source.named
        if named == self._source.root or os.path.isabs(self._relative):
            return self._aliases
        return (os.path.join(named, self._relative) if self._relative else named, *self._aliases)

    @property
    def layer(self) -> Layer:
        """The highest layer in which the directory was reached."""
        return self._source.layer

    @property
    def source(self) -> str:
        """The label of the entry's source: a directory, or a plugin's name."""
        return self._source.label

    @property
    def source_version(self) -> str | None:
        """The version of the entry's plugin or package, or None."""
        version: str | None = getattr(self._source, "version", None)
        return version or None

    @property
    def source_id(self) -> int:
        """The `id` of the source. It is needed because two sources may have equal labels."""
        return id(self._source)

    @property
    def origin(self) -> str | None:
        """The label of the server that the skill was fetched from, or None for a local skill.

        A fetched skill is shown with its origin, and its contents never widen the permissions of a model.
        """
        origin: str | None = getattr(self._source, "origin", None)
        return origin

    @property
    def recorded(self) -> FileRecords | None:
        """What the files are compared with: the record of the skill's package, or its lock; None for other skills."""
        recorded: FileRecords | None = getattr(self._source, "recorded", None)
        return recorded

    @property
    def locked(self) -> LockedSource | None:
        """The lock and its block that name the skill; None for a skill that no lock names."""
        return locked_source(self._source)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels by which `name@label` reaches this copy: `source`, and further packages with the same tree."""
        return (self.source,) if (locked := self.locked) is None else locked.labels

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions by which `name@VERSION` reaches this copy: of its lock, its plugin or package, or its own.

        The own one is `metadata.version`. The lock decides alone, whatever the skill has.
        """
        if (locked := self.locked) is not None:
            return locked.versions
        if self.source_version is not None:
            return (self.source_version,)
        if isinstance(facts := self.reading.facts, bytes) and b"version" not in facts:
            return ()
        metadata = self.properties.get("metadata")
        version = metadata.get("version") if isinstance(metadata, dict) else None
        return (version,) if isinstance(version, str) and version else ()

    @property
    def project(self) -> str | None:
        """The real path of the project that was searched for the skill, or None."""
        project: str | None = getattr(self._source, "project", None)
        return project

    @property
    def live(self) -> bool:
        """Whether edits take effect at once. If False, a skill that was edited after it was loaded is refused."""
        return self._source.live

    @property
    def qualified_name(self) -> str:
        """`name@source`: requests a plugin's copy even if the plain name refers to another copy.

        If the label of the source begins with a digit, `source/name`, because `name@1` asks for a version.
        """
        return qualified(self.reading.name, self._source.label)

    @property
    def document_digest(self) -> str:
        """The digest (`sha256:…`) of SKILL.md as it is on disk now. The digest is cached until the file changes.

        Raises:
            OSError: the file is gone, has become a symbolic link, or cannot be read.
        """
        if self._digest is not None and self._digest[0] == stamp_of(os.lstat(self.location)):
            return self._digest[1]
        fd = os.open(self.location, READ)
        try:
            stamp = stamp_of(os.fstat(fd))
            if self._digest is None or self._digest[0] != stamp:
                import hashlib  # Imported here: listing needs no hash.

                whole = hashlib.sha256()
                while chunk := os.read(fd, _CHUNK):
                    whole.update(chunk)
                self._digest = (stamp, f"sha256:{whole.hexdigest()}")
        finally:
            os.close(fd)
        return self._digest[1]

    def __repr__(self) -> str:
        return f"<SkillEntry {self.reading.name!r} {self.layer} {self.location!r}>"

    def lists(self, found: os.stat_result) -> bool:
        """Whether `found` shows the file unchanged since it was listed."""
        return self.reading.stamp == stamp_of(found)

    def is_current(self) -> bool:
        """Whether the file is unchanged since it was listed. Calls `stat` once."""
        try:
            return self.lists(os.lstat(self.location))
        except OSError:
            return False

    def agrees_with(self, skill: Skill) -> bool:
        """Whether the front matter of `skill` equals the listed one. Parses no text."""
        if isinstance(self.reading.facts, bytes):
            source = skill.document.front_matter
            return source is not None and source.removesuffix("\n").encode() == self.reading.facts
        return skill.frontmatter.raw == self.reading.facts

    def take_digest(self, stamp: int, digest: str) -> None:
        """Set the digest of SKILL.md. `stamp` is that of the file at the time it was read."""
        self._digest = (stamp, digest)

    def with_aliases(self, aliases: tuple[str, ...]) -> SkillEntry:
        """Return a copy of this entry with `aliases`, without the aliases that the entry derives from its source."""
        if aliases == self._aliases:
            return self
        entry = SkillEntry.__new__(SkillEntry)
        for slot in SkillEntry.__slots__:
            setattr(entry, slot, aliases if slot == "_aliases" else getattr(self, slot))
        return entry

    def same_as(self, other: SkillEntry) -> bool:
        """Whether both entries list one state of one file, with equal source and aliases."""
        return (
            self._source is other._source
            and self._relative == other._relative
            and self._aliases == other._aliases
            and self.reading.same_as(other.reading)
        )


def locked_source(source: EntrySource | None) -> LockedSource | None:
    """Return a source that is one locked skill, or None if it is another source."""
    found: LockedSource | None = getattr(source, "as_locked", None)
    return found


def key_of(name: str) -> str:
    """Return the normalised form of a name, by which names are compared."""
    if name.isascii():
        return name.strip()
    # Imported here: names outside ASCII are rare, and this brings modules that a listing does not need.
    from prowess.format.name import normalise

    return normalise(name)


def _fields(source: bytes) -> PlainFields:
    fields = plain_properties(source)
    assert fields is not None, "an entry keeps only bytes that were read once"  # noqa: S101 -- proves to mypy that the bytes are plain
    return fields
