"""Collects the facts of a host's records, in order, and makes a transcript of them.

A host may record one call several times: as the model asked for it, as it started, as it ended. Records of one call
have one id; its first record gives its place, later ones complete it. Some models give an id twice to different calls:
these stay apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec import Struct, field

from prowess.agent import Usage
from prowess.evals.transcripts.tools import actions_of
from prowess.evals.transcripts.transcript import (
    MAIN_AGENT,
    RunTranscript,
    SkillActivation,
    SkillUse,
    TranscriptCall,
    TranscriptMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from prowess.evals.transcripts.records import HostRecord
    from prowess.evals.transcripts.transcript import ActivatedBy, CallAction, HostName, RunEnd, TranscriptForm

_EMPTY: HostRecord = {}
_SKILL_TOOLS = frozenset({"skill", "activate_skill"})
_MOST_DOLLARS = 1e9  # a larger amount is no cost of a run


_PUT_IN = re.compile(  # the body of a skill inside a message; a list of available skills has other elements
    r"(?:<(?:skill[-_]context|activated_skill|loaded_skill|skill_content)\b|\A\s*<skill\b)([^>]*)>(.{0,400})",
    re.DOTALL,
)
_NAME = re.compile(
    r"\bname=[\"']([^\"']+)[\"']|<name>\s*([^<]+?)\s*</name>|^\s*name:\s*[\"']?([^\"'\n]+)", re.MULTILINE
)
_FOLDER = re.compile(r"Base directory for this skill: (?:[^\n]*[/\\])?([^/\\\n]+)")


class OpenCall(Struct, gc=False):
    """A call whose records are still being read. `actions` is None if they follow from name and arguments."""

    id: str
    name: str
    arguments: Mapping[str, object]
    agent: str
    at: int
    actions: tuple[CallAction, ...] | None = None
    result: str | None = None
    failed: bool = False
    refused: bool = False
    unknown_skill: bool = False
    dropped: bool = False


class Assembly(Struct):
    """The facts that have been read so far.

    `unknown` counts the types of records that no reader knows. `asked` are the names, without case, that the model gave
    to a skill tool.
    """

    host: HostName
    form: TranscriptForm
    messages: list[TranscriptMessage] = field(default_factory=list)
    activations: list[SkillActivation] = field(default_factory=list)
    calls: list[OpenCall] = field(default_factory=list)
    offered: dict[str, str | None] | None = None
    commands: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    directory: str | None = None
    session: str | None = None
    ended: RunEnd = "cut"
    end_reason: str | None = None
    end_at: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    has_usage: bool = False
    has_paths: bool = False
    cost_usd: float | None = None
    by_id: dict[tuple[str, str], OpenCall] = field(default_factory=dict)
    by_id_alone: dict[str, OpenCall] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def say(self, role: Literal["user", "assistant", "host"], text: str, agent: str, at: int) -> None:
        """Add a text, unless it is empty. A skill inside a text of the user or the host was put in by it."""
        if text:
            if role != "assistant" and "<" in text and (found := _PUT_IN.search(text)) is not None:
                self.activate(_named(found), "host", "skill context", agent, at)
            self.messages.append(TranscriptMessage(role=role, text=text, agent=agent, at=at))

    def call(self, id_: object, name: object, arguments: object, agent: str, at: int) -> OpenCall:
        """Add a call, or complete the one with this id."""
        name = name if isinstance(name, str) else ""
        given = arguments_of(arguments)
        key = (agent, id_) if isinstance(id_, str) else (agent, f"#{len(self.calls)}")
        known = self.by_id.get(key)
        if known is not None and (not name or not known.name or name == known.name):
            if known.arguments == given or not given:
                return known
            if not known.arguments:
                known.arguments, known.name = given, name or known.name
                return known
        opened = OpenCall(id=key[1], name=name, arguments=given, agent=agent, at=at)
        self.by_id[key] = self.by_id_alone[key[1]] = opened
        if name.casefold() in _SKILL_TOOLS:
            self.asked |= {value.rpartition(":")[2].casefold() for value in given.values() if type(value) is str}
        self.calls.append(opened)
        return opened

    def forget_ids(self) -> None:
        """Take later calls as new ones, also with an id that came before."""
        self.by_id.clear()
        self.by_id_alone.clear()

    def find(self, id_: object, agent: str) -> OpenCall | None:
        """Return the call with this id, of this agent or else of another one."""
        if not isinstance(id_, str):
            return None
        return self.by_id.get((agent, id_)) or self.by_id.get((MAIN_AGENT, id_)) or self.by_id_alone.get(id_)

    def activate(self, skill: object, by: ActivatedBy, how: str, agent: str, at: int) -> None:
        """Add an activation that the host recorded."""
        if isinstance(skill, str) and skill:
            self.activations.append(SkillActivation(skill=skill.strip(), by=by, how=how, agent=agent, at=at))

    def offer(self, names: Iterable[object], paths: Mapping[str, str] | None = None) -> None:
        """Add names to the list of offered skills. An empty list is a list, too."""
        if self.offered is None:
            self.offered = {}
        self.has_paths = self.has_paths or bool(paths)
        for one in names:
            name = one.get("name") if type(one) is dict else one
            if type(name) is str and name:
                self.offered.setdefault(name, None if paths is None else paths.get(name))

    def end(self, ended: RunEnd, reason: object, at: int) -> None:
        """State how the run ended. The last statement counts."""
        self.ended, self.end_at = ended, at
        self.end_reason = reason[:500] if isinstance(reason, str) and reason else None

    def spend(self, input_tokens: object, output_tokens: object) -> None:
        """Add tokens."""
        self.input_tokens += count_of(input_tokens)
        self.output_tokens += count_of(output_tokens)
        self.has_usage = True

    def skip(self, kind: object) -> None:
        """Note a record of an unknown type."""
        name = str(kind)[:80] if isinstance(kind, str) else "no type"
        self.unknown[name] = self.unknown.get(name, 0) + 1

    def transcript(self, notes: tuple[str, ...] = ()) -> RunTranscript:
        """Return the transcript."""
        calls = tuple(_closed(call) for call in self.calls if not call.dropped)
        if self.unknown:
            named = ", ".join(f"{kind} ({count})" for kind, count in list(self.unknown.items())[:20])
            notes = (*notes, f"records of unknown types are left out: {named}")
        return RunTranscript(
            host=self.host,
            form=self.form,
            session=self.session,
            messages=tuple(self.messages),
            calls=calls,
            activations=_activations(self.activations, calls),
            offered=None if self.offered is None else tuple(self.offered),
            locations={name: path for name, path in (self.offered or {}).items() if path} if self.has_paths else {},
            commands=tuple(self.commands),
            ended=self.ended,
            end_reason=self.end_reason,
            end_at=self.end_at,
            usage=self._usage(),
            directory=self.directory,
            notes=notes,
        )

    def _usage(self) -> Usage | None:
        if not self.has_usage:
            return None
        return Usage(input_tokens=self.input_tokens, output_tokens=self.output_tokens, cost_usd=self.cost_usd)


def _closed(call: OpenCall) -> TranscriptCall:
    return TranscriptCall(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        actions=actions_of(call.name, call.arguments) if call.actions is None else call.actions,
        result=call.result,
        failed=call.failed,
        refused=call.refused,
        unknown_skill=call.unknown_skill,
        agent=call.agent,
        at=call.at,
    )


def _activations(recorded: list[SkillActivation], calls: tuple[TranscriptCall, ...]) -> tuple[SkillActivation, ...]:
    """Return the recorded activations and those by a call of the skill tool, in the order of the records."""
    used = [
        SkillActivation(skill=action.skill, by="model", how=call.name, agent=call.agent, at=call.at)
        for call in calls
        if not call.unknown_skill
        for action in call.actions
        if isinstance(action, SkillUse)
    ]
    return tuple(sorted([*recorded, *used], key=lambda activation: activation.at)) if recorded or used else ()


def _named(found: re.Match[str]) -> str | None:
    """Return the name of the skill whose body begins here."""
    for pattern in (_NAME, _FOLDER):
        if (match := pattern.search(found[1]) or pattern.search(found[2])) is not None:
            return next(group for group in match.groups() if group)
    return None


# ── Values of foreign records ────────────────────────────────────────────────────────────────────────────────


def mapping(value: object) -> HostRecord:
    """Return the value if it is an object, else an empty one."""
    return cast("HostRecord", value) if type(value) is dict else _EMPTY


def rows(value: object) -> list[HostRecord]:
    """Return the objects of a list; none if the value is no list."""
    return [row for row in value if type(row) is dict] if type(value) is list else []


def text(value: object) -> str:
    """Return the value if it is a text, else an empty one."""
    return value if type(value) is str else ""


def text_of(content: object) -> str:
    """Return the text of a message's content: a text, or a list of texts and of parts with `text` or `content`."""
    if type(content) is str:
        return content
    if type(content) is not list:
        return ""
    parts = [part if type(part) is str else _part_text(part) for part in content]
    return "\n".join(part for part in parts if part)


def _part_text(part: object) -> str:
    if type(part) is not dict:
        return ""
    return text(part.get("text")) or text(part.get("content"))


def count_of(value: object) -> int:
    """Return a count of tokens; 0 for anything else."""
    return value if type(value) is int and value > 0 else 0


def dollars_of(value: object) -> float | None:
    """Return an amount in US dollars; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _MOST_DOLLARS:
        return None
    return float(value)


def arguments_of(value: object) -> Mapping[str, object]:
    """Return the arguments of a call: an object, or the JSON text of one. Other values are under the key `input`."""
    if type(value) is dict:
        return value
    if type(value) is str and value:
        try:
            parsed = msgspec.json.decode(value)
        except (ValueError, RecursionError):
            return {"input": value}
        return parsed if isinstance(parsed, dict) else {"input": value}
    return _EMPTY
