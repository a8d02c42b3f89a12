"""`LintSubject`: the data that lint rules read. It has the document, views of its body, and the skill's files.

Each view is computed when a rule first uses it, and is shared by all rules. Most rules look for a word in `lower`
first, so the body of a small skill is often not parsed at all.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.markdown import outline
from prowess.diagnostics import Location
from prowess.format.profiles import PROFILES
from prowess.format.rules.body_rules import references
from prowess.lint.skill_files import SkillFiles, linked_markdown, other_markdown, paths_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prowess._internal.markdown import CodeBlock, Outline
    from prowess.format.document import SkillDocument
    from prowess.format.profiles import Profile
    from prowess.format.rules.body_rules import Reference

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class LintSubject:
    """One skill to be linted, and the profile that it is checked against.

    `files` are by default the files of the document's directory. They are empty if the document has no directory, so a
    rule about missing files must check `document.directory` first. Offsets are offsets of `body`; `at` turns them into
    a `Location`.
    """

    def __init__(
        self, document: SkillDocument, profile: Profile = PROFILES["spec"], files: SkillFiles | None = None
    ) -> None:
        self.document, self.profile = document, profile
        self.body = document.body
        self.files = SkillFiles(document.directory) if files is None else files

    @cached_property
    def may_link(self) -> bool:
        """Whether the body contains the characters of a link. A body without them is not parsed for links."""
        return "]" in self.body and ("](" in self.body or "]:" in self.body)

    @cached_property
    def may_name_markdown(self) -> bool:
        """Whether the body may link to or name a Markdown file. A link may write the ending `.md` with escapes."""
        return ".md" in self.lower or (self.may_link and any(sign in self.body for sign in "%&\\"))

    @cached_property
    def linked_texts(self) -> tuple[tuple[str, str], ...]:
        """Path and text of each Markdown file that the body links to or names."""
        if not self.may_name_markdown:
            return ()
        return tuple(linked_markdown(self.named, self.files))

    @cached_property
    def other_texts(self) -> tuple[tuple[str, str], ...]:
        """Path and text of each Markdown file that the body names, or that is in `references/` or beside SKILL.md."""
        return tuple(other_markdown(self.linked_texts, self.files))

    @cached_property
    def links(self) -> tuple[Reference, ...]:
        """The links to files inside the skill. Links that lead out of the skill are left out."""
        if not self.may_link:
            return ()
        return tuple(link for link in references(self.document) if link.leads == "inside")

    @cached_property
    def paths(self) -> tuple[Reference, ...]:
        """The bare paths in the body: below `scripts/`, `references/`, `assets/` and the skill's other directories."""
        if "/" not in self.body:
            return ()
        return paths_of(self.body, self.document.body_offset, self.files.entries(""))

    @cached_property
    def named(self) -> tuple[Reference, ...]:
        """The links and bare paths to files of the skill, in order."""
        return tuple(sorted((*self.links, *self.paths), key=lambda one: one.start)) if self.paths else self.links

    @cached_property
    def lines(self) -> int:
        """Number of lines of the body. A final line break adds none."""
        return self.body.count("\n") + (self.body[-1:] not in {"", "\n"})

    @cached_property
    def lower(self) -> str:
        """The body in lower case. Offsets are those of `body`."""
        lower = self.body.lower()
        return lower if len(lower) == len(self.body) else self.body.translate(_ASCII_LOWER)

    @cached_property
    def outline(self) -> Outline:
        """Links, headings, lists, code and comments of the body."""
        return outline(self.body)

    @cached_property
    def prose(self) -> str:
        """`lower` with code and comments replaced by blanks. Offsets are those of `body`."""
        blocks = ((block.start, block.end) for block in self.outline.blocks)
        spans = ((span.start, span.end) for span in self.outline.spans)
        return blanked(self.lower, (*blocks, *spans, *self.outline.comments))

    def block_at(self, offset: int) -> CodeBlock | None:
        """Return the code block at an offset of the body, or None."""
        at = bisect_right(self.outline.blocks, offset, key=lambda block: block.start) - 1
        return self.outline.blocks[at] if at >= 0 and offset < self.outline.blocks[at].end else None

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """The texts of the headings, in lower case."""
        return tuple(self.lower[one.start : one.end].strip("# \t\n=-") for one in self.outline.headings)

    @cached_property
    def description(self) -> str:
        """The description without surrounding whitespace; empty if it is missing or not a text."""
        return (self.document.text_of("description") or "").strip()

    def found_in_prose(self, words: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Yield each occurrence of the words (in lower case) outside code and comments, with its offset."""
        for word in words:
            if word in self.lower:
                at = self.prose.find(word)
                while at >= 0:
                    yield word, at
                    at = self.prose.find(word, at + len(word))

    def at(self, start: int, end: int | None = None) -> Location:
        """Return the location of a range of the body."""
        offset = self.document.body_offset
        return self.document.origin.location(start + offset, None if end is None else end + offset)

    @property
    def body_start(self) -> Location:
        """The start of the body: the location of findings on the body as a whole."""
        return Location(path=self.document.path, line=self.document.body_line)

    def field_place(self, key: str) -> Location:
        """Return the location of a field's value, or the start of the file if the field is missing."""
        return self.document.place_of(key) or Location(path=self.document.path)

    def file_place(self, path: str, offset: int = 0, text: str = "") -> Location:
        """Return the location of an offset in another file of the skill. `text` is the text of that file."""
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        own = self.document.path or "SKILL.md"
        directory = own[: -len(own.replace("\\", "/").rpartition("/")[2])]
        return Location(path=f"{directory}{path}", line=line, column=column)


def blanked(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return the text with these ranges replaced by blanks. Line breaks and offsets stay the same."""
    parts = []
    at = 0
    for start, end in sorted(ranges):
        if end <= at:
            continue
        start = max(start, at)  # noqa: PLW2901 -- ranges may overlap
        parts.append(text[at:start])
        cut = text[start:end]
        parts.append(" " * len(cut) if "\n" not in cut else "\n".join(" " * len(line) for line in cut.split("\n")))
        at = end
    parts.append(text[at:])
    return "".join(parts)


class ReadableText(Struct, frozen=True, kw_only=True):
    """One text of a skill that an agent reads.

    `kind` is `own` for SKILL.md, `markdown` or `script`. `at` turns two offsets of `text` into a location. Fixes are
    made only in SKILL.md.
    """

    kind: str
    text: str
    at: Callable[[int, int], Location]

    @property
    def is_own(self) -> bool:
        """Whether this is SKILL.md."""
        return self.kind == "own"


def readable_texts(subject: LintSubject) -> Iterator[ReadableText]:
    """Yield SKILL.md with its front matter, then the linked Markdown files, then the scripts."""
    yield ReadableText(kind="own", text=subject.document.text, at=subject.document.origin.location)
    others = [("markdown", path, text) for path, text in subject.linked_texts]
    others += [("script", script.path, script.text) for script in subject.files.scripts]
    for kind, path, text in others:
        yield ReadableText(kind=kind, text=text, at=_without_end(subject, path, text))


def _without_end(subject: LintSubject, path: str, text: str) -> Callable[[int, int], Location]:
    return lambda start, _end: subject.file_place(path, start, text)
