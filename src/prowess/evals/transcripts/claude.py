"""Claude Code: the lines of `--output-format stream-json`, and session files with those of their sub-agents.

Both hold the provider's messages. A stream begins with `system/init` (again after a background agent) and ends with
`result` (possibly again); with partial messages, `stream_event` repeats them in parts. A session file has no record of
its end: the stop reason of the last answer tells it. Sources: Claude Code 2.1.328, and public samples from 1.0 on.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from prowess.evals.transcripts.assembly import Assembly, count_of, dollars_of, mapping, rows, text, text_of
from prowess.evals.transcripts.transcript import MAIN_AGENT

if TYPE_CHECKING:
    from prowess.evals.transcripts.records import HostRecord, Records
    from prowess.evals.transcripts.transcript import RunEnd, TranscriptForm

_OF_INIT = frozenset({"tools", "skills", "slash_commands", "mcp_servers", "agents", "plugins", "claude_code_version"})
_LIMITS = frozenset({"error_max_turns", "error_max_budget_usd", "max_turns", "max_turns_reached", "max_budget_usd"})
_BODY = "Base directory for this skill: "
_COMMAND = re.compile(r"<command-name>\s*(/?)([^<]+?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_LISTED = re.compile(r"^- (.+?)(?:: .*|:?)$", re.MULTILINE)
_HOST_TEXT = re.compile(
    r"\s*(?:<(?:local-command|bash-|command-|task-notification|system-reminder)|\[Request interrupted)"
)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_UNKNOWN_SKILL = re.compile(r"(?:<tool_use_error>)?\s*(?:Error: )?Unknown skill\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"permission to use|requested permissions|user doesn't want to proceed|blocked by permission|permission rules"
    r"|has been denied|execution blocked by",
    re.IGNORECASE,
)
_SILENT = frozenset(  # records that say nothing of messages, calls or the end
    {
        *("queue-operation", "api-request", "api-request-shape", "api-request-blob", "tools-used", "atis-latch"),
        *("last-prompt", "cost-state", "file-history-snapshot", "summary", "mode", "permission-mode", "custom-title"),
        *("agent-name", "ai-title", "pr-link", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"),
        *("prompt_suggestion", "control_request", "control_response", "keep_alive", "streamlined_text"),
        *(
            "content-replacement",
            "worktree-state",
            "attribution-snapshot",
            "speculation-accept",
            "marble-origami-commit",
        ),
    }
)


def form_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if the record is one of Claude Code's, else None."""
    kind = text(record.get("type"))
    if "sessionId" in record:
        is_session = "parentUuid" in record or kind in _SILENT or "leafUuid" in record
        return "session" if is_session else None
    if kind in ("summary", "file-history-snapshot") or "parentUuid" in record:
        return "session"
    return "stream" if _is_of_stream(record, kind) else None


def may_be_of(record: HostRecord) -> TranscriptForm | None:
    """Return the form if a record could be one of Claude Code's: samples often have few of its records."""
    kind, message = record.get("type"), mapping(record.get("message"))
    if kind in ("user", "assistant"):
        return "stream" if message.get("role") == kind or type(message.get("content")) is list else None
    is_end = kind == "result" and "is_error" in record
    return "stream" if is_end or (kind == "system" and record.get("subtype") == "init") else None


def _is_of_stream(record: HostRecord, kind: object) -> bool:
    match kind:
        case "system":
            is_init = record.get("subtype") == "init"
            return "session_id" in record and (not is_init or not _OF_INIT.isdisjoint(record))
        case "assistant":
            is_message = "id" in (message := mapping(record.get("message"))) or "stop_reason" in message
            return is_message and "session_id" in record
        case "user":
            return "session_id" in record and "parent_tool_use_id" in record
        case "result":
            return "num_turns" in record or "total_cost_usd" in record or "permission_denials" in record
    return kind == "stream_event"


def read(records: Records, form: TranscriptForm) -> Assembly:
    """Read a stream or a session file."""
    run = _Reading(form)
    for at, record in records.items:
        run.record(record, at)
    run.finish()
    return run.assembly


