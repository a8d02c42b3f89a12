"""Codex: the lines of `codex exec --json`, and rollout files below `sessions/`.

Codex has no skill tool: its model reads SKILL.md with a shell. A stream has each command as one string; a rollout has
the calls as the model wrote them, the list of skills in a developer message, and a mentioned skill as a user message
with a `<skill>` block. Sources: Codex 0.169.0, public samples from 0.46 on.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from prowess.evals.transcripts.assembly import Assembly, arguments_of, mapping, rows, text, text_of
from prowess.evals.transcripts.transcript import MAIN_AGENT, ShellRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.transcripts.assembly import OpenCall
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import CallAction, TranscriptForm

_ROLLOUT = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_SILENT = frozenset(
    {
        *(
            "turn.started",
            "turn_context",
            "compacted",
            "world_state",
            "token_usage_record",
            "item.updated",
            "ghost_snapshot",
        ),
        "inter_agent_communication",
    }
)
_FEW = 20  # messages among which the request may stand already
_ITEMS = frozenset(
    {"message", "function_call", "function_call_output", "local_shell_call", "custom_tool_call", "reasoning"}
)
_SKILLS = re.compile(r"^- ([^\s:]+(?::[^\s:]+)*):?\s(?:.*\s)?\(file: ([^)\n]*)\)", re.MULTILINE)
_ROOT = re.compile(r"^- `(\w+)` = `([^`\n]+)`", re.MULTILINE)
_BLOCK = re.compile(r"\s*<skill>\s*<name>\s*(.*?)\s*</name>", re.DOTALL)
_HOST_TEXT = re.compile(r"\s*(?:<[a-zA-Z_]+>|# AGENTS\.md instructions)")
_HEAD = re.compile(r"\A(?:(?!Output:).*\n){0,8}?(?:Process exited with code|Exit code:) (-?\d+)")
_FAILURE = re.compile(
    r"\A(?:exec_command|shell|write_stdin)? ?(?:failed|error|rejected|aborted|unsupported call)\b", re.IGNORECASE
)
_LITERAL = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\$])*`"
_IN_PROGRAM = re.compile(rf"""\b(?:cmd|command)["']?\s*:\s*({_LITERAL}|\[[^\]]*\])""")
_DIRECTORY = re.compile(rf"""\bworkdir["']?\s*:\s*({_LITERAL})""")


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of Codex's, else None."""
    kind = record.get("type")
    if type(kind) is not str:
        return "session" if record.get("record_type") == "state" else None
    if kind in _ROLLOUT:
        return "session" if "payload" in record else None
    if kind == "thread.started":
        return "stream" if "thread_id" in record else None
    if kind.startswith("item."):
        return "stream" if "item" in record else None
    if kind.startswith("turn."):
        return "stream"
    return (
        "session"
        if kind in _ITEMS and ("role" in record or "call_id" in record) and "timestamp" not in record
        else None
    )


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read a stream or a rollout."""
    run = _Reading(form)
    for at, record in records.items:
        if form == "stream":
            run.event(record, at)
        else:
            run.line(record, at)
    return run.assembly


class _Reading:
    def __init__(self, form: TranscriptForm) -> None:
        self.assembly = Assembly(host="codex", form=form)
        self._agent = MAIN_AGENT

    # ── the stream ──────────────────────────────────────────────────────────────────────────────────────────

    def event(self, record: HostRecord, at: int) -> None:
        run, kind = self.assembly, text(record.get("type"))
        if kind in ("item.completed", "item.started"):
            self._item(mapping(record.get("item")), at)
        elif kind == "turn.completed":
            run.end("completed", kind, at)
            usage = mapping(record.get("usage"))
            if usage:
                run.spend(usage.get("input_tokens"), usage.get("output_tokens"))
        elif kind == "turn.failed":
            run.end("error", mapping(record.get("error")).get("message"), at)
        elif kind == "turn.started":
            run.forget_ids()  # each turn of a process counts its items from 0
            run.end("cut", "a turn has no end", at)
        elif kind == "thread.started":
            run.session = text(record.get("thread_id")) or None
        elif kind == "error":
            if run.ended == "cut":
                run.end_reason = text(record.get("message"))[:500] or None
        elif kind not in _SILENT:
            run.skip(kind)

    def _item(self, item: HostRecord, at: int) -> None:
        run, kind, id_ = self.assembly, item.get("type") or item.get("item_type"), item.get("id")
        if kind == "command_execution":
            call = run.call(id_, "command_execution", {"command": item.get("command")}, MAIN_AGENT, at)
            call.actions = _command(item.get("command"), None)
            _complete(call, item)
        elif kind in ("agent_message", "assistant_message"):
            run.say("assistant", text(item.get("text")), MAIN_AGENT, at)
        elif kind == "mcp_tool_call":
            call = run.call(id_, item.get("tool"), item.get("arguments"), MAIN_AGENT, at)
            call.result = text_of(mapping(item.get("result")).get("content")) or call.result
            call.failed = item.get("status") == "failed" or bool(item.get("error"))
        elif kind in ("collab_tool_call", "file_change", "web_search"):
            run.call(id_, item.get("tool") or kind, {"prompt": item.get("prompt")}, MAIN_AGENT, at)
        elif kind == "error":
            run.end_reason = run.end_reason or text(item.get("message"))[:500] or None
        elif kind not in ("reasoning", "todo_list", "plan"):
            run.skip(f"item {kind}")

    # ── the rollout ─────────────────────────────────────────────────────────────────────────────────────────

    def line(self, record: HostRecord, at: int) -> None:
        kind, payload = text(record.get("type")), mapping(record.get("payload"))
        if kind == "response_item":
            self._response(payload, at)
        elif kind == "event_msg" and payload.get("type") == "user_message":
            self._request(text(payload.get("message")), at)
        elif kind == "event_msg":
            self._message(payload, at)
        elif kind == "session_meta":
            self._meta(payload)
        elif kind in _ITEMS and not payload:
            self._response(record, at)  # files of early versions have the items without an envelope
        elif kind == "turn_context":
            self.assembly.directory = self.assembly.directory or text(payload.get("cwd")) or None
        elif kind not in _SILENT and record.get("record_type") != "state":
            self.assembly.skip(kind)

    def _request(self, said: str, at: int) -> None:
        """Add the user's request, unless an item has it already."""
        if all(said != message.text for message in self.assembly.messages[-_FEW:]):
            self.assembly.say("user", said, self._agent, at)

    def _meta(self, payload: HostRecord) -> None:
        run = self.assembly
        if run.session is None:
            run.session = text(payload.get("id")) or None
            run.directory = text(payload.get("cwd")) or None
            source = payload.get("source")
            if (type(source) is dict and "subagent" in source) or payload.get("thread_source") == "subagent":
                self._agent = run.session or "sub-agent"

    def _response(self, item: HostRecord, at: int) -> None:
        run, kind = self.assembly, item.get("type")
        if kind == "message":
            self._said(item, at)
        elif kind == "function_call":
            call = run.call(item.get("call_id"), item.get("name"), item.get("arguments"), self._agent, at)
        elif kind == "local_shell_call":
            action = mapping(item.get("action"))
            call = run.call(item.get("call_id") or item.get("id"), "local_shell", action, self._agent, at)
        elif kind == "custom_tool_call":
            program = item.get("input")
            call = run.call(item.get("call_id"), item.get("name"), {"input": program}, self._agent, at)
            call.actions = tuple(_program(text(program)))
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            if (found := run.find(item.get("call_id"), self._agent)) is not None:
                _output(found, item.get("output"))
        elif kind not in (
            "reasoning",
            "ghost_snapshot",
            "compaction",
            "web_search_call",
            "tool_search_call",
            "agent_message",
        ):
            run.skip(f"response_item {kind}")

    def _said(self, item: HostRecord, at: int) -> None:
        run, role, parts = self.assembly, item.get("role"), rows(item.get("content"))
        if role == "assistant":
            run.say("assistant", text_of(item.get("content")), self._agent, at)
            return
        kinds = rows(mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_metadata"))
        for place, part in enumerate(parts):
            said = text(part.get("text"))
            by = mapping(kinds[place].get("provenance")).get("type") if place < len(kinds) else None
            if "(file: " in said and ("## Skills" in said or "### Available skills" in said):
                self._listing(said)
            if role == "user" and (block := _BLOCK.match(said)) is not None:
                run.activate(block[1], "user", "skill block", self._agent, at)
            elif role == "user" and by != "harness" and (by == "user" or not _HOST_TEXT.match(said)):
                run.say("user", said, self._agent, at)
            else:
                run.say("host", said, self._agent, at)

    def _listing(self, said: str) -> None:
        roots = dict(_ROOT.findall(said))
        paths = {}
        for name, path in _SKILLS.findall(said):
            root, _, rest = path.partition("/")
            paths[name] = f"{roots[root]}/{rest}" if root in roots else path
        self.assembly.offer(paths, paths)

    def _message(self, payload: HostRecord, at: int) -> None:
        run, kind = self.assembly, payload.get("type")
        if kind in ("task_complete", "turn_complete"):
            error = payload.get("error")
            run.end("error" if error else "completed", text(mapping(error).get("message")) or text(error) or kind, at)
        elif kind in ("task_started", "turn_started"):
            run.end("cut", "a turn has no end", at)
        elif kind == "turn_aborted":
            run.end("error", text(payload.get("reason")) or kind, at)
        elif kind == "error":
            run.end("error", payload.get("message"), at)
        elif kind == "token_count":
            total = mapping(mapping(payload.get("info")).get("total_token_usage"))
            if total:
                run.input_tokens = run.output_tokens = 0
                run.spend(total.get("input_tokens"), total.get("output_tokens"))
        elif kind == "exec_command_end":
            if (call := run.find(payload.get("call_id"), self._agent)) is not None:
                _complete(call, payload)
        elif kind == "item_completed":
            item = mapping(payload.get("item"))
            if item.get("type") == "CommandExecution" and (call := run.find(item.get("id"), self._agent)) is not None:
                _complete(call, item)


def _complete(call: OpenCall, item: HostRecord) -> None:
    """Take the result of a command from its record."""
    exit_code, status = item.get("exit_code"), item.get("status")
    if status == "in_progress":
        return
    if "aggregated_output" in item or call.result is None:
        call.result = text(item.get("aggregated_output"))
    call.failed = status in ("failed", "declined") or (type(exit_code) is int and exit_code != 0)
    call.refused = status == "declined"


def _output(call: OpenCall, output: object) -> None:
    """Take the result of a call from the text that the model got. The record of the command itself counts more."""
    told = mapping(output)
    body = text_of(told.get("content")) or text_of(told.get("output")) if told else text_of(output)
    failed = told.get("success") is False
    if body.startswith("{"):
        answer = arguments_of(body)
        if isinstance(shown := answer.get("output"), str):
            code = mapping(answer.get("metadata")).get("exit_code")
            body, failed = shown, failed or (type(code) is int and code != 0)
    head = _HEAD.match(body)
    failed = failed or (head is not None and head[1] != "0") or _FAILURE.match(body) is not None
    if call.result is None:
        call.result, call.failed = body.partition("Output:\n")[2] if head is not None else body, failed
    call.refused = call.refused or "rejected by" in body[:200]


def _command(command: object, directory: str | None) -> tuple[CallAction, ...]:
    if type(command) is str and command:
        return (ShellRun(line=command, directory=directory),)
    if type(command) is list and command and all(isinstance(word, str) for word in command):
        return (ShellRun(words=tuple(command), directory=directory),)
    return ()


def _program(source: str) -> Iterator[CallAction]:
    """Yield the commands that a program of the tool `exec` gives to the shell as literals."""
    for match in _IN_PROGRAM.finditer(source):
        place = _DIRECTORY.search(source, match.end(), source.find("}", match.end()) + 1 or len(source))
        directory = None if place is None else _unquoted(place[1])
        if match[1].startswith("["):
            try:
                words = json.loads(match[1])
            except ValueError:
                continue
            yield from _command(words, directory)
        else:
            yield from _command(_unquoted(match[1]), directory)


def _unquoted(literal: str) -> str:
    inner = literal[1:-1]
    simple = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda match: simple.get(match[1], match[1]), inner, flags=re.DOTALL)
