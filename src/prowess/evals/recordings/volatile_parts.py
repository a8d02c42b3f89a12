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
    stands: str
    reason: str


_UUID = VolatilePart(
    name="uuid",
    pattern=r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    stands="UUID",
    reason="sessions, artifacts and messages get a new id in every run",
)
_TEMPORARY = VolatilePart(
    name="temporary",
    pattern=r"/tmp/[\w.-]+",  # noqa: S108 -- it is searched for, not opened
    stands="/tmp/TEMPORARY",  # noqa: S108 -- as above
    reason="temporary directories have random names",
)
_TIMESTAMP = VolatilePart(
    name="timestamp",
    pattern=r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
    stands="TIMESTAMP",
    reason="the host tells the model when something happened",
)
_DATE = VolatilePart(
    name="date", pattern=r"\b20\d\d-\d\d-\d\d\b", stands="DATE", reason="the host tells the model which day it is"
)
_CLOCK = VolatilePart(
    name="clock",
    pattern=r"\b\d\d:\d\d:\d\d(?:\.\d+)?\b",
    stands="CLOCK",
    reason="listings of files and progress lines have times",
)


def _key(name: str, pattern: str, stands: str, reason: str) -> VolatilePart:
    r"""Return a row for the value of a JSON key, also in JSON inside of a string, where quotes are written `\"`."""
    return VolatilePart(
        name=name, pattern=rf'"{name}\\{{0,7}}":\s{{0,3}}(?:\\{{0,7}}")?({pattern})', stands=stands, reason=reason
    )


_DURATION = _key("duration_ms", r"[\d.]+", "0", "it is measured")

VOLATILE: Mapping[str, tuple[VolatilePart, ...]] = {
    "prowess": (
        _UUID,
        _DURATION,
        _TEMPORARY,
    ),
    "claude": (
        _UUID,
        _TIMESTAMP,
        _DATE,
        _CLOCK,
        _TEMPORARY,
        VolatilePart(
            name="version",
            pattern=r"\bcc_version=([\w.]+)",
            stands="VERSION",
            reason="the billing line of the system prompt has a random suffix",
        ),
        VolatilePart(
            name="call",
            pattern=r"\b(?:toolu|msg|req|srvtoolu)_\w+",
            stands="ID",
            reason="the provider gives every call and message a new id",
        ),
        VolatilePart(
            name="hash", pattern=r"\b[0-9a-f]{32,64}\b", stands="HASH", reason="user and device ids are hashes"
        ),
        _DURATION,
    ),
    "codex": (
        _UUID,
        _TIMESTAMP,
        _DATE,
        _CLOCK,
        _TEMPORARY,
        VolatilePart(
            name="call",
            pattern=r"\b(?:call|rs|msg|fco?|ctco?|resp)_[\w-]+",
            stands="ID",
            reason="the provider gives every call and message a new id",
        ),
        _key("turn_started_at_unix_ms", r"\d+", "0", "each request has the time of its turn"),
        VolatilePart(name="chunk", pattern=r"Chunk ID: (\w+)", stands="CHUNK", reason="each output has a random id"),
        VolatilePart(
            name="wall", pattern=r"Wall time: ([\d.]+)", stands="0", reason="the duration of a command is measured"
        ),
        VolatilePart(name="hash", pattern=r"\b[0-9a-f]{32,64}\b", stands="HASH", reason="cache keys are hashes"),
    ),
    "gemini": (
        _UUID,
        _TIMESTAMP,
        _DATE,
        _CLOCK,
        _TEMPORARY,
        VolatilePart(
            name="weekday",
            pattern=r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \w+ \d{1,2}, 20\d\d",
            stands="DATE",
            reason="the first message has the day",
        ),
        VolatilePart(name="hash", pattern=r"\b[0-9a-f]{32,64}\b", stands="HASH", reason="projects are named by hashes"),
        VolatilePart(
            name="call", pattern=r"\b(\w+)-\d{13}-[0-9a-f]+\b", stands="ID", reason="call ids have the time in them"
        ),
        VolatilePart(name="process", pattern=r"PGID: (\d+)", stands="0", reason="the number of a process group"),
    ),
    "copilot": (
        _UUID,
        _TIMESTAMP,
        _DATE,
        _CLOCK,
        _TEMPORARY,
        VolatilePart(
            name="call",
            pattern=r"\b(?:call|chatcmpl|msg|toolu)[_-][\w-]+",
            stands="ID",
            reason="the provider gives every call and message a new id",
        ),
        VolatilePart(name="hash", pattern=r"\b[0-9a-f]{32,64}\b", stands="HASH", reason="session ids are hashes"),
    ),
}


def stable_text(host: str, text: str) -> str:
    """Return a text without the volatile parts of `host`, those that differ in every run. A host may have none."""
    for row in VOLATILE.get(host, ()):
        text = _compiled(row.pattern).sub(partial(_replaced, row.stands), text)
    return text


def _replaced(stands: str, match: re.Match[str]) -> str:
    if not match.re.groups:
        return stands
    start, end = (place - match.start() for place in match.span(1))
    return f"{match[0][:start]}{stands}{match[0][end:]}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
