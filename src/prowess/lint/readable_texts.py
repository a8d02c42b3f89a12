"""Every text of a skill that a model is likely to read or run: SKILL.md, the Markdown it links to, and its scripts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.diagnostics import Location
    from prowess.lint.subject import LintSubject


class ReadableText(Struct, frozen=True, kw_only=True):
    """One text: what it is, where a range of its offsets lies, and whether it is SKILL.md, where a fix can be made."""

    kind: str
    text: str
    at: Callable[[int, int], Location]

    @property
    def is_own(self) -> bool:
        """Whether this is SKILL.md."""
        return self.kind == "own"


def readable_texts(subject: LintSubject) -> Iterator[ReadableText]:
    """Yield SKILL.md with its frontmatter, then linked Markdown, then scripts."""
    yield ReadableText(kind="own", text=subject.document.text, at=subject.document.origin.location)
    for path, text in subject.linked_texts:
        yield ReadableText(kind="markdown", text=text, at=partial(_place, subject, path, text))
    for script in subject.scripts:
        yield ReadableText(kind="script", text=script.text, at=partial(_place, subject, script.path, script.text))


def _place(subject: LintSubject, path: str, text: str, start: int, _end: int) -> Location:
    return subject.file_place(path, start, text)
