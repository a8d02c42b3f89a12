"""Fix one SKILL.md: apply edits, check that they change only what they declare, and replace the file.

The edits of a fix are applied together or not at all. Two fixes that overlap are not applied together.

Edits count lines and columns of the file itself, so a byte-order mark is a character of line 1, and any of LF, CRLF and
lone CR ends a line. Inserted text gets the line breaks of the line that it is inserted into.

`difference` returns a unified diff of two texts of any size.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess.diagnostics import FixSafety

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prowess.diagnostics import Diagnostic, Edit, Fix
    from prowess.format.document import SkillDocument

MAX_ROUNDS = 128  # more than the findings of one rule, which are at most 100
_FEWEST_ROUNDS = 8
_MAX_BYTES = 16 * 1024 * 1024  # limit on bytes read in all rounds, so that a huge file cannot block a check
_BREAK = re.compile(r"\r\n|\r|\n")


class FixedDocument(Struct, frozen=True, kw_only=True):
    """The new bytes with their document and findings, and the fixed findings in the order of fixing."""

    data: bytes
    fixed: tuple[Diagnostic, ...]
    document: SkillDocument
    findings: tuple[Diagnostic, ...]


def fix_document(
    data: bytes,
    read: Callable[[bytes], SkillDocument],
    check: Callable[[SkillDocument], Sequence[Diagnostic]],
    *,
    unsafe: bool = False,
) -> FixedDocument:
    """Apply the safe fixes of the findings, or all fixes if `unsafe`. Files on disk are not changed.

    Each round checks the document and applies the fixes that do not overlap, until no fix is left. A fix declares the
    fields that it changes (`Fix.changes`). Every undeclared field must keep its value. The body must not change, unless
    an edit is in the body. After each round, the result is read and compared. A fix that changes more is skipped. If
    the document could not be read completely, all fixes are skipped.

    `read` parses bytes to a document, `check` returns its findings. Fixes for files other than the document are
    skipped. A file of more than 128 KiB with many faults may need another call.
    """
    document = read(data)
    findings = check(document)
    fixed: list[Diagnostic] = []
    refused: set[Fix] = set()
    for _ in range(min(MAX_ROUNDS, max(_FEWEST_ROUNDS, _MAX_BYTES // (len(data) + 1)))):
        usable = [found for found in findings if _is_usable(found, document, unsafe=unsafe)]
        wanted = [found for found in usable if found.fix not in refused]
        step = _step(data, document, wanted, read, refused) if wanted else None
        if step is None:
            break
        data, document, done = step
        fixed += done
        findings = check(document)
    return FixedDocument(data=data, fixed=tuple(fixed), document=document, findings=tuple(findings))


def changes_only_declared(before: SkillDocument, after: SkillDocument, fixes: Iterable[Fix]) -> bool:
    """Whether `after` differs from `before` only in the fields that `fixes` declare, and in the body only if edited."""
    if not (before.complete and after.complete):
        return False
    fixes = tuple(fixes)
    changes = {field for fix in fixes for field in fix.changes}
    old, new = before.mapping(), after.mapping()
    if any(old.get(key) != new.get(key) for key in {*old, *new} - changes):
        return False
    return any(edit.end_line >= before.body_line for fix in fixes for edit in fix.edits) or before.body == after.body


def _is_usable(found: Diagnostic, document: SkillDocument, *, unsafe: bool) -> bool:
    fix = found.fix
    if fix is None or found.location.path != document.path:
        return False
    return unsafe or fix.safety is FixSafety.SAFE


def _step(
    data: bytes,
    document: SkillDocument,
    wanted: Sequence[Diagnostic],
    read: Callable[[bytes], SkillDocument],
    refused: set[Fix],
) -> tuple[bytes, SkillDocument, list[Diagnostic]] | None:
    """Apply all fixes that can be applied together, or else the first correct one. Return `None` if there is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    fixes = list({found.fix: None for found in wanted if found.fix is not None})
    for attempt in (fixes, *([fix] for fix in fixes)):
        applied = apply_fixes(text, attempt)
        new = applied.text.encode("utf-8")
        if not applied.fixes or new == data:
            continue
        after = read(new)
        if changes_only_declared(document, after, applied.fixes):
            return new, after, [found for found in wanted if found.fix in applied.fixes]
        if len(attempt) == 1:
            refused.update(attempt)
    return None


class Applied(Struct, frozen=True, kw_only=True):
    """The new text, the applied fixes, and the fixes that were refused (see `apply_fixes`)."""

    text: str
    fixes: tuple[Fix, ...]
    refused: tuple[Fix, ...]


class _Span(Struct, frozen=True, kw_only=True, order=True):
    start: int
    end: int
    text: str


