"""A SKILL.md as written, valid or not: every key with its source text and position.

Reading returns a `SkillDocument` for any bytes. A `Skill` exists only if a profile accepted the document.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.yaml_reader import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Diagnostic, Location
    from prowess.format.source.source_text import SourceText


class Field(Struct, frozen=True, kw_only=True):
    """One top-level entry. `key` is the text of the key, or its source if the key is a collection.

    `repaired` is true if the value as written is not valid YAML. Then `value` holds the value as it is read in quotes.
    """

    key: str
    key_node: Node
    value: Node
    origin: SourceText
    repaired: bool = False

    @property
    def text(self) -> str | None:
        """The value if it is a scalar, exactly as YAML defines its text; `None` for a list or mapping."""
        return self.value.text if isinstance(self.value, Scalar) else None

    @property
    def source(self) -> str:
        """The value as written in the file."""
        return self.origin.text[self.value.start : self.value.end]

    @property
    def location(self) -> Location:
        """The place of the value. If the value is empty, this is the place after the key."""
        return self.origin.location(self.value.start, self.value.end)

    @property
    def key_location(self) -> Location:
        """The place of the key."""
        return self.origin.location(self.key_node.start, self.key_node.end)


class SkillDocument(Struct, frozen=True, kw_only=True):
    """The result of reading one SKILL.md. `parse_document` and `read_document` create it.

    `front_matter` is the source between the fences, or `None` if there are no fences. `front_matter_line` and
    `body_line` are the 1-based lines where the front matter and `body` start. `fields` keeps the order of the file and
    duplicate keys; `complete` is false if the fields could not be read. `directory` is the absolute path of the skill's
    directory, or `None` if the text does not come from a directory. `diagnostics` are the faults found while reading,
    at the severities of the profile `spec`.
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
        """The path of the file as shown in reports."""
        return self.origin.path

    @property
    def text(self) -> str:
        """The whole text, with LF line breaks."""
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
        """Return the first field with this key, or `None` if there is none."""
        return next((field for field in self.fields if field.key == key), None)

    def text_of(self, key: str) -> str | None:
        """Return the text of a field; `None` if the field is absent or is a list or mapping."""
        field = self.field(key)
        return None if field is None else field.text

    def place_of(self, key: str) -> Location | None:
        """Return the place of a field's value; `None` if the field is absent."""
        field = self.field(key)
        return None if field is None else field.location

    def mapping(self) -> dict[str, object]:
        """Return the fields as plain data: strings, lists and dictionaries. The first of duplicate keys wins."""
        result: dict[str, object] = {}
        for field in self.fields:
            result.setdefault(field.key, plain(field.value, self.origin))
        return result


def plain(node: Node, origin: SourceText, typed: Callable[[Scalar], object] | None = None) -> object:
    """Return a node as a string, list or dictionary. A key that is a collection becomes its source text.

    `typed` converts a scalar to a Python value. Without it every scalar becomes a string.
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


def repeated_keys(root: Node, origin: SourceText) -> Iterator[tuple[str, Node]]:
    """Yield each key of a mapping that is written again, with its node. `plain` takes the first of them."""
    waiting = [root]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Sequence):
            waiting.extend(reversed(here.items))
        elif isinstance(here, Mapping):
            seen: set[str] = set()
            for key, _ in here.entries:
                name = key_text(key, origin)
                if name in seen:
                    yield name, key
                seen.add(name)
            waiting.extend(value for _, value in reversed(here.entries))


def key_text(key: Node, origin: SourceText) -> str:
    """Return the text of a key, or its YAML source if the key is a list or a mapping."""
    return key.text if isinstance(key, Scalar) else origin.text[key.start : key.end]
