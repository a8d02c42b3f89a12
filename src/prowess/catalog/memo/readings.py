"""The results of reading a skill or listing a directory, kept to save reading it again.

A `Reading` is the result of reading one SKILL.md, a `Listing` that of listing one searched directory. Both have the
stamp of what was read (`prowess._internal.files.file_mark`). A walk always looks at the disk; it uses a kept reading or
listing if `stat` returns the same stamp, and if the last change was more than two seconds before the scan that read it.

Neither has anything that guards a skill: owners, hard links, trust, scope and policy are checked at each scan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prowess._internal.files.file_mark import settled_before

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Diagnostic


class Reading:
    """The result of reading one SKILL.md.

    `facts` are the bytes of a plain front matter, else the mapping of `Frontmatter.properties`. `stamp` is that of the
    file, 0 if the file could not be examined. If `settled` is False, the file is read again at the next scan. `faults`
    are the findings of the full parser. If the facts are bytes, they are not known; `deferred` states whether there are
    any. `reserved` has the names of a skipped skill, which has an error; it is None if the skill is listed.
    """

    __slots__ = ("deferred", "facts", "faults", "file", "name", "reserved", "settled", "stamp")

    def __init__(  # noqa: PLR0917 -- made once per skill; keywords take a tenth of the time of a scan
        self,
        name: str,
        file: str,
        facts: bytes | Mapping[str, object],
        stamp: int,
        settled: bool,  # noqa: FBT001 -- for the same reason
        deferred: bool = False,  # noqa: FBT001, FBT002 -- for the same reason
        faults: tuple[Diagnostic, ...] = (),
        reserved: tuple[str, ...] | None = None,
    ) -> None:
        self.name = name
        self.file = file
        self.facts = facts
        self.stamp = stamp
        self.settled = settled
        self.deferred = deferred
        self.faults = faults
        self.reserved = reserved

    def same_as(self, other: Reading) -> bool:
        """Whether both are readings of one state of one file."""
        return self is other or (
            self.stamp == other.stamp
            and self.file == other.file
            and self.name == other.name
            and self.facts == other.facts
        )


class Listing:
    """The names in a searched directory, sorted: of directories, of symbolic links, and of misspelled SKILL.md.

    `stamp` and `settled` are as in `Reading`, for the directory.
    """

    __slots__ = ("directories", "links", "loose", "settled", "stamp")

    def __init__(self, directories: list[str], links: list[str], loose: list[str]) -> None:
        self.directories = directories
        self.links = links
        self.loose = loose
        self.stamp = 0
        self.settled = False


class LookInFullError(Exception):
    """A partial memo is not enough: a directory moved, or all skills of a source are needed."""

    def __str__(self) -> str:
        return "all skills are needed"


class Memo(Protocol):
    """Kept readings and listings, by the real path of the directory. The caller compares the stamps."""

    @property
    def is_partial(self) -> bool:
        """Whether the memo lacks readings that are kept, so that a directory which moved must be looked at in full."""
        ...

    @property
    def count(self) -> int:
        """The number of readings."""
        ...

    def wants(self, name: str) -> bool:
        """Whether a scan with this memo looks at skills of this name. False only if the memo is partial."""
        ...

    def reading(self, directory: str, /) -> Reading | None:
        """Return the result of reading the skill in `directory`, or None."""
        ...

    def listing(self, directory: str) -> Listing | None:
        """Return the result of listing `directory`, or None."""
        ...

    def stamps(self) -> dict[str, int]:
        """Return the stamp of each settled reading."""
        ...

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the keys of the reading of `directory`, which must be one of `stamps`."""
        ...

    def listed(self) -> set[str]:
        """Return the directories that have a listing."""
        ...


class NoMemo:
    """A memo that keeps nothing, so that everything is read."""

    __slots__ = ()
    is_partial = False
    count = 0

    def wants(self, name: str) -> bool:  # noqa: ARG002 -- the shape of `Memo`
        """Return True."""
        return True

    def reading(self, directory: str) -> Reading | None:  # noqa: ARG002 -- the shape of `Memo`
        """Return None."""
        return None

    def listing(self, directory: str) -> Listing | None:  # noqa: ARG002 -- the shape of `Memo`
        """Return None."""
        return None

    def stamps(self) -> dict[str, int]:
        """Return an empty mapping."""
        return {}

    def names(self, directory: str) -> tuple[str, ...]:  # noqa: ARG002 -- the shape of `Memo`
        """Return an empty tuple."""
        return ()

    def listed(self) -> set[str]:
        """Return an empty set."""
        return set()


class Learnt:
    """What one scan and those aside of it learnt, by the real path of the directory.

    `readings` are those of files that this scan opened, `unlisted` those of skills that are no entries of the scan,
    `listings` those of all searched directories. `unindexed` are directories of skills whose source keeps the readings
    itself, so that the index does not. `targets` has the real path of the directory that each link leads to,
    None if it leads to no directory. Files and directories that were changed after `settled_before` (nanoseconds) are
    read again at the next scan.
    """

    __slots__ = ("listings", "readings", "settled_before", "targets", "unindexed", "unlisted")

    def __init__(self) -> None:
        self.settled_before = settled_before()  # computed before anything is read
        self.readings: dict[str, Reading] = {}
        self.unlisted: dict[str, Reading] = {}
        self.unindexed: set[str] = set()
        self.listings: dict[str, Listing] = {}
        self.targets: dict[str, str | None] = {}
