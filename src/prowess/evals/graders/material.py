"""The parts of a finished run that graders see: the transcript, the answer, and the workspace before and after."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError
from prowess.evals.transcripts.transcript import ScriptRun, SkillUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.scenarios.workspaces import FileDigests
    from prowess.evals.transcripts.transcript import RunTranscript, TranscriptCall

MAX_FILE_BYTES = 4 * 1024 * 1024  # of a file that a grader reads
SKILL_TOOL = "skill"
_OWN_TOOL = re.compile(r"skills[._-]")
_SKILL_FILE = re.compile(r"skill\.md|skills?[/\\]")


class RunMaterial(Struct, frozen=True, kw_only=True):
    """A finished run.

    `workspace` is the directory after the run; `before` and `after` are the digests of its files. `skill` is the name
    of the skill under test, and `root` its directory, from which programs that grade are taken. `activated` are the
    names of the skills that the agent used. `usd` is None if the price is unknown.
    """

    prompt: str
    expected_output: str | None
    answer: str
    transcript: RunTranscript
    workspace: str
    before: FileDigests
    after: FileDigests
    skill: str
    root: str
    activated: tuple[str, ...]
    turns: int
    tokens: int
    usd: float | None

    @property
    def created(self) -> tuple[str, ...]:
        """The files that the run created."""
        return tuple(sorted(self.after.keys() - self.before.keys()))

    @property
    def modified(self) -> tuple[str, ...]:
        """The files that the run changed."""
        return tuple(sorted(path for path in self.after if self.before.get(path, self.after[path]) != self.after[path]))

    @property
    def deleted(self) -> tuple[str, ...]:
        """The files that the run deleted."""
        return tuple(sorted(self.before.keys() - self.after.keys()))

    @property
    def trace(self) -> str:
        """All messages, calls and results as one text."""
        return "\n".join(_trace(self.transcript))

    def read(self, path: str) -> str | None:
        """Return the text of a file of the workspace; None if there is no such file, or it cannot be read."""
        try:
            with ContainedRoot(self.workspace) as root, root.open(path, allow_hard_links=True) as file:
                return file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
        except (OSError, UnsafePathError):
            return None


def _trace(transcript: RunTranscript) -> Iterator[str]:
    parts = [(message.at, message.text) for message in transcript.messages]
    for call in transcript.calls:
        parts.append((call.at, f"{call.name} {arguments_json(call)}"))
        if call.result is not None:
            parts.append((call.at, call.result))
    for _, text in sorted(parts, key=lambda part: part[0]):
        yield text


def arguments_json(call: TranscriptCall) -> str:
    """Return the arguments as compact JSON, which patterns of `claude plugin eval` are written for."""
    return json.dumps(dict(call.arguments), ensure_ascii=False, separators=(",", ":"), default=str)


def is_call_of(call: TranscriptCall, tool: str) -> bool:
    """Whether the call is of the tool `tool`, in any case; `Skill` is the tool of each host that activates skills."""
    named = tool.casefold()
    if named == SKILL_TOOL and any(isinstance(action, SkillUse) for action in call.actions):
        return True
    return call.name.casefold().replace("__", ".") == named.replace("__", ".")


def concerns_skills(call: TranscriptCall) -> bool:
    """Whether the call lists, loads, reads or runs a skill, so that it tells whether there was one."""
    if _OWN_TOOL.match(call.name.casefold()) or is_call_of(call, SKILL_TOOL):
        return True
    if any(isinstance(action, ScriptRun) for action in call.actions):
        return True
    return _SKILL_FILE.search(arguments_json(call).casefold()) is not None
