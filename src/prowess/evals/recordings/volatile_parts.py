"""Parts of requests that differ in every run, one table for each host. Each row has its reason.

A row is a regular expression over the text form of a request (`prowess.evals.recordings.request_form`), and what its
first group, or the whole match without a group, is replaced with. A part that no row names is compared.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping


class VolatilePart(Struct, frozen=True, kw_only=True):
    """One row: a name, how the part is found, the text that replaces it, and why it may differ."""

    name: str
    pattern: str
    replacement: str
    reason: str


def _part(name: str, pattern: str, replacement: str, reason: str) -> VolatilePart:
    return VolatilePart(name=name, pattern=pattern, replacement=replacement, reason=reason)


def _key(name: str, pattern: str, replacement: str, reason: str) -> VolatilePart:
    r"""Return a row for the value of a JSON key, also in JSON inside of a string, where quotes are written `\"`."""
    return _part(name, rf'"{name}\\{{0,7}}":\s{{0,3}}(?:\\{{0,7}}")?({pattern})', replacement, reason)


def _id(pattern: str) -> VolatilePart:
    return _part("call", pattern, "ID", "the provider gives every call and message a new id")


def _hash(reason: str) -> VolatilePart:
    return _part("hash", r"\b[0-9a-f]{32,64}\b", "HASH", reason)


_UUID = _part(
    "uuid",
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    "UUID",
    "sessions, artifacts and messages get a new id in every run",
)
# It is searched for, not opened.
_TEMPORARY = _part("temporary", r"/tmp/[\w.-]+", "/tmp/TEMPORARY", "temporary directories have random names")  # noqa: S108 -- as above
_TIMESTAMP = _part(
    "timestamp",
    r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
    "TIMESTAMP",
    "the host tells the model when something happened",
)
_DATE = _part("date", r"\b20\d\d-\d\d-\d\d\b", "DATE", "the host tells the model which day it is")
_CLOCK = _part("clock", r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b", "CLOCK", "listings of files and progress lines have times")
_DURATION = _key("duration_ms", r"[\d.]+", "0", "it is measured")
_OF_ALL_HOSTS = (_UUID, _TIMESTAMP, _DATE, _CLOCK, _TEMPORARY)

VOLATILE: Mapping[str, tuple[VolatilePart, ...]] = {
    "prowess": (_UUID, _DURATION, _TEMPORARY),
    "claude": (
        *_OF_ALL_HOSTS,
        _part(
            "version",
            r"\bcc_version=([\w.]+)",
            "VERSION",
            "the billing line of the system prompt has a random suffix",
        ),
        _id(r"\b(?:toolu|msg|req|srvtoolu)_\w+"),
        _hash("user and device ids are hashes"),
        _DURATION,
    ),
    "codex": (
        *_OF_ALL_HOSTS,
        _id(r"\b(?:call|rs|msg|fco?|ctco?|resp)_[\w-]+"),
        _key("turn_started_at_unix_ms", r"\d+", "0", "each request has the time of its turn"),
        _part("chunk", r"Chunk ID: (\w+)", "CHUNK", "each output has a random id"),
        _part("wall", r"Wall time: ([\d.]+)", "0", "the duration of a command is measured"),
        _hash("cache keys are hashes"),
    ),
    "gemini": (
        *_OF_ALL_HOSTS,
        _part(
            "weekday",
            r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \w+ \d{1,2}, 20\d\d",
            "DATE",
            "the first message has the day",
        ),
        _hash("projects are named by hashes"),
        _part("call", r"\b(\w+)-\d{13}-[0-9a-f]+\b", "ID", "call ids have the time in them"),
        _part("process", r"PGID: (\d+)", "0", "the number of a process group"),
    ),
    "copilot": (
        *_OF_ALL_HOSTS,
        _id(r"\b(?:call|chatcmpl|msg|toolu)[_-][\w-]+"),
        _hash("session ids are hashes"),
    ),
}


def stable_text(host: str, text: str) -> str:
    """Return a text without the volatile parts of `host`, those that differ in every run. A host may have none."""
    for row in VOLATILE.get(host, ()):
        text = _compiled(row.pattern).sub(partial(_replaced, row.replacement), text)
    return text


def _replaced(replacement: str, match: re.Match[str]) -> str:
    if not match.re.groups:
        return replacement
    start, end = (place - match.start() for place in match.span(1))
    return f"{match[0][:start]}{replacement}{match[0][end:]}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
