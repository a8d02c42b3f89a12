"""The difference of two versions of a skill, file by file, and the findings of the checks in the new one."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.parsing import parse_document
from prowess.format.reading import validate_skill
from prowess.lint.linting import lint_skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.diagnostics import Diagnostic

    Contents = Mapping[str, bytes]  # of the files of a skill, by path

_MOST_FILES = 200
_MOST_BYTES = 128 * 1024  # of a file that is compared line by line
_MOST_LINES = 2000
_SKILL = "SKILL.md"


class FileDifference(Struct, frozen=True, kw_only=True):
    """One file that differs. `change` is a word about it; `lines` are those of a unified diff, maybe none."""

    path: str
    change: str
    lines: tuple[str, ...] = ()


class VersionDifference(Struct, frozen=True, kw_only=True):
    """What changed. `before` is the digest of the older version, None if there is none.

    `findings` are those of SKILL.md, None if there is no such file. `missing` tells why there are no files.
    """

    before: str | None
    after: str
    files: tuple[FileDifference, ...] = ()
    findings: tuple[Diagnostic, ...] | None = None
    missing: str | None = None


def difference_of(after: str, contents: Contents | None, before: str | None, old: Contents | None) -> VersionDifference:
    """Return the difference between two versions; None for contents that are not in this store."""
    if contents is None:
        missing = "The files of this version are not in this store; look at them where the skill is."
        return VersionDifference(before=before, after=after, missing=missing)
    known = old or {}
    changed = [path for path in sorted({*contents, *known}) if contents.get(path) != known.get(path)]
    files = [_file_difference(path, known.get(path), contents.get(path)) for path in changed[:_MOST_FILES]]
    if len(changed) > _MOST_FILES:
        files.append(FileDifference(path=f"{len(changed) - _MOST_FILES} more files", change="not shown"))
    return VersionDifference(
        before=before if old is not None else None,
        after=after,
        files=tuple(files),
        findings=_findings(contents.get(_SKILL)),
    )


def _file_difference(path: str, old: bytes | None, new: bytes | None) -> FileDifference:
    change = "new" if old is None else "removed" if new is None else "changed"
    sizes = [len(one) for one in (old, new) if one is not None]
    try:
        if max(sizes) > _MOST_BYTES:
            return FileDifference(path=path, change=f"{change}, too large to show: {sizes[-1]} bytes")
        before, after = ((one or b"").decode().splitlines() for one in (old, new))
    except UnicodeDecodeError:
        return FileDifference(path=path, change=f"{change}, not text: {sizes[-1]} bytes")
    if max(len(before), len(after)) > _MOST_LINES:
        return FileDifference(path=path, change=f"{change}, too long to show: {max(len(before), len(after))} lines")
    lines = tuple(unified_diff(before, after, lineterm="", n=3))[2:]  # without the names of the files
    return FileDifference(path=path, change=change, lines=lines)


def _findings(skill: bytes | None) -> tuple[Diagnostic, ...] | None:
    if skill is None:
        return None
    document = parse_document(skill.decode(errors="replace"))
    found = (*validate_skill(document, references=False), *lint_skill(document))
    return tuple(sorted(found, key=lambda one: (one.location.line, one.location.column)))
