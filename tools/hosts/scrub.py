"""Removes from captured transcripts what is not ours to publish, and what changes with each machine and run.

The hosts' own texts (system prompts, descriptions of tools, of their own skills and agents, reminders) become `[cut]`.
Records and their keys stay, so that a reader meets the real shapes. Paths, ids and times become fixed ones; equal
values stay equal.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

CUT = "[cut]"
OURS = ("pdf-tables", "release-notes", "invoices", "pdf-charts")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b")
_STAMP = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d[:-]\d\d(?:[:-]\d\d(?:\.\d+)?)?(?:Z|\+00:00)?")
_DAY = re.compile(r"\b20(?:2[6-9]|3\d)-\d\d-\d\d\b(?!T)")
_EPOCH = re.compile(r"\b1[789]\d{8}(?:\d{3})?(?:\.\d+)?\b")
_HAND_BACK = re.compile(r'(\[Subagent hand-back\])(?:[^"\\]|\\.)*')  # the host's words around a report, in JSON


class Places(Struct, frozen=True, kw_only=True):
    """Directories of the run: home and working directory in a temporary one."""

    home: str
    workspace: str
    temporary: str


def scrubbed(text: str, host: str, places: Places, *, separator: str = "") -> str:
    """Return the lines of a transcript without foreign texts, and with fixed paths, ids and times."""
    parts = text.split(separator) if separator else [text]
    cut = separator.join(_without_prompts(part, _CUTS[host]) for part in parts)
    return _normalised(_HAND_BACK.sub(rf"\1 {CUT}", cut), places)


def _without_prompts(text: str, cut: Callable[[dict[str, Any]], None]) -> str:
    lines = []
    for line in text.splitlines(keepends=True):
        try:
            record = json.loads(line)
        except ValueError:
            lines.append(line)  # torn, or a name of a file
            continue
        if isinstance(record, dict):
            cut(record)
        end = "\n" if line.endswith("\n") else ""
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + end)
    return "".join(lines)


def _normalised(text: str, places: Places) -> str:
    slug = re.sub(r"[^A-Za-z0-9]", "-", places.workspace)
    for old, new in (
        (places.workspace, "/home/user/project"),
        (places.home, "/home/user"),
        (slug, "-home-user-project"),
        (places.temporary, "/home"),
    ):
        text = text.replace(old, new)
    text = _numbered(_UUID, text, lambda at, old: f"00000000-0000-{old[14]}000-8000-{at:012x}")
    text = _numbered(_HASH, text, lambda at, old: f"{at:0{len(old)}x}")
    stamps = {stamp: at for at, stamp in enumerate(sorted(set(_STAMP.findall(text))))}
    text = _STAMP.sub(lambda found: _stamp(stamps[found[0]], found[0]), text)
    text = _DAY.sub("2026-01-01", text)
    return _EPOCH.sub(
        lambda found: "1767225600" + ("000" if len(found[0].split(".")[0]) == len("1767225600000") else ""), text
    )


def _stamp(at: int, old: str) -> str:
    colon = ":" if ":" in old else "-"
    minutes, seconds = divmod(at, 60)
    whole = f"2026-01-01T00{colon}{minutes % 60:02d}"
    if old.count(colon) - (2 if colon == "-" else 0) >= 2:  # noqa: PLR2004  # hours:minutes:seconds
        whole += f"{colon}{seconds:02d}"
    if "." in old:
        whole += ".000"
    return whole + ("Z" if old.endswith("Z") else "+00:00" if old.endswith("+00:00") else "")


def _numbered(pattern: re.Pattern[str], text: str, new: Callable[[int, str], str]) -> str:
    known: dict[str, str] = {}
    return pattern.sub(lambda found: known.setdefault(found[0], new(len(known) + 1, found[0])), text)


# ── Claude Code ──────────────────────────────────────────────────────────────────────────────────────────────

_CLAUDE_KEPT = {"skill_listing", "invoked_skills", "command_permissions", "queued_command", "max_turns_reached"}


def _cut_claude(record: dict[str, Any]) -> None:
    match record.get("type"):
        case "attachment":
            _cut_attachment(record)
        case "api-request-shape" | "api-request-blob" | "api-request":
            for key in ("shape", "message", "params", "tail", "diagnostics", "cacheControl"):
                if key in record:
                    record[key] = CUT
        case "system" if record.get("subtype") == "init":
            for key in ("memory_paths", "plugins"):
                record.pop(key, None)


def _cut_attachment(record: dict[str, Any]) -> None:
    attachment = record.get("attachment", {})
    if "rendered" in record:
        record["rendered"] = CUT
    if attachment.get("type") == "skill_listing":
        lines = str(attachment.get("content", "")).splitlines()
        attachment["content"] = "\n".join(_listed(line) for line in lines if line.startswith("- "))
    elif attachment.get("type") not in _CLAUDE_KEPT:
        for key in [key for key in attachment if key != "type"]:
            attachment[key] = CUT


def _listed(line: str) -> str:
    """Return a line of a list of skills; the host's own skills without their description."""
    return line if any(name in line for name in OURS) else f"{line.split(':', maxsplit=1)[0]}: {CUT}"


