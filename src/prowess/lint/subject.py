"""What a lint rule may look at: the document, what its body holds, and the skill's files.

Each view is made when a rule first asks for it and shared by all. Most rules look for a word in `lower` first, so a
small skill that gives no occasion is not even parsed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from prowess._internal.markdown import outline
from prowess.diagnostics import Location
from prowess.format.body_rules import body_lines
from prowess.format.references import references
from prowess.lint.skill_files import SkillFiles
from prowess.lint.skill_texts import ScriptText, SkillTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess._internal.markdown import Outline
    from prowess.format.document import SkillDocument
    from prowess.format.profiles import Profile
    from prowess.format.references import Reference

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class LintSubject:
    """One skill under advice, and the profile it is judged by; `files` is None where the document has no directory.

    Offsets are those of `body`; `at` turns them into places.
    """

    def __init__(self, document: SkillDocument, profile: Profile) -> None:
        self.document = document
        self.profile = profile
        self.body = document.body
        self.files = None if document.directory is None else SkillFiles(document.directory)

    @cached_property
    def links(self) -> tuple[Reference, ...]:
        """The links that mean files of the skill; those that lead out of it are no subject of advice."""
        return tuple(link for link in references(self.document) if link.leads == "inside")

    @cached_property
    def lines(self) -> int:
        """How many lines the body has."""
        return body_lines(self.body)

    @cached_property
    def lower(self) -> str:
        """The body in small letters, offset for offset."""
        lower = self.body.lower()
        return lower if len(lower) == len(self.body) else self.body.translate(_ASCII_LOWER)

    @cached_property
    def outline(self) -> Outline:
        """Links, headings, code and comments of the body."""
        return outline(self.body)

    @cached_property
    def prose(self) -> str:
        """`lower` with blanks in place of code and comments, offset for offset."""
        blocks = ((block.start, block.end) for block in self.outline.blocks)
        spans = ((span.start, span.end) for span in self.outline.spans)
        return blanked(self.lower, (*blocks, *spans, *self.outline.comments))

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """The texts of the headings, in small letters."""
        return tuple(self.lower[one.start : one.end].strip("# \t\n=-") for one in self.outline.headings)

    @cached_property
    def description(self) -> str:
        """The description, trimmed; empty where there is none that is a text."""
        return (self.document.text_of("description") or "").strip()

    @cached_property
    def texts(self) -> SkillTexts | None:
        """The texts of the skill's other files; None without a directory."""
        return None if self.files is None else SkillTexts(self.files)

    @property
    def scripts(self) -> tuple[ScriptText, ...]:
        """The scripts below `scripts/`; most skills have none, which one look at the directory tells."""
        if self.files is None or self.files.entries("").get("scripts") != "directory" or self.texts is None:
            return ()
        return self.texts.scripts

    def found_in_prose(self, words: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Yield each of some words, in small letters, that stands outside code and comments, and its offsets."""
        for word in words:
            if word in self.lower:
                at = self.prose.find(word)
                while at >= 0:
                    yield word, at
                    at = self.prose.find(word, at + len(word))

    def at(self, start: int, end: int | None = None) -> Location:
        """Return the place of a range of the body."""
        offset = self.document.body_offset
        return self.document.origin.location(start + offset, None if end is None else end + offset)

    @property
    def body_start(self) -> Location:
        """Where the body begins: the place of findings on the body as a whole."""
        return Location(path=self.document.path, line=self.document.body_line)

    def field_place(self, key: str) -> Location:
        """Return where a field's value stands; the start of the file where it is absent."""
        field = self.document.field(key)
        return Location(path=self.document.path) if field is None else field.location

    def file_place(self, path: str, offset: int = 0, text: str = "") -> Location:
        """Return the place in another file of the skill."""
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        own = self.document.path or "SKILL.md"
        directory = own[: -len(own.replace("\\", "/").rpartition("/")[2])]
        return Location(path=f"{directory}{path}", line=line, column=column)


def blanked(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return the text with blanks in place of some ranges; line breaks stay."""
    parts = []
    at = 0
    for start, end in sorted(ranges):
        if end <= at:
            continue
        start = max(start, at)  # noqa: PLW2901 -- ranges may lie in one another
        parts.append(text[at:start])
        cut = text[start:end]
        parts.append(" " * len(cut) if "\n" not in cut else "\n".join(" " * len(line) for line in cut.split("\n")))
        at = end
    parts.append(text[at:])
    return "".join(parts)
