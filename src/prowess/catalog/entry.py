"""One listed skill: what a host shows before anything is loaded.

An entry keeps the bytes of its front matter and reads fields from them when asked. That is less memory than the fields
themselves, and makes every field of one entry come from one state of the file. Paths are kept relative to the source
for the same reason.

An entry owns the digest of its SKILL.md, and the mark (`prowess._internal.files.file_mark`) that tells whether the
file is still what was listed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from prowess._internal.files.file_mark import mark_of
from prowess._internal.files.open_flags import READ
from prowess._internal.text.invisible import hides_something, visible
from prowess.format.source.plain_front_matter import plain_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.files.file_mark import Mark
    from prowess.catalog.layers import Layer
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.format.skill import Skill

_CHUNK = 1 << 20


class EntrySource(Protocol):
    """The source of an entry, as the entry needs it."""

    @property
    def root(self) -> str:
        """The real path."""
        ...

    @property
    def named(self) -> str:
        """The absolute path as it was given."""
        ...

    @property
    def layer(self) -> Layer:
        """The layer of every skill here."""
        ...

    @property
    def label(self) -> str:
        """What people see as the source."""
        ...

    @property
    def live(self) -> bool:
        """Whether edits of loaded skills are taken up at once."""
        ...


class SkillEntry:
    """A listed skill. Values come from the moment of the scan; nothing but `document_digest` touches the disk."""

    __slots__ = (
        "_aliases",
        "_digest",
        "_extended",
        "_facts",
        "_file",
        "_location",
        "_mark",
        "_name",
        "_relative",
        "_source",
    )

    def __init__(
        self,
        *,
        name: str,
        source: EntrySource,
        relative: str,
        file: str,
        facts: bytes | Mapping[str, object],
        found: os.stat_result | None,
        aliases: tuple[str, ...] = (),
    ) -> None:
        """`facts` are the front matter as bytes if it is plain, else as `Frontmatter.properties` returns it."""
        self._name = name
        self._source = source
        self._relative = relative
        self._file = file
        self._facts = facts
        self._mark = 0 if found is None else hash(mark_of(found))  # a number: a tuple would be most of an entry
        self._aliases = aliases
        self._digest: tuple[int, str] | None = None
        self._extended: ExtendedFields | None = None
        self._location: str | None = None  # made when asked for: a list of many skills may never be

    @property
    def name(self) -> str:
        """The name as written in the front matter, or the directory's where there is none."""
        return self._name

    @property
    def key(self) -> str:
        """What names are compared by: two spellings that normalise alike (NFKC) are one name."""
        return key_of(self._name)

    @property
    def description(self) -> str:
        """What the skill does and when to use it, trimmed, without characters that nobody sees and a model reads."""
        return visible(self.written_description)

    @property
    def written_description(self) -> str:
        """The description as its author wrote it, trimmed."""
        facts = self._facts
        return str((_fields(facts) if isinstance(facts, bytes) else facts)["description"]).strip()

    @property
    def hides_something(self) -> bool:
        """Whether `description` leaves characters out."""
        return not (isinstance(self._facts, bytes) and self._facts.isascii()) and hides_something(
            self.written_description
        )

    @property
    def properties(self) -> Mapping[str, object]:
        """The parsed front matter under its own keys, name and description first; every scalar is text.

        A fresh mapping at each access.
        """
        facts = self._facts
        if not isinstance(facts, bytes):
            return dict(facts)
        fields, description = _fields(facts), self.written_description
        return {"name": self._name, "description": description} | {
            key: value for key, value in fields.items() if key not in {"name", "description"}
        }

    @property
    def extended(self) -> ExtendedFields:
        """The fields beside those of the specification that a runtime obeys; read once, and only if there are any."""
        if self._extended is None:
            # Imported here: a listing does not need the types of fields that few skills have.
            from prowess.format.fields.extended_fields import extended_fields

            self._extended = extended_fields({} if isinstance(self._facts, bytes) else self._facts)
        return self._extended

    @property
    def has_scope(self) -> bool:
        """Whether it says where it is visible; a front matter that is kept as bytes has no such field."""
        return not isinstance(self._facts, bytes) and "scope" in self._facts

    @property
    def is_fork(self) -> bool:
        """Whether it runs in a sub-agent and never joins the active skills."""
        return self.extended.context == "fork"

    @property
    def root_dir(self) -> str:
        """The real path of the skill's directory: its identity."""
        root, relative = self._source.root, self._relative
        if not relative or relative[0] == "/" or root[-1] == "/" or os.name != "posix":
            return os.path.join(root, relative) if relative else root
        return f"{root}/{relative}"  # what join would give, asked for several times a call

    @property
    def location(self) -> str:
        """The absolute path of SKILL.md, with the spelling of the real directory entry."""
        if self._location is None:
            self._location = f"{self.root_dir}/{self._file}"
        return self._location

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further paths by which the same directory was reached: through links, or from a lower layer."""
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
        """The label of its source: a directory, or a plugin's name."""
        return self._source.label

    @property
    def source_id(self) -> int:
        """Which source it is, by `id`: two may carry one label."""
        return id(self._source)

    @property
    def origin(self) -> str | None:
        """The label of the server that it was fetched from; None for what has always been of this machine.

        Such a skill is shown with its origin, and nothing in it widens what a model may do.
        """
        origin: str | None = getattr(self._source, "origin", None)
        return origin

    @property
    def live(self) -> bool:
        """Whether the source is its author's own, so that an edit is taken up at once instead of refused."""
        return self._source.live

    @property
    def qualified_name(self) -> str:
        """`name@source`: how a plugin's copy is reached when another one has the bare name."""
        return f"{self._name}@{self._source.label}"

    @property
    def document_digest(self) -> str:
        """`sha256:` of SKILL.md as it is on the disk now; kept while the file stays the same.

        Raises:
            OSError: the file is gone, has become a link, or cannot be read.
        """
        if self._digest is not None and self._digest[0] == hash(mark_of(os.lstat(self.location))):
            return self._digest[1]
        fd = os.open(self.location, READ)
        try:
            mark = hash(mark_of(os.fstat(fd)))
            if self._digest is None or self._digest[0] != mark:
                # Imported here: listing needs no hash.
                import hashlib

                whole = hashlib.sha256()
                while chunk := os.read(fd, _CHUNK):
                    whole.update(chunk)
                self._digest = (mark, f"sha256:{whole.hexdigest()}")
        finally:
            os.close(fd)
        return self._digest[1]

    def __repr__(self) -> str:
        return f"<SkillEntry {self._name!r} {self.layer} {self.location!r}>"

    def lists(self, found: os.stat_result) -> bool:
        """Return whether the file looked like this when it was listed."""
        return self._mark == hash(mark_of(found))

    def is_current(self) -> bool:
        """Return whether the file looks as it did when it was listed; one call of `stat`."""
        try:
            return self.lists(os.lstat(self.location))
        except OSError:
            return False

    def agrees_with(self, skill: Skill) -> bool:
        """Return whether a skill has the front matter that is listed; nothing is parsed."""
        if isinstance(self._facts, bytes):
            source = skill.document.front_matter
            return source is not None and source.removesuffix("\n").encode() == self._facts
        return skill.frontmatter.raw == self._facts

    def take_digest(self, mark: Mark, digest: str) -> None:
        """Take over the digest of SKILL.md from whoever has read it; `mark` is of that moment."""
        self._digest = (hash(mark), digest)

    def with_aliases(self, aliases: tuple[str, ...]) -> SkillEntry:
        """Return the same entry with these aliases beside those that its source implies."""
        if aliases == self._aliases:
            return self
        entry = SkillEntry.__new__(SkillEntry)
        for slot in SkillEntry.__slots__:
            setattr(entry, slot, aliases if slot == "_aliases" else getattr(self, slot))
        return entry

    def same_as(self, other: SkillEntry) -> bool:
        """Whether both list one state of one file in the same way."""
        return (
            self._mark == other._mark
            and self._source is other._source
            and self._relative == other._relative
            and self._file == other._file
            and self._aliases == other._aliases
            and self._facts == other._facts
        )


def key_of(name: str) -> str:
    """Return what `name` is compared by."""
    if name.isascii():
        return name.strip()
    # Imported here: names outside ASCII are rare, and this brings modules that a listing does not need.
    from prowess.format.name import normalise

    return normalise(name)


def _fields(source: bytes) -> dict[str, str | dict[str, str]]:
    fields = plain_properties(source)
    assert fields is not None, "an entry keeps only bytes that were read once"  # noqa: S101 -- proves it to mypy
    return fields
