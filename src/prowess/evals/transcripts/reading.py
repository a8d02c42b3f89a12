"""Reads the transcript of a run: finds the host and the form from the content, never from the name of the file.

A folder is one session with the files of its sub-agents, in the layout of the host or in any other. A session file of
Claude Code brings the folder beside it that has its name.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.bounded_read import is_stream, read_input, read_regular_file
from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess.errors import SkillError, UnsafePathError
from prowess.evals.transcripts import claude, codex, copilot, cursor, gemini, opencode, own_agent
from prowess.evals.transcripts.records import FaultyLineError, read_records, read_records_with_faults
from prowess.evals.transcripts.transcript import MAIN_AGENT, RunTranscript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.transcripts.assembly import Assembly
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import TranscriptForm

MAX_BYTES = 512 * 1024 * 1024  # of one file
MAX_FILES = 500  # of one folder
_LOOKED_AT = 400  # records in which the form must show itself


class TranscriptFileError(SkillError):
    """The path of a transcript cannot be read."""

    code = "unavailable"
    path: str
    reason: str
    sentence = "transcript {path} cannot be read: {reason}"


class _HostModule(Protocol):
    def form_of(self, record: HostRecord) -> TranscriptForm | None: ...

    def read(self, records: Records, form: TranscriptForm) -> Assembly: ...


# The most specific signs first.
_HOSTS: tuple[_HostModule, ...] = (codex, copilot, gemini, opencode, claude, cursor, own_agent)


def read_transcript_text(data: bytes) -> RunTranscript:
    """Return the transcript in `data`. Never raises: data of no known host is a transcript without a host.

    read_transcript_text(stream).ended == "completed"
    """
    try:
        return _transcript(read_records(data), data)
    except FaultyLineError:
        return _transcript(read_records_with_faults(data), data)


def _transcript(records: Records, data: bytes) -> RunTranscript:
    for _, record in islice(records.items, _LOOKED_AT):
        for host in _HOSTS:
            if (form := host.form_of(record)) is not None:
                assembly = host.read(records, form)
                return assembly.transcript(records.notes)
    for _, record in islice(records.items, _LOOKED_AT):
        if (form := claude.may_be_of(record)) is not None:
            return claude.read(records, form).transcript(records.notes)
    reason = "the file is empty" if not data.strip() else "no record of a known host is in it"
    return RunTranscript(host=None, form=None, ended="error", end_reason=reason, notes=records.notes)


def read_transcript(path: str | os.PathLike[str], *, within: str | os.PathLike[str] | None = None) -> RunTranscript:
    """Return the transcript of a file, or of a folder with a session and its sub-agents.

    With `within`, a folder that may come from somebody else, the path is relative to it and nothing outside of it is
    read: a path that leads out and a link are refused.

    Raises:
        TranscriptFileError: the path cannot be read, or the folder has more than one session.
    """
    place = Path(path) if within is None else _contained(path, within)
    base = None if within is None else Path(within)
    if place.is_dir():
        return _read_folder(place, base)
    main = read_transcript_text(_read_file(place, base))
    beside = place.with_suffix("")
    # A link beside a session would bring the messages of another one.
    if main.host in ("claude", "gemini") and main.form == "session" and beside.is_dir() and not beside.is_symlink():
        return _joined(main, _parts(beside, base))
    return main


def read_named_transcript(path: str) -> RunTranscript:
    """As `read_transcript`, for a path that a person named: `-` is standard input, and a pipe is read to its end.

    Raises:
        TranscriptFileError: as `read_transcript`.
    """
    if not is_stream(path):
        return read_transcript(path)
    try:
        return read_transcript_text(read_input(path, MAX_BYTES))
    except OSError as fault:
        raise TranscriptFileError(path, fault.strerror or str(fault)) from None


def _contained(path: str | os.PathLike[str], within: str | os.PathLike[str]) -> Path:
    """Return a path below a folder. No component of it is a link."""
    place = Path(within)
    if os.path.isabs(path) and Path(path).is_relative_to(place.absolute()):
        path = Path(path).relative_to(place.absolute())
    try:
        for component in check_relative(os.fspath(path), os.fspath(within)):
            place /= component
            if place.is_symlink():
                raise TranscriptFileError(os.fspath(path), f"{component!r} is a symbolic link")
    except UnsafePathError as fault:
        raise TranscriptFileError(os.fspath(path), fault.reason) from None
    return place


class _Part(Struct, frozen=True, kw_only=True):
    path: Path
    run: RunTranscript


def _parts(folder: Path, within: Path | None) -> list[_Part]:
    return [_Part(path=path, run=read_transcript_text(_read_file(path, within))) for path in _files(folder)]


def _read_folder(folder: Path, within: Path | None) -> RunTranscript:
    parts = [part for part in _parts(folder, within) if part.run.host is not None]
    if not parts:
        reason = "the folder has no transcript of a known host"
        return RunTranscript(host=None, form=None, ended="error", end_reason=reason)
    mains = [part for part in parts if not _is_of_sub_agent(part)] or parts[:1]
    sessions = [part for part in mains if part.run.form == "session"] or mains
    if len(sessions) > 1:  # also of one session: neither its size nor its time tells which of them is the real one
        names = ", ".join(sorted(os.path.relpath(part.path, folder) for part in sessions)[:3])
        raise TranscriptFileError(os.fspath(folder), f"it has {len(sessions)} sessions ({names}): name one of them")
    return _joined(sessions[0].run, [part for part in parts if part not in mains])


def _is_of_sub_agent(part: _Part) -> bool:
    """Whether all that the file has is of an agent other than the main one."""
    agents = _agents(part.run)
    return MAIN_AGENT not in agents if agents else "subagents" in part.path.parts


def _agents(run: RunTranscript) -> set[str]:
    return {message.agent for message in run.messages} | {call.agent for call in run.calls}


def _joined(main: RunTranscript, parts: list[_Part]) -> RunTranscript:
    """Return `main` with the messages, calls and activations of its sub-agents' files."""
    agents = [_as_sub_agent(part) for part in parts if part.run.host == main.host]
    if not agents:
        return main
    return replace(
        main,
        messages=(*main.messages, *(one for run in agents for one in run.messages)),
        calls=(*main.calls, *(one for run in agents for one in run.calls)),
        activations=(*main.activations, *(one for run in agents for one in run.activations)),
        notes=(*main.notes, *(note for run in agents for note in run.notes)),
    )


