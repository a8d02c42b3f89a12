"""Reads the tables of a policy file. A value of a wrong type is a fault with its line, and counts as missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from prowess._internal.text.near_words import near_words
from prowess.policy.decision import RuleOrigin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess._internal.files.toml_file import TomlFile

_ID = r"[A-Za-z0-9._-]{1,80}"
T = TypeVar("T")
C = TypeVar("C", bound=str)


class TableReader:
    """Reads tables of one file. `at` are the keys and indexes that lead to a table."""

    def __init__(self, file: TomlFile) -> None:
        self._file = file
        self.path, self.fault = file.path, file.fault
        self._ids: set[str] = set()

    def origin(self, *at: str | int) -> RuleOrigin:
        """Return the place of a table in the file."""
        return RuleOrigin(path=self.path, line=self._file.line(*at))

    def only(self, table: Mapping[str, object], known: tuple[str, ...], *at: str | int) -> None:
        """Report every key that is not known, until there are too many faults."""
        for key in table:
            if self._file.has_more_faults:
                return
            if key not in known:
                near = near_words(key, known)
                meant = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
                self.fault(f"is not a key of a policy file; {meant}", *at, key)

    def each(self, content: dict[str, object], key: str, read: Callable[..., T]) -> tuple[T, ...]:
        """Return the tables of an array, each read by `read`; none if it is no array of tables."""
        value = content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fault(f"must be written as [[{key}]]", key)
            return ()
        return tuple(read(item, key, place) for place, item in enumerate(value))

    def table(self, table: dict[str, object], key: str, *at: str | int) -> dict[str, object]:
        """Return a table; an empty one if the key is missing or no table."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            self.fault("must be a table", *at, key)
            return {}
        return value

    def text(self, table: dict[str, object], key: str, *at: str | int, needed: bool = False) -> str | None:
        """Return a text, or None. Without `needed`, the text may be empty and the key missing."""
        value = table.get(key)
        if isinstance(value, str) and (value or not needed):
            return value
        if key in table or needed:
            self.fault("must be a text" if key in table else "is missing", *at, key)
        return None

    def switch(self, table: dict[str, object], key: str, *at: str | int) -> bool | None:
        """Return true, false, or None if the key is missing."""
        value = table.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.fault("must be true or false", *at, key)
        return None

    def texts(self, table: dict[str, object], key: str, *at: str | int) -> tuple[str, ...] | None:
        """Return a list of texts that are not empty, or None."""
        value = table.get(key)
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            return tuple(value)
        if value is not None:
            self.fault("must be a list of texts", *at, key)
        return None

    def choice(self, table: dict[str, object], key: str, choices: tuple[C, ...], *at: str | int) -> C | None:
        """Return one of the choices, or None."""
        value = table.get(key)
        for choice in choices:
            if value == choice:
                return choice
        if key in table:
            self.fault(f"must be one of {', '.join(choices)}", *at, key)
        return None

    def unique_id(self, table: dict[str, object], *at: str | int) -> str | None:
        """Return the id of an entry, which no other entry of the file has; None if it has none."""
        name = self.text(table, "id", *at)
        if name is not None and not re.fullmatch(_ID, name):
            self.fault("must be 1 to 80 letters, digits, '.', '_' or '-'", *at, "id")
        elif name in self._ids:
            self.fault(f"{name!r} is the id of another rule of this file", *at, "id")
        elif name is not None:
            self._ids.add(name)
        return name