class _Reading:
    def __init__(self, form: TranscriptForm) -> None:
        self.assembly = Assembly(host="claude", form=form)
        self._is_stream = form == "stream"
        self._blocks: dict[tuple[str, int], tuple[int, HostRecord, list[str]]] = {}
        self._started: list[tuple[str, int, HostRecord, list[str]]] = []
        self._paid: dict[str, HostRecord] = {}

    def record(self, record: HostRecord, at: int) -> None:
        kind = text(record.get("type"))
        if kind == "assistant":
            self._assistant(record, at)
        elif kind == "user":
            self._user(record, at)
        elif kind == "stream_event":
            self._part(record, at)
        elif kind == "attachment":
            self._attachment(mapping(record.get("attachment")), self._agent(record), at)
        elif kind == "system":
            self._system(record, at)
        elif kind == "result":
            self._result(record, at)
        elif kind == "progress":
            self._progress(mapping(record.get("data")), at)
        elif kind not in _SILENT:
            self.assembly.skip(kind)

    def finish(self) -> None:
        """Add the calls whose parts ended but whose message never came (the stream stops there), and the usage."""
        for agent, at, block, parts in self._started:
            if isinstance(id_ := block.get("id"), str) and (agent, id_) not in self.assembly.by_id:
                self.assembly.call(id_, block.get("name"), "".join(parts), agent, at)
        for usage in self._paid.values():
            self.assembly.spend(_input(usage), usage.get("output_tokens"))

    def _agent(self, record: HostRecord) -> str:
        if self._is_stream:
            parent = record.get("parent_tool_use_id")
            return parent if type(parent) is str and parent else MAIN_AGENT
        if record.get("isSidechain") is not True:
            return MAIN_AGENT
        return text(record.get("agentId")) or "sidechain"

    def _begin(self, record: HostRecord) -> None:
        run = self.assembly
        if run.session is None:
            run.session = text(record.get("session_id")) or text(record.get("sessionId")) or None
        if run.directory is None:
            run.directory = text(record.get("cwd")) or None

    # ── messages ────────────────────────────────────────────────────────────────────────────────────────────

    def _assistant(self, record: HostRecord, at: int) -> None:
        self._begin(record)
        agent, message = self._agent(record), mapping(record.get("message"))
        content, called = message.get("content"), False
        if type(content) is str:
            self.assembly.say("assistant", content, agent, at)
        for block in rows(content):
            kind = block.get("type")
            if kind == "tool_use":
                called = True
                self.assembly.call(block.get("id"), block.get("name"), block.get("input"), agent, at)
            elif kind == "text":
                self.assembly.say("assistant", text(block.get("text")), agent, at)
        if not self._is_stream:
            self._spend(message)
        if agent == MAIN_AGENT and not self._is_stream:
            self._stop(record, message, called=called, at=at)

    def _spend(self, message: HostRecord) -> None:
        usage = mapping(message.get("usage"))
        if usage and isinstance(id_ := message.get("id"), str):
            self._paid[id_] = usage  # several records of one message repeat its usage; the last is complete

    def _stop(self, record: HostRecord, message: HostRecord, *, called: bool, at: int) -> None:
        run, reason = self.assembly, message.get("stop_reason")
        if record.get("isApiErrorMessage") is True or record.get("error"):
            run.end("error", text_of(message.get("content")) or text(record.get("error")), at)
        elif called or reason in ("tool_use", "pause_turn"):
            run.end("cut", "the last answer calls a tool", at)
        elif reason == "max_tokens":
            run.end("limit", "max_tokens", at)
        else:
            run.end("completed", reason, at)

    def _user(self, record: HostRecord, at: int) -> None:
        self._begin(record)
        run, agent = self.assembly, self._agent(record)
        content = mapping(record.get("message")).get("content")
        is_host = any(record.get(key) is True for key in ("isMeta", "isSynthetic", "isCompactSummary"))
        if type(content) is str:
            self._said(content, record, agent, at, is_host=is_host)
            return
        for block in rows(content):
            kind = block.get("type")
            if kind == "tool_result":
                self._tool_result(block, agent)
                if agent == MAIN_AGENT and not self._is_stream and run.end_reason != "max_turns_reached":
                    run.end("cut", "the last record is the result of a tool", at)
            elif kind == "text":
                self._said(text(block.get("text")), record, agent, at, is_host=is_host)

    def _said(self, said: str, record: HostRecord, agent: str, at: int, *, is_host: bool) -> None:
        run = self.assembly
        if said.startswith(_BODY):
            self._body(said, record, agent, at)
        elif (command := _COMMAND.search(said)) is not None and (command[1] or not is_host):
            run.activate(command[2].lstrip("/"), "user", "command", agent, at)
            given = _ARGUMENTS.search(said)
            run.say("user", f"/{command[2]} {given[1] if given is not None else ''}".strip(), agent, at)
            return
        plain = _REMINDER.sub("", said) if "<system-reminder>" in said else said
        if is_host or said.startswith(_BODY) or _HOST_TEXT.match(plain):
            run.say("host", said, agent, at)
            if said.startswith("[Request interrupted") and not self._is_stream and agent == MAIN_AGENT:
                run.end("error", said, at)
            return
        run.say("user", plain.strip(), agent, at)
        if agent == MAIN_AGENT and not self._is_stream:
            run.end("cut", "the last record is a message of the user", at)

    def _body(self, said: str, record: HostRecord, agent: str, at: int) -> None:
        """Note a skill's body that no call of the model asked for."""
        name = posixpath.basename(said[len(_BODY) :].split("\n", 1)[0].strip().replace("\\", "/").rstrip("/"))
        asked = record.get("sourceToolUseID") is not None or name.casefold() in self.assembly.asked
        if not asked:
            self.assembly.activate(name, "user" if agent == MAIN_AGENT else "host", "skill body", agent, at)

    def _tool_result(self, block: HostRecord, agent: str) -> None:
        call = self.assembly.find(block.get("tool_use_id"), agent)
        if call is None:
            return
        call.result = text_of(block.get("content"))
        if block.get("is_error") is True:
            call.failed = True
            call.unknown_skill = _UNKNOWN_SKILL.match(call.result) is not None
            call.refused = call.refused or _REFUSAL.search(call.result) is not None

    # ── other records ───────────────────────────────────────────────────────────────────────────────────────

    def _system(self, record: HostRecord, at: int) -> None:
        self._begin(record)
        run, subtype = self.assembly, record.get("subtype")
        if subtype == "init":
            if self._is_stream:
                run.end("cut", "a turn has no end", at)
            if type(skills := record.get("skills")) is list:
                run.offer(skills)
            if type(commands := record.get("slash_commands")) is list:
                run.commands.update(dict.fromkeys(name for name in commands if type(name) is str))
        elif subtype == "api_error" and not self._is_stream:
            run.end("error", text(mapping(record.get("error")).get("formatted")) or "api_error", at)
        elif subtype == "permission_denied":
            call = run.find(record.get("tool_use_id"), MAIN_AGENT)
            if call is not None:
                call.refused = True
        elif subtype == "local_command" and (command := _COMMAND.search(text(record.get("content")))) is not None:
            run.activate(command[2].lstrip("/"), "user", "command", self._agent(record), at)

    def _attachment(self, attachment: HostRecord, agent: str, at: int) -> None:
        kind = attachment.get("type")
        if kind == "skill_listing":
            names = attachment.get("names")
            listed = _LISTED.findall(text(attachment.get("content"))) if type(names) is not list else names
            self.assembly.offer(listed)
        elif kind == "max_turns_reached":
            self.assembly.end("limit", "max_turns_reached", at)
        elif kind == "queued_command" and (command := _COMMAND.search(text(attachment.get("prompt")))) is not None:
            self.assembly.activate(command[2].lstrip("/"), "user", "command", agent, at)

    def _result(self, record: HostRecord, at: int) -> None:
        self._begin(record)
        run, subtype, why = self.assembly, text(record.get("subtype")), text(record.get("terminal_reason"))
        ended: RunEnd = "completed"
        if subtype in _LIMITS or why in _LIMITS:
            ended = "limit"
        elif subtype != "success" or record.get("is_error") is True:
            ended = "error"
        reason = text(record.get("result")) if ended == "error" else ""
        run.end(ended, reason or subtype or why, at)
        usage = mapping(record.get("usage"))
        run.input_tokens, run.output_tokens, run.has_usage = (
            _input(usage),
            count_of(usage.get("output_tokens")),
            bool(usage),
        )
        run.cost_usd = dollars_of(record.get("total_cost_usd"))
        for denial in rows(record.get("permission_denials")):
            if (call := run.find(denial.get("tool_use_id"), MAIN_AGENT)) is not None:
                call.refused = True

    def _progress(self, data: HostRecord, at: int) -> None:
        """Read the message of a sub-agent that an older version wrote into the main session file."""
        message = mapping(mapping(data.get("message")).get("message"))
        agent = text(data.get("agentId")) or "sidechain"
        for block in rows(message.get("content")):
            if block.get("type") == "tool_use":
                self.assembly.call(block.get("id"), block.get("name"), block.get("input"), agent, at)
            elif block.get("type") == "tool_result":
                self._tool_result(block, agent)

    def _part(self, record: HostRecord, at: int) -> None:
        event = mapping(record.get("event"))
        kind = event.get("type")
        if kind == "content_block_delta":
            if (block := self._blocks.get(_place(record, event))) is not None:
                block[2].append(text(mapping(event.get("delta")).get("partial_json")))
        elif kind == "content_block_start":
            opened = mapping(event.get("content_block"))
            key = _place(record, event)
            self._blocks.pop(key, None)
            if opened.get("type") == "tool_use":
                self._blocks[key] = (at, opened, [])
        elif kind == "content_block_stop":
            key = _place(record, event)
            if (ended := self._blocks.pop(key, None)) is not None:
                self._started.append((self._agent(record), *ended))


def _place(record: HostRecord, event: HostRecord) -> tuple[str, int]:
    """Return the key of a block that comes in parts: its agent, and its place in the message."""
    index = event.get("index")
    return text(record.get("parent_tool_use_id")), index if type(index) is int else 0


def _input(usage: HostRecord) -> int:
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(count_of(usage.get(key)) for key in keys)
