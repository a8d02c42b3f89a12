"""Opinions of people on a skill: one line for each statement, in a file of this user alone.

Nothing is recorded unless somebody says so, and nothing is sent. A line has the time, the name and the digest of the
skill, good or bad, and the note if there is one. It has no contents of messages. Source: 003, learning from skill
execution.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from prowess._internal.files.open_flags import NO_FOLLOW
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess._internal.text.terminal_text import json_text
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Opinion = Literal["good", "bad"]
MOST_NOTE = 2_000  # characters


class Feedback(Struct, frozen=True, kw_only=True):
    """One statement. `digest` is that of the version's SKILL.md; `at` is a time in UTC, as in audit records."""

    at: str
    skill: str
    digest: str
    opinion: Opinion
    note: str | None = None


class FeedbackCounts(Struct, frozen=True, kw_only=True):
    """The statements about one version of a skill, and the latest notes."""

    skill: str
    digest: str
    good: int
    bad: int
    notes: tuple[str, ...] = ()


def feedback_path() -> str:
    """Return the file of this user."""
    return os.path.join(prowess_home(), "feedback", "feedback.jsonl")


def give_feedback(skill: str, digest: str, opinion: Opinion, note: str | None = None, *, path: str = "") -> Feedback:
    """Add a statement, and return it.

    Raises:
        InvalidArgumentsError: the note is too long, or the file cannot be written.
    """
    if note is not None and len(note) > MOST_NOTE:
        raise InvalidArgumentsError((f"the note has {len(note)} characters; {MOST_NOTE} are possible",))
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    given = Feedback(at=now, skill=skill, digest=digest, opinion=opinion, note=note)
    place = path or feedback_path()
    try:
        ensure_private_directory(os.path.dirname(place))
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_FOLLOW, 0o600)
        try:
            # One write: lines of processes that write at the same time do not mix. A line that a full disk has cut is
            # ended by the break before the next one.
            os.write(descriptor, f"\n{json_text(given)}\n".encode())
        finally:
            os.close(descriptor)
    except OSError as fault:
        raise InvalidArgumentsError((f"{place} cannot be written: {fault.strerror}",)) from None
    return given


def read_feedback(path: str = "") -> Iterator[Feedback]:
    """Yield the statements, the oldest first. Lines that cannot be read are left out.

    Raises:
        InvalidArgumentsError: the file cannot be read.
    """
    place = path or feedback_path()
    try:
        with open(place, "rb") as file:
            for line in file:
                try:
                    yield msgspec.json.decode(line, type=Feedback)
                except msgspec.DecodeError:
                    continue
    except FileNotFoundError:
        return
    except OSError as fault:
        raise InvalidArgumentsError((f"{place} cannot be read: {fault.strerror}",)) from None


def feedback_counts(statements: Iterable[Feedback], *, most_notes: int = 3) -> list[FeedbackCounts]:
    """Count statements by skill and version."""
    found: dict[tuple[str, str], list[Feedback]] = {}
    for one in statements:
        found.setdefault((one.skill, one.digest), []).append(one)
    return [
        FeedbackCounts(
            skill=skill,
            digest=digest,
            good=sum(one.opinion == "good" for one in each),
            bad=sum(one.opinion == "bad" for one in each),
            notes=tuple(one.note for one in each if one.note)[-most_notes:],
        )
        for (skill, digest), each in sorted(found.items())
    ]
