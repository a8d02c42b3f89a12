"""Files of cases to judge: one JSON object a line, `{"transcript", "skill", "query"?}`. Further keys are kept."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct, field

from prowess._internal.files.bounded_read import is_stream, read_input
from prowess.errors import SkillError

MAX_BYTES = 64 * 1024 * 1024
_KEYS = ("transcript", "skill", "query")


class CaseFileError(SkillError):
    """A file of cases cannot be read. `line` is 0 for the file itself."""

    code = "invalid_arguments"
    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        """Return the sentence, with the line if there is one."""
        return f"{self.path}{f':{self.line}' if self.line else ''}: {self.reason}"


class JudgedCase(Struct, frozen=True, kw_only=True):
    """One case. `further` are the other keys of the line.

    `within` is the folder that `transcript` is relative to and may not leave; None for a path that a person gave.
    """

    transcript: str
    within: str | None = None
    skill: str
    query: str | None = None
    further: dict[str, object] = field(default_factory=dict)


def read_cases(path: str | os.PathLike[str]) -> tuple[JudgedCase, ...]:
    """Return the cases of a file that a person named, in order. `-` is standard input, and a pipe is read to its end.

    Paths of transcripts are relative to the folder of the file, and cannot leave it; those of a stream to the working
    directory.

    Raises:
        CaseFileError: the file or a line cannot be read, or there is no case.
    """
    place = Path(path)
    folder = Path() if is_stream(path) else place.parent
    try:
        data = read_input(path, MAX_BYTES)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "the path has a NUL"
        raise CaseFileError(os.fspath(path), 0, f"the file cannot be read: {reason}") from None
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    cases = tuple(_case(place, folder, number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if not cases:
        raise CaseFileError(os.fspath(path), 0, "the file has no case")
    return cases


def _case(place: Path, folder: Path, number: int, line: bytes) -> JudgedCase:
    def fault(reason: str) -> CaseFileError:
        return CaseFileError(os.fspath(place), number, reason)

    try:
        row = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        raise fault("this is not a JSON object") from None
    if not isinstance(row, dict):
        raise fault("this is not a JSON object")
    transcript, skill, query = (row.get(key) for key in _KEYS)
    if not isinstance(transcript, str) or not transcript or "\0" in transcript:
        raise fault("'transcript' must be a path")
    if not isinstance(skill, str) or not skill.strip():
        raise fault("'skill' must be the name of a skill")
    if query is not None and not isinstance(query, str):
        raise fault("'query' must be a text")
    return JudgedCase(
        transcript=transcript,
        within=os.fspath(folder),
        skill=skill,
        query=query,
        further={key: value for key, value in row.items() if key not in _KEYS},
    )
