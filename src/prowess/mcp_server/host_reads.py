"""What a host reads from the server, beside the tools that a model calls.

Artifacts are read through `skills.read` of the session. Files of skills pass a door of their own
(`prowess.tools.ToolExecutor`) with the session's identifier and log, so a read leaves the same records as a tool call,
and one that must be recorded and cannot be is refused. The tool behind this door is offered to no model: a call by its
name finds no tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from prowess._internal.canonical_json import sha256_of
from prowess._internal.uuid7 import uuid7
from prowess.catalog.skill_uri import INDEX, parse_skill_uri
from prowess.mcp_server import older_forms
from prowess.mcp_server.artifact_resources import SCHEME, as_text
from prowess.policy import AuditEvent
from prowess.tools import ToolCall, ToolExecutor, ToolSpec, require_door
from prowess.tools.trail import append

if TYPE_CHECKING:
    from prowess.mcp_server.artifact_resources import ArtifactShelf
    from prowess.mcp_server.skill_shelf import SkillShelf
    from prowess.policy import AuditLog

_MAX_INDEX = 10_000  # skills in skill://index.json, which has no pages
_UNKNOWN = "application/octet-stream"

_READ = ToolSpec(
    name="resources.read",
    title="Read a resource",
    description="The bytes of one resource, for the host.",
    input_schema={
        "type": "object",
        "properties": {"uri": {"type": "string", "minLength": 1, "maxLength": 8192}},
        "required": ["uri"],
        "additionalProperties": False,
    },
    read_only=True,
    idempotent=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContent:
    """What a read gives: `text` is None where the bytes are no UTF-8 text."""

    uri: str
    media_type: str
    data: bytes
    text: str | None


class HostReads:
    """Reads resources of one session through the door."""

    def __init__(
        self, skills: SkillShelf, artifacts: ArtifactShelf, *, audit: AuditLog | None, session_id: str
    ) -> None:
        self._artifacts = artifacts
        tool = _ReadSkillFile(skills, audit, session_id)
        self._door = ToolExecutor([tool], audit=audit, session_id=session_id)

    async def read(self, uri: str, call_id: str | None = None) -> ResourceContent:
        """Return one resource.

        Raises:
            SkillError: there is none, it cannot be read now, or the read cannot be recorded.
        """
        if uri.startswith(SCHEME):
            artifact, data = await self._artifacts.read(uri)
            return _content(uri, artifact.media_type, data, as_text(artifact.media_type, data))
        call = ToolCall(id=uuid7() if call_id is None else call_id, name=_READ.name, arguments={"uri": uri})
        return cast("ResourceContent", (await self._door.call(call)).unwrap()["content"])


class _ReadSkillFile:
    """Finds what a URI names and reads it; what was read is recorded with its digest."""

    spec = _READ

    def __init__(self, skills: SkillShelf, audit: AuditLog | None, session_id: str) -> None:
        self._skills, self._audit, self._session_id = skills, audit, session_id

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the content.

        Raises:
            SkillError: as `HostReads.read`.
        """
        require_door(self, call)
        content = await to_thread.run_sync(self._read, cast("str", arguments["uri"]))
        await self._record(content, call)
        return {"content": content}

    def _read(self, uri: str) -> ResourceContent:
        if uri == INDEX:
            skills, _ = self._skills.page("", _MAX_INDEX)
            return _generated(uri, older_forms.index(skills))
        if (name := _manifest_of(uri)) is not None:
            skill = self._skills.get(name)
            if all(file.path != older_forms.MANIFEST for file in skill.files):
                return _generated(uri, older_forms.manifest(skill))
        file = self._skills.read(uri)
        return _content(uri, file.media_type, file.data, _utf8(file.data))

    async def _record(self, content: ResourceContent, call: ToolCall) -> None:
        if self._audit is not None:
            event = AuditEvent(
                kind="resource.read",
                session_id=self._session_id,
                call_id=call.id,
                data={"uri": content.uri[:500], "digest": sha256_of(content.data), "bytes": len(content.data)},
            )
            await to_thread.run_sync(append, self._audit, event)


def _manifest_of(uri: str) -> str | None:
    try:
        name, path = parse_skill_uri(uri)
    except ValueError:
        return None
    return name if path == older_forms.MANIFEST else None


def _generated(uri: str, text: str) -> ResourceContent:
    return ResourceContent(uri=uri, media_type=older_forms.MEDIA_TYPE, data=text.encode(), text=text)


def _content(uri: str, kind: str, data: bytes, text: str | None) -> ResourceContent:
    known = "text/plain" if text is not None and kind == _UNKNOWN else kind
    return ResourceContent(uri=uri, media_type=known, data=data, text=text)


def _utf8(data: bytes) -> str | None:
    """Return every UTF-8 text, whatever its type: a client gets its bytes back by encoding it, and can hash them."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None