def apply_fixes(text: str, fixes: Sequence[Fix]) -> Applied:
    """Apply `fixes` to the text of a file. If two overlap or change the same field, the earlier one is applied.

    Two edits at one place overlap, even if both only insert text, because their order would be a guess. A fix whose own
    edits overlap is refused too.
    """
    places = _Places(text)
    taken: list[_Span] = []
    changed: set[str] = set()
    done, refused = [], []
    for fix in fixes:
        spans = [places.span(edit) for edit in fix.edits]
        alone = all(not _overlap(one, other) for at, one in enumerate(spans) for other in spans[:at])
        free = alone and changed.isdisjoint(fix.changes)
        if spans and free and not any(_overlap(one, other) for one in spans for other in taken):
            taken += spans
            changed.update(fix.changes)
            done.append(fix)
        else:
            refused.append(fix)
    for span in sorted(taken, reverse=True):
        text = text[: span.start] + span.text + text[span.end :]
    return Applied(text=text, fixes=tuple(done), refused=tuple(refused))


def _overlap(one: _Span, other: _Span) -> bool:
    return one.start == other.start or (one.start < other.end and other.start < one.end)


class _Places:
    """Converts lines and columns to offsets."""

    def __init__(self, text: str) -> None:
        self._text = text
        breaks = list(_BREAK.finditer(text))
        self._starts = [0, *(found.end() for found in breaks)]
        self._ends = [*(found.start() for found in breaks), len(text)]
        self._breaks = [found[0] for found in breaks]

    def span(self, edit: Edit) -> _Span:
        start = self._offset(edit.line, edit.column)
        end = max(self._offset(edit.end_line, edit.end_column), start)
        text = edit.text if "\n" not in edit.text else edit.text.replace("\n", self._break_at(start))
        return _Span(start=start, end=end, text=text)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._starts):
            return len(self._text)
        return min(self._starts[line - 1] + column - 1, self._ends[line - 1])

    def _break_at(self, offset: int) -> str:
        if not self._breaks:
            return "\n"
        return self._breaks[min(bisect_right(self._starts, offset) - 1, len(self._breaks) - 1)]


def replace_file(path: str, before: bytes, after: bytes, *, within: str) -> str | None:
    """Replace the content `before` of the file at `path` by `after`. Return `None`, or the reason for not doing it.

    The file is replaced atomically and keeps its mode and, if permitted, its owner. The file is not changed in these
    cases: it is not a regular file, it is read-only, it was modified since it was read, or it is reached through a
    symbolic link that leads out of `within`.

    `within` is the file or directory that the user named. The real path of the file must be `within` or below it.
    """
    root, real = os.path.realpath(within), os.path.realpath(path)
    if real != root and not real.startswith(root if root.endswith(os.sep) else f"{root}{os.sep}"):
        return "its real path is outside of the named path; name the file itself"
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return "it is not a regular file"
        # Replacing needs only write access to the directory, but the owner made this file read-only.
        if not found.st_mode & 0o222 or not os.access(path, os.W_OK):
            return "it is read-only"
        with open(path, "rb") as file:
            if file.read(len(before) + 1) != before:
                return "it changed while it was checked; run the command again"
        write_atomically(path, after, stat.S_IMODE(found.st_mode))
    except OSError as fault:
        return f"it cannot be written: {fault.strerror}"
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, found.st_uid, found.st_gid, follow_symlinks=False)
    return None


_CONTEXT = 3
_MOST_COMPARED = 2000  # lines; comparing can take quadratic time
_NO_BREAK = "\\ No newline at end of file"


def difference(path: str, before: str, after: str) -> Iterator[str]:
    r"""Yield the lines of a unified diff, without line feeds; no lines if the texts are equal.

    A carriage return is part of its line, so a changed line break is a changed line. Only LF separates lines, as in
    `diff`. The lines are not escaped: escape them before printing.
    """
    old, new = _lines(before), _lines(after)
    head = common_length(old, new)
    tail = common_length(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old_middle and not new_middle:
        return
    yield f"--- {path}"
    yield f"+++ {path}"
    lead, end = max(head - _CONTEXT, 0), min(tail, _CONTEXT)
    old, new = old[lead : len(old) - tail + end], new[lead : len(new) - tail + end]
    groups: Iterable[Sequence[tuple[str, int, int, int, int]]] = [[("replace", 0, len(old), 0, len(new))]]
    if max(len(old_middle), len(new_middle)) <= _MOST_COMPARED:
        from difflib import SequenceMatcher  # Imported here, not at the top: most checks show no difference.

        groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT)
    for codes in groups:
        start, stop = codes[0], codes[-1]
        yield f"@@ -{_range(lead + start[1], lead + stop[2])} +{_range(lead + start[3], lead + stop[4])} @@"
        for tag, a, b, c, d in codes:
            if tag == "equal":
                yield from _marked(" ", old[a:b])
            else:
                yield from _marked("-", old[a:b])
                yield from _marked("+", new[c:d])


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common prefix of two texts or lists of lines."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))


def _marked(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line.removesuffix(chr(10))}"
        if not line.endswith("\n"):
            yield _NO_BREAK
