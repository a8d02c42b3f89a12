"""Secrets in recorded answers. An answer keeps its form: JSON stays JSON, and an event stream keeps its events."""

from __future__ import annotations

import json
import os
from typing import Any

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.text.secret_patterns import redacted, redacted_words

_EVENT = "data:"


def redacted_answer(content: bytes) -> bytes:
    """Return the answer with every secret in it replaced; the same bytes if it has none, or if they are no text.

    A secret that is spread over several events of a stream is not found.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    if redacted(text) == text:
        return content
    whole = _redacted_json(text)
    if whole is not None:
        return whole.encode("utf-8", "backslashreplace")
    return "\n".join(_redacted_line(line) for line in text.split("\n")).encode("utf-8", "backslashreplace")


def redact_transcript(path: str) -> None:
    """Replace the secrets in a transcript: a file, or a folder of files. A line of JSON stays JSON."""
    below = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
    for place in below or [path]:
        with open(place, "rb") as file:
            content = file.read()
        clean = redacted_transcript(content)
        if clean != content:
            write_atomically(place, clean)


def redacted_transcript(content: bytes) -> bytes:
    """Return a transcript with every secret in it replaced; the same bytes if it has none, or if they are no text."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    if redacted(text) == text:
        return content
    records = [text] if _redacted_json(text) is not None else text.split("\n")
    return "\n".join(map(_redacted_record, records)).encode("utf-8", "backslashreplace")


def _redacted_record(record: str) -> str:
    if redacted(record) == record:
        return record
    try:
        value = json.loads(record)
        clean = _redacted_value(value)
    except (ValueError, RecursionError):
        return redacted(record)
    return record if clean == value else json.dumps(clean, ensure_ascii=False)


def _redacted_line(line: str) -> str:
    if not line.startswith(_EVENT):
        return redacted(line)
    body = line.removeprefix(_EVENT)
    found = _redacted_json(body)
    if found is None:
        return _EVENT + redacted(body)
    return f"{_EVENT} {found}" + ("\r" if body.endswith("\r") else "")


def _redacted_json(text: str) -> str | None:
    try:
        return json.dumps(_redacted_value(json.loads(text)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def _redacted_value(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    match value:
        case str():
            return redacted(value)
        case dict():
            return {key: _redacted_member(key, item) for key, item in value.items()}
        case list():
            return [_redacted_value(item) for item in value]
    return value


def _redacted_member(key: str, value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    if isinstance(value, str):
        return redacted_words((f"--{key}", redacted(value)))[1]  # the key alone may mark a value as secret
    return _redacted_value(value)
