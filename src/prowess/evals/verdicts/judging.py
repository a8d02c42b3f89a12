"""Judges one run: was the skill chosen, and could that be decided at all? The first verdict that fits holds.

1. `polluted`: the choice was not free. The query names the skill, the user or the host put it in, or a twin was
   offered.
2. `triggered`: the model called the skill tool with the name, read SKILL.md, or ran a script of the skill.
3. `not_offered`: the host does not know the skill, by its list or its answer.
4. `error`: the run has no regular end, or there is no transcript.
5. `not_triggered`: everything else, a limit of turns included.

An activation by the user or the host after the model's own choice changes nothing: it stays triggered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prowess._internal.globs import fits_text
from prowess.evals.transcripts.transcript import MAIN_AGENT, FileRead, ScriptRun, ShellRun, SkillUse
from prowess.evals.verdicts.shell_uses import shell_uses
from prowess.evals.verdicts.skill_names import folded, is_twin, names_skill, same_skill, skill_name
from prowess.evals.verdicts.step_words import SKILL_FILE, path_parts
from prowess.evals.verdicts.verdict import Evidence, SkillVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.transcripts.transcript import CallAction, RunTranscript, TranscriptCall
    from prowess.evals.verdicts.verdict import EvidenceKind, VerdictName

_MAX_EVIDENCE = 20
_DETAIL = 200  # characters
_KEEPS_DIRECTORY = frozenset({"claude", "copilot", "cursor"})  # hosts whose shell lives on after a call
_OF_A_HOST = re.compile(r"(?:^|/)\.(?:agents|codex|claude|gemini|github|copilot|cursor|opencode)/skills/")


def verdict_of(transcript: RunTranscript, *, skill: str, query: str | None = None) -> SkillVerdict:
    """Return the verdict on `skill`, a name such as `n` or `plugin:n`.

        verdict_of(read_transcript("run.jsonl"), skill="csv-report", query="Chart sales.csv").verdict == "triggered"

    Without a `query`, the messages of the user in the transcript are the query. Never raises.
    """
    uses = _Uses(transcript=transcript, skill=skill)
    offered = None if transcript.offered is None else any(same_skill(name, skill) for name in transcript.offered)
    if transcript.calls:
        uses.look(offered=offered)
    verdict, evidence = _decide(uses, query, offered=offered)
    return SkillVerdict(
        skill=skill,
        verdict=verdict,
        offered=offered,
        evidence=tuple(evidence[:_MAX_EVIDENCE]),
        unread_lines=uses.unread_lines,
    )


def _decide(uses: _Uses, query: str | None, *, offered: bool | None) -> tuple[VerdictName, list[Evidence]]:
    transcript = uses.transcript
    if polluting := [*_naming(uses, query), *_put_in(uses)]:
        return "polluted", polluting
    if uses.found:
        return "triggered", uses.found
    if offered is False:
        detail = "not in the list of skills of the host"
        return "not_offered", [Evidence(kind="list", at=None, agent=MAIN_AGENT, detail=detail), *uses.answers]
    if uses.answers:
        return "not_offered", uses.answers
    end = Evidence(
        kind="end", at=transcript.end_at, agent=MAIN_AGENT, detail=_short(transcript.end_reason or transcript.ended)
    )
    if transcript.host is None or transcript.ended in ("error", "cut"):
        return "error", [end]
    return "not_triggered", [end] if transcript.ended == "limit" else []


def _naming(uses: _Uses, query: str | None) -> Iterator[Evidence]:
    """Yield where the query names the skill, or the user's messages up to the model's choice."""
    if query is not None:
        if (words := names_skill(query, uses.skill)) is not None:
            yield Evidence(kind="user", at=None, agent=MAIN_AGENT, detail=_short(f"the query names it: {words}"))
        return
    for message in uses.transcript.messages:
        is_query = message.role == "user" and message.agent == MAIN_AGENT and uses.was_open(MAIN_AGENT, message.at)
        if is_query and (words := names_skill(message.text, uses.skill)) is not None:
            detail = _short(f"the query names it: {words}")
            yield Evidence(kind="user", at=message.at, agent=MAIN_AGENT, detail=detail)


def _put_in(uses: _Uses) -> Iterator[Evidence]:
    """Yield the activations by the user or the host before the model's choice, and the twins."""
    transcript, skill = uses.transcript, uses.skill
    by_model, shortest = [], len(skill_name(skill).base)
    for one in transcript.activations:
        if one.by == "model":
            by_model.append(one.skill)
        elif same_skill(one.skill, skill) and uses.was_open(one.agent, one.at):
            kind: EvidenceKind = "user" if one.by == "user" else "preload"
            yield Evidence(kind=kind, at=one.at, agent=one.agent, detail=_short(f"{one.how}: {one.skill}"))
    for name in dict.fromkeys((*(transcript.offered or ()), *transcript.commands, *by_model)):
        if len(name) > shortest and is_twin(name, skill):
            yield Evidence(kind="twin", at=None, agent=MAIN_AGENT, detail=_short(name))


