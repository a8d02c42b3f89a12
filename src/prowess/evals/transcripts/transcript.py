"""One run of an agent host, in the same shape for every host.

A transcript is foreign data. Its texts are kept as they were written: escape them before they reach a terminal or a
page, and never use them as a path or a command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.agent import Usage

HostName = Literal["claude", "codex", "copilot", "gemini", "prowess", "cursor", "opencode"]
TranscriptForm = Literal["stream", "session"]
RunEnd = Literal["completed", "limit", "error", "cut"]
ActivatedBy = Literal["model", "user", "host"]

MAIN_AGENT = "main"


class SkillUse(Struct, frozen=True, kw_only=True, gc=False):
    """A call of the host's skill tool. `skill` is the name as the model wrote it."""

    skill: str


class FileRead(Struct, frozen=True, kw_only=True, gc=False):
    """A call of a tool that returns the contents of files."""

    paths: tuple[str, ...]


class ScriptRun(Struct, frozen=True, kw_only=True, gc=False):
    """A call of a tool that runs a script of a skill. `path` is relative to the skill's directory."""

    skill: str
    path: str


class ShellRun(Struct, frozen=True, kw_only=True, gc=False):
    """A call of a shell tool. `line` is for a shell; `words` is an argument vector, which one of both is None.

    `directory` is where the command runs, if the call tells it.
    """

    line: str | None = None
    words: tuple[str, ...] | None = None
    directory: str | None = None


CallAction = SkillUse | FileRead | ScriptRun | ShellRun


class TranscriptCall(Struct, frozen=True, kw_only=True, gc=False):
    """One tool call of the model, with its result.

    `actions` are its effects, if the host's tool is known; none for other tools. `result` is the text that the
    model got, None if the transcript has no result. `failed` is true if the host or the tool reported a failure.
    `refused` is true if a permission was missing. `unknown_skill` is true if the host answered that it has no such
    skill. `agent` is `main` or the id of a sub-agent. `at` is the number of its record, see `RunTranscript`.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    actions: tuple[CallAction, ...] = ()
    result: str | None = None
    failed: bool = False
    refused: bool = False
    unknown_skill: bool = False
    agent: str = MAIN_AGENT
    at: int = 0


class TranscriptMessage(Struct, frozen=True, kw_only=True, gc=False):
    """One text of a message. The role `host` is for texts that the host adds by itself, such as a skill's body."""

    role: Literal["user", "assistant", "host"]
    text: str
    agent: str = MAIN_AGENT
    at: int = 0


class SkillActivation(Struct, frozen=True, kw_only=True, gc=False):
    """An activation that the host recorded, or a call of its skill tool.

    `how` names its record, such as `command`, `skill block`, `context-load` or the tool's name.
    """

    skill: str
    by: ActivatedBy
    how: str
    agent: str = MAIN_AGENT
    at: int = 0


class RunTranscript(Struct, frozen=True, kw_only=True):
    """One run. `host` and `form` are None if the file has no record of a known host. `session` is the host's id of it.

    `offered` are the skills that the host listed, None if the transcript has no list; `locations` are the paths of
    their files, if the list has them. `commands` are the slash commands that the host listed. `ended` is `completed` if
    the model finished, `limit` if a limit of turns, time, tokens or cost stopped it, `error` if it failed, and `cut` if
    the transcript stops in the middle. `end_reason` is the host's word for it. `usage` is None if no tokens were
    reported. `directory` is the working directory of the host. `notes` are
    sentences about lines that could not be read and records of unknown types.

    `at` of messages, calls and activations counts from 1: the line in the file, or the message in a file that is a
    single JSON document. Sub-agents with files of their own count in their file.
    """

    host: HostName | None
    form: TranscriptForm | None
    session: str | None = None
    messages: tuple[TranscriptMessage, ...] = ()
    calls: tuple[TranscriptCall, ...] = ()
    activations: tuple[SkillActivation, ...] = ()
    offered: tuple[str, ...] | None = None
    locations: Mapping[str, str] = {}
    commands: tuple[str, ...] = ()
    ended: RunEnd
    end_reason: str | None = None
    end_at: int | None = None
    usage: Usage | None = None
    directory: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """The last text of the main agent; empty if it wrote none."""
        for message in reversed(self.messages):
            if message.role == "assistant" and message.agent == MAIN_AGENT:
                return message.text
        return ""
