"""Secrets in recorded answers and transcripts: JSON stays JSON, and an event stream keeps its events."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.text.secret_patterns import REDACTED, names_secret, redacted

_EVENT = "data:"
_AROUND = " \t\r\n\ufeff"  # white space of JSON, and the byte order mark
# A letter, a digit, `-` or `_` that JSON has as an escape, behind an even number of backslashes.
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\u00(2d|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])", re.IGNORECASE)


class _Members(list[tuple[str, Any]]):
    """The members of an object of JSON; also the first of two members of one name, which a dictionary drops."""


def redact_transcript(path: str) -> None:
    """Replace the secrets in a transcript: a file, or a folder of files. A line of JSON stays JSON."""
    below = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
    for place in below or [path]:
        with open(place, "rb") as file:
            content = file.read()
        clean = redacted_content(content)
        if clean != content:
            write_atomically(place, clean)


def redacted_content(content: bytes) -> bytes:
    """Return an answer or a transcript with every secret in it replaced; the same bytes if it has none.

    Bytes that are no text stay. A secret that is spread over several events of a stream is not found.
    """
    text = content.decode("utf-8", "surrogateescape")
    clean = _redacted_json(text)
    if clean is None:
        clean = "\n".join(map(_redacted_line, text.split("\n")))
    return content if clean == text else clean.encode("utf-8", "surrogateescape")


def _redacted_line(line: str) -> str:
    start = _EVENT if line.startswith(_EVENT) else ""
    body = line.removeprefix(start)
    found = _redacted_json(body)
    return start + (_redacted_text(body) if found is None else found)


def _redacted_json(text: str) -> str | None:
    """Return a value of JSON without secrets, the same text if it has none; None if the text is no JSON."""
    body = text.strip(_AROUND)
    try:
        value = json.loads(body, object_pairs_hook=_Members)
        clean = _redacted_value(value, is_secret=False)
        if clean == value:
            return text
        shown = _json_text(clean).encode("utf-8", "backslashreplace").decode()  # half of a surrogate pair
    except (ValueError, RecursionError):
        return None
    before, _, after = text.partition(body)
    return before + shown + after


def _redacted_value(value: Any, *, is_secret: bool) -> Any:  # noqa: ANN401 -- any JSON value
    match value:
        case str():
            return REDACTED if is_secret and value else _redacted_text(value)
        case _Members():
            return _Members(
                (_redacted_text(key), _redacted_value(item, is_secret=is_secret or names_secret(key)))
                for key, item in value
            )
        case list():
            return [_redacted_value(item, is_secret=is_secret) for item in value]
    return value


def _redacted_text(text: str) -> str:
    """Return a text without secrets, also those with escapes in JSON that is cut off, or in JSON inside of a string."""
    if "\\u" in text:
        plain = _ESCAPED.sub(lambda match: match[1] + chr(int(match[2], 16)), text)
        clean = redacted(plain)
        if clean != plain:
            return clean
    return redacted(text)


def _json_text(value: Any) -> str:  # noqa: ANN401 -- any JSON value
    match value:
        case _Members():
            return "{" + ", ".join(f"{_json_text(key)}: {_json_text(item)}" for key, item in value) + "}"
        case list():
            return "[" + ", ".join(map(_json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
