"""Locks in YAML as plain values: every scalar is a text, as the reader of YAML has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import Scalar, Sequence, read_yaml
from prowess.lockfile.foreign.entries import refuse, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.yaml_reader import Node

_MOST_NODES = 2_000_000
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})


def yaml_table(data: bytes, path: str) -> Mapping[str, object]:
    """Return the mapping of a document. A scalar is a text, or None if it is null. Raises LockfileError."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        refuse(path, "it is not UTF-8")
    reading = read_yaml(text, most_nodes=_MOST_NODES)
    if reading.faults:
        fault = reading.faults[0]
        line = text.count("\n", 0, fault.offset) + 1
        refuse(path, f"line {line} is not plain YAML: {fault.problem or fault.construct}")
    return {} if reading.root is None else table_of(_plain(reading.root, path), path, "the lock")


def is_true(value: object) -> bool:
    """Return whether a value is the text of a true one."""
    return isinstance(value, str) and value in _TRUE


def texts_of(value: object, path: str, what: str) -> list[str]:
    """Return a list of texts; an absent one is empty. Raises LockfileError."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        refuse(path, f"{what} is not a list of texts")
    return value


def _plain(node: Node, path: str) -> object:
    if isinstance(node, Scalar):
        return None if not node.style and node.text in _NOTHING else node.text
    if isinstance(node, Sequence):
        return [_plain(item, path) for item in node.items]
    table: dict[str, object] = {}
    for key, value in node.entries:
        if not isinstance(key, Scalar) or key.text in table:
            refuse(path, "a key is no text, or occurs twice in one mapping")
        table[key.text] = _plain(value, path)
    return table
