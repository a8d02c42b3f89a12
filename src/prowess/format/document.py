"""A SKILL.md as written: every key with its source text and position. It may be wrong.

`SkillDocument` is what reading gives, whatever the bytes; `Skill` is what is true once a profile accepts it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.yaml_reader import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Diagnostic, Location
    from prowess.format.source.source_text import SourceText


class Field(Struct, frozen=True, kw_only=True):
    """One top-level entry. `key` is its text, or its source where it is a collection.

    `repaired`: YAML refused the value as written, and `value` holds what quoting it gives.
    """

    key: str
    key_node: Node
    value: Node
    origin: SourceText
    repaired: bool = False

    @property
    def text(self) -> str | None:
        """The value where it is a text, exactly as YAML defines it; None for a list or mapping."""
        return self.value.text if isinstance(self.value, Scalar) else None

    @property
    def source(self) -> str:
        """The value as it stands in the file."""
        return self.origin.text[self.value.start : self.value.end]

    @property
    def location(self) -> Location:
        """Where the value stands; where it is empty, the place after the key."""
        return self.origin.location(self.value.start, self.value.end)

    @property
    def key_location(self) -> Location:
        """Where the key stands."""
        return self.origin.location(self.key_node.start, self.key_node.end)


class SkillDocument(Struct, frozen=True, kw_only=True):
    """What reading one SKILL.md gave; made by `parse_document` and `read_document`.

    `front_matter` is the source between the fences, None where there are none; `front_matter_line` is the 1-based line
    where it starts, `body_line` that of `body`. `fields` keeps order and duplicates; `complete` is false where they
    could not be read. `directory` is the absolute path of the skill's directory, None for a text from elsewhere.
    `diagnostics` are those of reading, at the severities of the profile `spec`.
    """

    origin: SourceText
    front_matter: str | None
    front_matter_line: int
    body: str
    body_offset: int
    body_line: int
    fields: tuple[Field, ...]
    complete: bool
    diagnostics: tuple[Diagnostic, ...]
    document_digest: str
    directory: str | None = None

    @property
    def path(self) -> str | None:
        """How the file is called in reports."""
        return self.origin.path

    @property
    def text(self) -> str:
        """The whole text, line breaks as LF."""
        return self.origin.text

    @property
    def directory_name(self) -> str | None:
        """The last part of `directory`."""
        return None if self.directory is None else os.path.basename(os.path.normpath(self.directory))

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the fields."""
        return frozenset(field.key for field in self.fields)

    def field(self, key: str) -> Field | None:
        """Return the first field of this key: where it is written twice, the first wins."""
        return next((field for field in self.fields if field.key == key), None)

    def text_of(self, key: str) -> str | None:
        """Return the text of a field; None where it is absent or no text."""
        field = self.field(key)
        return None if field is None else field.text

    def place_of(self, key: str) -> Location | None:
        """Return where the value of a field stands; None where it is absent."""
        field = self.field(key)
        return None if field is None else field.location

    def mapping(self) -> dict[str, object]:
        """Return the fields as plain data: texts, lists and dictionaries. The first of duplicates wins."""
        result: dict[str, object] = {}
        for field in self.fields:
            result.setdefault(field.key, plain(field.value, self.origin))
        return result


def plain(node: Node, origin: SourceText, typed: Callable[[Scalar], object] | None = None) -> object:
    """Return a value as text, list or dictionary; a key that is a collection becomes its source text.

    `typed` gives what a scalar stands for; without it every scalar is its text.
    """
    match node:
        case Scalar(text=text):
            return text if typed is None else typed(node)
        case Sequence(items=items):
            return [plain(item, origin, typed) for item in items]
        case Mapping(entries=entries):
            result: dict[str, object] = {}
            for key, value in entries:
                result.setdefault(key_text(key, origin), plain(value, origin, typed))
            return result


def key_text(key: Node, origin: SourceText) -> str:
    """Return a key as text: its own, or its source where it is a collection."""
    return key.text if isinstance(key, Scalar) else origin.text[key.start : key.end]
