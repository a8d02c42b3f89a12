"""A SKILL.md that is plainly valid, as its `SkillDocument` without the cost of one.

The texts of its fields, its body and where they stand are known from reading lines. Whatever else is asked for comes
from the full parser, which runs once, when it is first needed. A differential test holds every attribute of both
against each other.
"""

from __future__ import annotations

import os

from prowess.format.limits import MAX_BODY_LINES, MAX_DOCUMENT_BYTES, MAX_FRONT_MATTER_BYTES
from prowess.format.plain_front_matter import BLOCKS, plain_skill

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from prowess.diagnostics import Location
    from prowess.format.document import SkillDocument
    from prowess.format.source_text import SourceText

_HEAD, _CLOSE = "---\n", "\n---"


class PlainDocument:
    """Stands for the document of a skill without a fault in fields, length and links; attributes as there."""

    __slots__ = ("_data", "_fields", "_full", "_origin", "_source", "body", "body_offset", "directory", "path", "text")

    complete = True
    diagnostics = ()

    def __init__(
        self, data: bytes, source: str, fields: dict[str, str | dict[str, str]], path: str, directory: str
    ) -> None:
        self.path, self.directory, self.text = path, directory, data.decode()
        self.body_offset = min(len(_HEAD) + len(source) + len(_CLOSE) + 1, len(self.text))
        self.body = self.text[self.body_offset :]
        self._data, self._source, self._fields = data, source, fields
        self._full: SkillDocument | None = None
        self._origin: SourceText | None = None

    @property
    def directory_name(self) -> str:
        """The last part of `directory`."""
        return os.path.basename(self.directory)

    @property
    def body_line(self) -> int:
        """The 1-based line where the body starts."""
        return self.text.count("\n", 0, self.body_offset) + 1

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the fields."""
        return frozenset(self._fields)

    def text_of(self, key: str) -> str | None:
        """Return the text of a field; None where it is absent or no text."""
        text = self._fields.get(key)
        return text if isinstance(text, str) else None

    def place_of(self, key: str) -> Location | None:
        """Return where the value of a field stands; None where it is absent."""
        if key not in self._fields:
            return None
        # One line of a plain front matter begins so; lines that go on with a value are indented.
        start = self.text.find(f"\n{key}:") + len(key) + 2
        end = self.text.find("\n", start)
        line = self.text[start:end]
        shown = line.strip(" ")
        if shown and shown not in BLOCKS and self.text[end + 1] not in " #\n":
            start += len(line) - len(line.lstrip(" "))
            return self.origin.location(start, start + len(shown))
        return self._parsed().place_of(key)

    @property
    def origin(self) -> SourceText:
        """The text with its places."""
        if self._origin is None:
            # Imported here, not at the top: as above.
            from prowess.format.source_text import SourceText

            self._origin = SourceText(path=self.path, text=self.text)
        return self._origin

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._parsed(), name)

    def _parsed(self) -> SkillDocument:
        if self._full is None:
            # Imported here, not at the top: it brings the parser.
            from prowess.format.parsing import parse_source

            self._full = parse_source(self._data, path=self.path, directory=self.directory)
        return self._full


def plain_document(data: bytes, *, path: str, directory: str) -> SkillDocument | None:
    """Return the document of these bytes where no rule on fields, length and links has anything to say, else None.

    `directory` is absolute and holds no manifest; both are the caller's to see to. The profile is `spec`.
    """
    if len(data) > MAX_DOCUMENT_BYTES or b"\r" in data:
        return None
    plain = plain_skill(data, os.path.basename(directory), complete=True)
    if plain is None or len(plain[0]) >= MAX_FRONT_MATTER_BYTES:
        return None
    source, fields = plain
    document = PlainDocument(data, source.decode(), fields, path, directory)
    body = document.body
    if body.count("\n") + (body[-1:] not in {"", "\n"}) > MAX_BODY_LINES or not _stays_inside(body):
        return None
    return document  # type: ignore[return-value]  # it stands for one, and a test holds every attribute of both


def _stays_inside(body: str) -> bool:
    if "](" not in body and "]:" not in body:
        return True
    # Imported here, not at the top: most bodies link to nothing.
    from prowess.format.references import stays_inside

    return stays_inside(body)