# ── Codex ────────────────────────────────────────────────────────────────────────────────────────────────────


def _cut_codex(record: dict[str, Any]) -> None:
    payload = record.get("payload", {})
    match record.get("type"):
        case "session_meta":
            for key in ("base_instructions", "dynamic_tools", "git"):
                if key in payload:
                    payload[key] = CUT
        case "world_state":
            payload["state"] = CUT
        case "response_item":
            for part in payload.get("content") or []:
                if "text" in part:
                    part["text"] = _cut_text(str(part["text"]), payload.get("role"))
        case "compacted" | "turn_context":
            for key in ("user_instructions", "developer_instructions", "base_instructions"):
                if key in payload:
                    payload[key] = CUT


def _cut_text(text: str, role: object) -> str:
    if role == "developer":
        return _cut_developer(text)
    is_context = role == "user" and text.startswith("<environment_context>")
    return f"<environment_context>{CUT}</environment_context>" if is_context else text


def _cut_developer(text: str) -> str:
    """Keep the list of skills, with the headings around it; cut everything else."""
    if "## Skills" not in text:
        return CUT
    kept, in_list = ["<skills_instructions>", "## Skills", CUT], False
    for line in text.splitlines():
        if line.startswith("### "):
            in_list = "Available skills" in line or "Skill roots" in line
            kept.append(line)
        elif in_list and line.startswith("- "):
            kept.append(line if "`r" in line else _listed_with_file(line))
    return "\n".join([*kept, CUT, "</skills_instructions>"])


def _listed_with_file(line: str) -> str:
    if any(name in line for name in OURS):
        return line
    where = line[line.rfind("(file:") :] if "(file:" in line else ""
    return f"{line.split(':', maxsplit=1)[0]}: {CUT} {where}".rstrip()


# ── Copilot ──────────────────────────────────────────────────────────────────────────────────────────────────


def _cut_copilot(record: dict[str, Any]) -> None:
    data = record.get("data")
    if not isinstance(data, dict):
        return
    match record.get("type"):
        case "system.message":
            data["content"] = CUT
        case "session.skills_loaded":
            for skill in data.get("skills", []):
                if skill.get("name") not in OURS:
                    skill["description"] = CUT
        case "session.custom_agents_updated" | "session.usage_record" | "session.shutdown":
            for key in list(data):
                if isinstance(data[key], dict | list):
                    data[key] = CUT
        case "subagent.started" | "subagent.selected":
            for key in ("agentDescription", "tools"):
                if key in data:
                    data[key] = CUT
    data.pop("encryptedContent", None)


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────────


def _cut_gemini(record: dict[str, Any]) -> None:
    for message in [record, *record.get("$set", {}).get("messages", [])]:
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and str(part.get("text", "")).startswith("<session_context>"):
                part["text"] = f"<session_context>{CUT}</session_context>"
        for call in message.get("toolCalls", []):
            if "description" in call:
                call["description"] = CUT


_CUTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "claude": _cut_claude,
    "codex": _cut_codex,
    "copilot": _cut_copilot,
    "gemini": _cut_gemini,
}
