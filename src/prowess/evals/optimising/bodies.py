"""Bodies as they are proposed: which text may be one, and how it gets into the bytes of a SKILL.md.

A search revises bodies by the evals of the skill.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable
from prowess.diagnostics import Severity
from prowess.errors import InvalidArgumentsError
from prowess.format.commands import commands
from prowess.format.parsing import parse_document, parse_source
from prowess.format.reading import validate_skill
from prowess.lint.linting import lint_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic

MOST_BODY = 100_000  # characters
_BREAK = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:markdown|md)?[ \t]*")
_MOST_REASONS = 5


def tidied_body(text: str) -> str:
    """Return a body with LF line breaks, without empty lines around it."""
    lines = _BREAK.split(text)
    while lines and not lines[0].strip():
        del lines[0]
    return "\n".join(lines).rstrip()


def body_of(data: bytes) -> str:
    """Return the tidied body of a SKILL.md."""
    return tidied_body(parse_document(data).body)


def with_body(data: bytes, body: str) -> bytes:
    """Return a SKILL.md with another body. Every byte before it stays, and so do the empty lines around it.

    The new body has the line breaks of the old one; if that has several kinds, the first kind.

    Raises:
        InvalidArgumentsError: the file has no front matter that can be read, or is not UTF-8.
    """
    before = parse_document(data)
    if body == tidied_body(before.body):
        return data
    try:
        text = data.decode()
        new_body = body.encode()
    except UnicodeError:
        raise _not_replaced() from None
    if before.front_matter is None or not before.complete:
        raise _not_replaced()
    offset = _after_lines(text, before.body_line - 1)
    old = text[offset:]
    end = found.group() if (found := _BREAK.search(old) or _BREAK.search(text)) else "\n"
    lead = old[: len(old) - len(old.lstrip())]
    lead = lead[: max(lead.rfind("\n"), lead.rfind("\r")) + 1]  # whole empty lines only
    tail = old[len(old.rstrip()) :] if old.strip() else end
    head = text[:offset] + ("" if _BREAK.search(text[max(offset - 1, 0) : offset]) else end)
    new = (head + lead).encode() + new_body.replace(b"\n", end.encode()) + tail.encode()
    after = parse_document(new)
    if after.front_matter != before.front_matter or tidied_body(after.body) != body:
        raise _not_replaced()
    return new


def require_replaceable(data: bytes) -> None:
    """Require that the body of a SKILL.md can be revised.

    Raises:
        InvalidArgumentsError: it is too long, or the file cannot be read.
    """
    if len(start := body_of(data)) > MOST_BODY:
        problem = f"the body of SKILL.md has {len(start)} characters, and at most {MOST_BODY} can be revised"
        raise InvalidArgumentsError((f"{problem}; move parts of it to references/",))
    with_body(data, f"{start}\n\nMore.".strip())


def _after_lines(text: str, count: int) -> int:
    """Return the place after this many line breaks."""
    ends = [found.end() for _, found in zip(range(count), _BREAK.finditer(text), strict=False)]
    return ends[-1] if ends else 0


def body_faults(text: str, start: str) -> tuple[str, ...]:
    """Return why a tidied text may not be a body, as sentences; empty if it may. `start` is the first body."""
    if not text.strip():
        return ("it is empty",)
    if len(text) > MOST_BODY:
        return (f"it has {len(text)} characters, at most {MOST_BODY} are allowed",)
    return tuple(_faults(text, start))


def _faults(text: str, start: str) -> Iterator[str]:
    first, *_, last = text.split("\n", maxsplit=1)[0], text.rsplit("\n", maxsplit=1)[-1]
    if first.rstrip() == "---" and not start.startswith("---"):
        yield "it begins with front matter; give only what follows that of SKILL.md"
    fence = _FENCE.fullmatch(first)
    if fence and last.strip() == fence[1] and text.count(f"\n{fence[1]}") == 1 and not start.startswith(first):
        yield "the whole text is in a code fence; give the text itself"
    if hidden := {one for one in text if one not in "\n\t" and printable(one) != one} - set(start):
        yield f"it has control or invisible characters that the first body has not: {printable(min(hidden))}"
    known = {command.text for command in commands(start)}
    yield from (
        f"it adds the command {printable(command.text)!r}, which runs when the skill is loaded"
        for command in commands(text)
        if command.text not in known
    )


class BodyRules:
    """The rules that the skill in `directory` passes, which a new body has to pass too.

    A new body may have no rule with more errors or warnings than before.
    """

    def __init__(self, directory: str, data: bytes) -> None:
        self._directory, self._data = directory, data
        self._before = Counter(found.rule for found in _findings(directory, data))

    def faults(self, body: str) -> tuple[str, ...]:
        """Return the findings that are new, as sentences."""
        found = _findings(self._directory, with_body(self._data, body))
        counts = Counter(one.rule for one in found)
        worse = [one for one in found if counts[one.rule] > self._before[one.rule]]
        return tuple(f"prowess check: {one.rule}: {one.message}" for one in worse[:_MOST_REASONS])


def _findings(directory: str, data: bytes) -> list[Diagnostic]:
    document = parse_source(data, path=os.path.join(directory, "SKILL.md"), directory=directory)
    found = [*validate_skill(document), *lint_skill(document)]
    return [one for one in found if one.severity in (Severity.ERROR, Severity.WARNING)]


def _not_replaced() -> InvalidArgumentsError:
    problem = "the body of SKILL.md cannot be replaced without changing more; run prowess check on the skill"
    return InvalidArgumentsError((problem,))