def _as_sub_agent(part: _Part) -> RunTranscript:
    run, name = part.run, part.path.stem
    if MAIN_AGENT not in _agents(run):
        return run
    return replace(
        run,
        messages=tuple(replace(one, agent=name) if one.agent == MAIN_AGENT else one for one in run.messages),
        calls=tuple(replace(one, agent=name) if one.agent == MAIN_AGENT else one for one in run.calls),
        activations=tuple(replace(one, agent=name) if one.agent == MAIN_AGENT else one for one in run.activations),
    )


def _files(folder: Path) -> Iterator[Path]:
    """Yield the JSON files below a folder, sorted. Links are not followed; pipes and devices are left out."""
    found = 0
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if name.endswith((".jsonl", ".json", ".ndjson")) and S_ISREG(path.lstat().st_mode):
                found += 1
                if found > MAX_FILES:
                    raise TranscriptFileError(os.fspath(folder), f"it has more than {MAX_FILES} files")
                yield path


def _read_file(path: Path, within: Path | None = None) -> bytes:
    try:
        if within is None:
            return read_regular_file(path, MAX_BYTES)
        inner = path.relative_to(within).as_posix()
        with ContainedRoot(os.fspath(within)) as root, root.open(inner, allow_hard_links=True) as file:
            data = file.read(MAX_BYTES + 1)
    except UnsafePathError as fault:  # a ValueError too
        raise TranscriptFileError(os.fspath(path), fault.reason) from None
    except (OSError, ValueError) as fault:
        reason = fault.strerror or str(fault) if isinstance(fault, OSError) else "the path has a NUL"
        raise TranscriptFileError(os.fspath(path), reason) from None
    if len(data) > MAX_BYTES:
        raise TranscriptFileError(os.fspath(path), f"it has more than {MAX_BYTES >> 20} MiB")
    return data
