"""The use of skills by the sessions that agent hosts keep: Claude Code, Codex, Copilot CLI and Gemini CLI.

Only folders that the user names are read. The result has names, numbers and times, and no contents of messages.
Sessions do not tell the version of a skill.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import InvalidArgumentsError
from prowess.evals.transcripts.reading import TranscriptFileError, read_transcript
from prowess.evals.transcripts.transcript import SkillUse
from prowess.evals.verdicts.judging import verdict_of
from prowess.evals.verdicts.skill_names import same_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.evals.transcripts.transcript import RunTranscript

MOST_SESSIONS = 20_000  # of one folder
_MOST_NAMES = 500  # of skills in one session
_ENDINGS = (".jsonl", ".json", ".ndjson")
_OF_SUB_AGENTS = "subagents"  # read with their session
_LEAST, _SHARE = 3, 0.5


class HostUsage(Struct, kw_only=True):
    """One skill in the sessions of one host.

    `sessions` used the skill. `by_model`, `by_user` and `by_host` are activations. `refusals` are calls of the skill
    that a permission refused, `errors` those that failed. `unfinished` are sessions with the skill that ended with an
    error, by a limit, or in the middle. `tokens` are those of all its sessions. `last` is the time of the latest one.
    """

    skill: str
    host: str
    sessions: int = 0
    by_model: int = 0
    by_user: int = 0
    by_host: int = 0
    refusals: int = 0
    errors: int = 0
    unfinished: int = 0
    tokens: int = 0
    last: str = ""

    @property
    def often_abandoned(self) -> bool:
        """Whether at least half of three or more sessions did not finish."""
        return self.sessions >= _LEAST and self.unfinished >= _SHARE * self.sessions


class HostSessions(Struct, frozen=True, kw_only=True):
    """The sessions in some folders. `unread` are files that are no transcript of a known host."""

    sessions: int
    unread: int
    rows: tuple[HostUsage, ...]


def host_usage(folders: Iterable[str], skills: Sequence[str] = ()) -> HostSessions:
    """Return the use of skills in the sessions below some folders. Links are not followed.

    A use of the `skills` is also found in sessions of hosts without a skill tool, by the reading of SKILL.md.

    Raises:
        InvalidArgumentsError: a folder does not exist.
    """
    rows: dict[tuple[str, str], HostUsage] = {}
    sessions = unread = 0
    for path in _session_files(folders):
        try:
            run = read_transcript(path)
        except TranscriptFileError:
            unread += 1
            continue
        if run.host is None:
            unread += 1
            continue
        sessions += 1
        _take(rows, run, skills, datetime.fromtimestamp(os.path.getmtime(path), UTC).isoformat(timespec="seconds"))
    return HostSessions(sessions=sessions, unread=unread, rows=tuple(rows[key] for key in sorted(rows)))


def _session_files(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        if not os.path.isdir(folder):
            raise InvalidArgumentsError((f"--from {folder}: there is no such directory",))
        found = 0
        for root, directories, names in os.walk(folder):
            directories[:] = sorted(name for name in directories if name != _OF_SUB_AGENTS)
            for name in sorted(names):
                path = os.path.join(root, name)
                if name.endswith(_ENDINGS) and not os.path.islink(path):
                    found += 1
                    if found > MOST_SESSIONS:
                        raise InvalidArgumentsError(
                            (f"--from {folder}: it has more than {MOST_SESSIONS} files; name a folder below it",)
                        )
                    yield path


def _take(rows: dict[tuple[str, str], HostUsage], run: RunTranscript, skills: Sequence[str], last: str) -> None:
    unfinished = run.ended != "completed"
    for name in _used(run, skills):
        key = (name, run.host or "")
        row = rows.setdefault(key, HostUsage(skill=name, host=run.host or ""))
        activations = [one for one in run.activations if same_skill(one.skill, name)]
        calls = [
            call
            for call in run.calls
            for action in call.actions
            if isinstance(action, SkillUse) and same_skill(action.skill, name)
        ]
        row.sessions += 1
        row.by_model += sum(one.by == "model" for one in activations) or (not activations)
        row.by_user += sum(one.by == "user" for one in activations)
        row.by_host += sum(one.by == "host" for one in activations)
        row.refusals += sum(call.refused for call in calls)
        row.errors += sum(call.failed and not call.refused for call in calls)
        row.unfinished += unfinished
        row.tokens += 0 if run.usage is None else run.usage.tokens
        row.last = max(row.last, last)


def _used(run: RunTranscript, skills: Sequence[str]) -> list[str]:
    """Return the names of the skills that a session used, as the catalog writes them if it has them."""
    found: dict[str, None] = {}
    for activation in run.activations[:_MOST_NAMES]:
        known = next((name for name in skills if same_skill(name, activation.skill)), activation.skill)
        found.setdefault(known)
    for name in skills:
        if name not in found and run.calls and verdict_of(run, skill=name, query="").verdict == "triggered":
            found.setdefault(name)
    return list(found)