class _Uses(Struct):
    """Collects the uses of a skill in the calls of a run, and the answers of a host that does not know it."""

    transcript: RunTranscript
    skill: str
    found: list[Evidence] = field(default_factory=list)
    answers: list[Evidence] = field(default_factory=list)
    unread_lines: int = 0
    inside: dict[str, bool] = field(default_factory=dict)
    copies: set[tuple[str, ...]] = field(default_factory=set)  # of its SKILL.md

    @property
    def is_cut(self) -> bool:
        """Whether the last calls may never have ended."""
        return self.transcript.ended in ("cut", "error")

    def look(self, *, offered: bool | None) -> None:
        """Look through all calls, those of sub-agents included."""
        transcript, base = self.transcript, skill_name(self.skill).base
        places = [path for name, path in transcript.locations.items() if same_skill(name, self.skill)]
        folders = frozenset({base, *(parts[-2] for path in places if len(parts := path_parts(path)) > 1)})
        keeps = transcript.host in _KEEPS_DIRECTORY
        directories: dict[str, str | None] = {}
        shown = [f"\nname: {folder}\n" for folder in folders]
        for call in transcript.calls:
            for action in call.actions:
                if isinstance(action, ShellRun):
                    start = directories.get(call.agent, transcript.directory)
                    # A command that does not name the file may show it, as `cat *`.
                    is_shown = call.result is not None and any(map(call.result.__contains__, shown))
                    if is_shown or self._concerns(action, start, folders):
                        after = self._shell(action, call, folders, start)
                        if keeps and "cwd was reset" not in (call.result or ""):
                            directories[call.agent] = after
                        elif keeps:
                            directories.pop(call.agent, None)
                else:
                    self._action(action, call, folders, offered=offered)

    def was_open(self, agent: str, at: int) -> bool:
        """Whether the model had not chosen yet at this record of an agent."""
        return all(one.at is None or one.agent != agent or at <= one.at for one in self.found)

    def _add(self, kind: EvidenceKind, call: TranscriptCall, detail: str) -> None:
        self.found.append(Evidence(kind=kind, at=call.at, agent=call.agent, detail=_short(detail)))

    def _action(
        self, action: CallAction, call: TranscriptCall, folders: frozenset[str], *, offered: bool | None
    ) -> None:
        match action:
            case SkillUse(skill=skill) if same_skill(skill, self.skill):
                if call.unknown_skill and not offered:
                    self._answer(call, call.result or "the host does not know it")
                elif call.result is None and offered is False:
                    pass  # the transcript stops before the answer to a name that is not in the list
                else:
                    self._add("call", call, f"{call.name}: {skill}{' (refused)' if call.refused else ''}")
            case ScriptRun(skill=skill, path=path) if same_skill(skill, self.skill) and not call.refused:
                self._add("script", call, path)
            case FileRead(paths=paths) if not (call.failed or (self.is_cut and call.result is None)):
                for path in paths:
                    if self._is_skill_file(path, call, folders):
                        self._add("read", call, path)
            case _:
                pass

    def _answer(self, call: TranscriptCall, detail: str) -> None:
        self.answers.append(Evidence(kind="answer", at=call.at, agent=call.agent, detail=_short(detail)))

    def _is_skill_file(self, path: str, call: TranscriptCall, folders: frozenset[str]) -> bool:
        if not self.copies and not _may_name_skill_file(path):
            return False
        parts = path_parts(path, self.transcript.directory)
        if tuple(parts) in self.copies:
            return True
        if len(parts) == 1 or not fits_text(SKILL_FILE, parts[-1]):
            return False
        if parts[-2] in folders:
            return not self._is_of_another_plugin(parts)
        is_pattern = "*" in path and any(fits_text(folder, parts[-2]) for folder in folders)
        shown = folded(call.result or "").replace("\\", "/") if is_pattern else ""
        return any(f"{folder}/{SKILL_FILE}" in shown for folder in folders)

    def _concerns(self, action: ShellRun, start: str | None, folders: frozenset[str]) -> bool:
        """Whether a command can have to do with the skill. Most commands have not, and are not taken apart."""
        text = (action.line if action.line is not None else " ".join(action.words or ())).casefold()
        if not text.isascii():
            text = folded(text)
        if SKILL_FILE in text or any(map(text.__contains__, folders)):
            return True
        if self.copies and any(copy[-1] in text for copy in self.copies):
            return True
        return any(self._is_inside(place, folders) for place in (start, action.directory) if place)

    def _is_inside(self, place: str, folders: frozenset[str]) -> bool:
        """Whether a directory can be one of the skill. A run has few directories."""
        if (known := self.inside.get(place)) is None:
            known = self.inside[place] = any(part in folders for part in path_parts(place))
        return known

    def _shell(self, action: ShellRun, call: TranscriptCall, folders: frozenset[str], start: str | None) -> str | None:
        uses = shell_uses(action, call, folders, start, is_cut=self.is_cut, copies=self.copies)
        self.unread_lines += uses.unread
        for use in uses.uses:
            if self._is_of_another_plugin(path_parts(use.path)):
                continue
            if not use.failed:
                self._add(use.kind, call, use.path)
            elif use.missing and self._tells_absence(use.path, call):
                self._answer(call, f"{use.path} is not there")
        return uses.directory

    def _is_of_another_plugin(self, parts: list[str]) -> bool:
        """Whether a path is in the folder of a plugin that has a skill of the same name."""
        plugin = skill_name(self.skill).plugin
        return plugin is not None and "plugins" in parts and plugin not in parts

    def _tells_absence(self, path: str, call: TranscriptCall) -> bool:
        """Whether a failed read answers that the host has no such skill: Codex has no skill tool that could."""
        run = self.transcript
        could_tell = run.host == "codex" and run.offered is None and call.result is not None and not call.refused
        return could_tell and _OF_A_HOST.search(path) is not None


def _may_name_skill_file(path: str) -> bool:
    """Whether a path can end with SKILL.md, at a glance: most paths do not."""
    return not path.isascii() or "*" in path or "?" in path or "[" in path or SKILL_FILE in path.casefold()


def _short(text: str) -> str:
    return text if len(text) <= _DETAIL else f"{text[:_DETAIL]}..."
