"""Drift: a request that differs from the one that was recorded, and skills that changed since a recording."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_LINES = 40  # of a difference that is shown
_LONGEST_LINE = 300  # characters


class DriftError(SkillError):
    """A replayed run made a request that was not recorded. `difference` are lines for people, already escaped."""

    code = "digest_changed"
    unit: str
    number: int
    difference: str
    sentence = (
        "request {number} of {unit} is not the recorded one; "
        "run prowess eval again without --replay to record it\n{difference}"
    )


class StaleRecordingError(SkillError):
    """The skills changed since the recording, so it tells nothing about them. `files` are the changed files."""

    code = "digest_changed"
    recording: str
    files: str
    sentence = (
        "the recording {recording} is stale: {files} changed since; "
        "run prowess eval again without --replay to record it"
    )


def difference(recorded: str, asked: str) -> str:
    """Return the difference of two forms of a request, as lines `-recorded` and `+asked` with their surroundings."""
    lines = list(difflib.unified_diff(_lines(recorded), _lines(asked), "recorded", "asked", n=1, lineterm=""))[2:]
    shown = [_shortened(printable_line(line)) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    return "\n".join(shown)


def changed_files(recorded: Mapping[str, str], present: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of files that changed, appeared or went since the recording, sorted. Values are digests."""
    return tuple(sorted(name for name in recorded.keys() | present.keys() if recorded.get(name) != present.get(name)))


def require_fresh(recording: str, recorded: Mapping[str, str], present: Mapping[str, str]) -> None:
    """Compare the files of the skills with those at the time of the recording.

    Raises:
        StaleRecordingError: a file changed, appeared or went.
    """
    if files := changed_files(recorded, present):
        named = ", ".join(printable_line(name) for name in files[:5])
        more = f" and {len(files) - 5} more files" if len(files) > 5 else ""  # noqa: PLR2004 -- as many as are named
        raise StaleRecordingError(recording, named + more)


def _lines(text: str) -> list[str]:
    """Return the lines of a form. Line breaks inside of a JSON string count, or one long line would differ."""
    return text.replace("\\n", "\n").split("\n")


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
