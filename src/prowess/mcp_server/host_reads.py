"""Resources that a host reads from the server, in contrast to the tools that a model calls.

Artifacts are read through `skills.read` of the session. Files and entries of skills go through a separate executor
(`prowess.tools.ToolExecutor`) with the session's identifier and log. So a read leaves the same records as a tool call.
If a record is required and the log cannot be written, the read is refused. The session's gates also apply: they treat
the read of a skill's file as a call of `skills.read` for this skill and path, and a list as a call of `skills.list`. If
a policy denies those calls or requires approval for them, it also denies the read or requires approval. Models are not
offered the tools of this executor and cannot call them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.canonical_json import sha256_of
from prowess._internal.uuid7 import uuid7
from prowess.catalog.skill_uri import INDEX, parse_skill_uri
from prowess.errors import ResourceNotFoundError
from prowess.mcp_server.skill_resources import JSON_TYPE, MANIFEST, index_text, manifest_text, parsed_uri
from prowess.runtime.tools.list import SPEC as SKILLS_LIST
from prowess.runtime.tools.read import SPEC as SKILLS_READ
from prowess.tools import Proceed, Refuse, ToolCall, ToolExecutor, ToolSpec, require_executor
from prowess.tools.call_audit import AuditRecorder
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.audit import AuditLog
    from prowess.mcp_server.skill_resources import Child, ServedSkill, SkillResources
    from prowess.policy import PolicyInForce
    from prowess.runtime import Session
    from prowess.tools import Gate
    from prowess.tools.executor import Complete

_MAX_INDEX = 10_000  # skills in skill://index.json, which has no pages
_UNKNOWN = "application/octet-stream"
SCHEME = "prowess://artifacts/"
_TEXT_TYPES = ("application/json", "application/jsonl", "application/xml", "application/yaml", "image/svg+xml")
_SLICE = 1 << 20  # bytes per read


def _of_uri(name: str, description: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        input_schema=object_schema("uri", uri={"type": "string", "minLength": 1, "maxLength": 8192}),
        read_only=True,
        idempotent=True,
    )


_READ = _of_uri("resources.read", "The bytes of one resource, for the host.")
_DESCRIBE = _of_uri("resources.describe", "The entry of one skill, for the host.")
_DIRECTORY = _of_uri("resources.directory", "What a directory of a skill holds, for the host.")
_LIST = ToolSpec(
    name="resources.list_skills",
    description="One page of the entries of skills, for the host.",
    input_schema=object_schema("after size", after={"type": "string"}, size={"type": "integer"}),
    read_only=True,
    idempotent=True,
)


class ResourceContent(Struct, frozen=True, kw_only=True):
    """Content of a resource; `text` is None if the bytes are not UTF-8 text."""

    uri: str
    media_type: str
    data: bytes
    text: str | None


class HostReads:
    """Reads resources of one session through an executor."""

    def __init__(
        self,
        skills: SkillResources,
        artifacts: ArtifactResources,
        *,
        audit: AuditLog | None,
        session_id: str,
        gates: Sequence[Gate] = (),
        complete: Complete | None = None,
        policy: PolicyInForce | None = None,
    ) -> None:
        self._artifacts = artifacts

        async def with_skills(call: ToolCall) -> ToolCall:
            if complete is None:
                return call
            asked, spec = _as_skill_call(call)
            if spec is SKILLS_READ:  # a host reads the catalog's copy, even if another copy is active
                asked = replace(asked, name="skill", arguments={"skill": asked.arguments["skill"]})
            return replace(call, skills=(await complete(asked)).skills)

        self._executor = ToolExecutor(
            [
                _ReadSkillFile(skills, AuditRecorder(audit, session_id)),
                _Lookup(lambda arguments: skills.at(cast("str", arguments["uri"])), _DESCRIBE),
                _Lookup(lambda arguments: skills.children(cast("str", arguments["uri"])), _DIRECTORY),
                _Lookup(lambda arguments: skills.page(cast("str", arguments["after"]), cast("int", arguments["size"]))),
            ],
            gates=[_AsSkillTool(gate) for gate in gates],
            audit=audit,
            session_id=session_id,
            complete=with_skills,
            policy=policy,
        )

    async def read(self, uri: str, call_id: str | None = None) -> ResourceContent:
        """Return one resource. Raise a SkillError if it does not exist or cannot be read or recorded."""
        if uri.startswith(SCHEME):
            artifact, data = await self._artifacts.read(uri)
            return _content(uri, artifact.media_type, data, _as_text(artifact.media_type, data))
        return cast("ResourceContent", await self._call(_READ, call_id, uri=uri))

    async def page(self, after: str, size: int, call_id: str | None = None) -> tuple[list[ServedSkill], str | None]:
        """Return `SkillResources.page`, gated and recorded. Raise a SkillError if the gates refuse or reading fails."""
        found = await self._call(_LIST, call_id, after=after, size=size)
        return cast("tuple[list[ServedSkill], str | None]", found)

    async def describe(self, uri: str, call_id: str | None = None) -> ServedSkill:
        """Return `SkillResources.at`, gated and recorded."""
        return cast("ServedSkill", await self._call(_DESCRIBE, call_id, uri=uri))

    async def children(self, uri: str, call_id: str | None = None) -> list[Child]:
        """Return `SkillResources.children`, gated and recorded."""
        return cast("list[Child]", await self._call(_DIRECTORY, call_id, uri=uri))

    async def _call(self, spec: ToolSpec, call_id: str | None, **arguments: object) -> object:
        id_ = uuid7() if call_id is None else call_id
        call = ToolCall(id=id_, name=spec.name, arguments=arguments, trigger="host")
        return (await self._executor.call(call)).unwrap()["content"]


class _AsSkillTool:
    """Applies a gate of the session to host reads: the gate sees the equivalent call of a model."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Return the gate's decision about `skills.read` or `skills.list`."""
        del spec
        asked, as_spec = _as_skill_call(call)
        decision = await self._gate.check(asked, as_spec)
        return replace(decision, monitored={**decision.monitored, "decided_as": asked.name})


def _as_skill_call(call: ToolCall) -> tuple[ToolCall, ToolSpec]:
    if call.name == _LIST.name or call.arguments.get("uri") == INDEX:
        return replace(call, name=SKILLS_LIST.name, arguments={}), SKILLS_LIST
    skill, path = parsed_uri(cast("str", call.arguments["uri"]))
    return replace(call, name=SKILLS_READ.name, arguments={"skill": skill, "path": path or "."}), SKILLS_READ


class _Lookup:
    """A tool that calls a blocking lookup function in a thread."""

    def __init__(self, look: Callable[[dict[str, object]], object], spec: ToolSpec = _LIST) -> None:
        self.spec, self._look = spec, look

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the result of the lookup, or raise its SkillError."""
        require_executor(self, call)
        return {"content": await to_thread.run_sync(self._look, arguments)}


class _ReadSkillFile:
    """A tool that reads the resource of a URI and records its digest."""

    spec = _READ

    def __init__(self, skills: SkillResources, recorder: AuditRecorder) -> None:
        self._skills, self._recorder = skills, recorder

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the content of the resource. Raise the errors of `HostReads.read`."""
        require_executor(self, call)
        content = await to_thread.run_sync(self._read, cast("str", arguments["uri"]))
        data = {"uri": content.uri[:500], "digest": sha256_of(content.data), "bytes": len(content.data)}
        await self._recorder.record("resource.read", call.id, data)
        return {"content": content}

    def _read(self, uri: str) -> ResourceContent:
        if uri == INDEX:
            skills, _ = self._skills.page("", _MAX_INDEX)
            return _generated(uri, index_text(skills))
        if (name := _manifest_of(uri)) is not None:
            skill = self._skills.get(name)
            if all(file.path != MANIFEST for file in skill.files):
                return _generated(uri, manifest_text(skill))
        kind, data = self._skills.read(uri)
        return _content(uri, kind, data, _utf8(data))


def _manifest_of(uri: str) -> str | None:
    try:
        name, path = parse_skill_uri(uri)
    except ValueError:
        return None
    return name if path == MANIFEST else None


def _generated(uri: str, text: str) -> ResourceContent:
    return ResourceContent(uri=uri, media_type=JSON_TYPE, data=text.encode(), text=text)


def _content(uri: str, kind: str, data: bytes, text: str | None) -> ResourceContent:
    known = "text/plain" if text is not None and kind == _UNKNOWN else kind
    return ResourceContent(uri=uri, media_type=known, data=data, text=text)


def _utf8(data: bytes) -> str | None:
    """Return the text of UTF-8 without NUL bytes, else None. Encoding the text gives `data`, so clients can hash it."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


class ArtifactResource(Struct, frozen=True, kw_only=True):
    """One artifact: `reference` is `<run>/<name>`, `size` is in bytes."""

    reference: str
    name: str
    media_type: str
    size: int

    @property
    def uri(self) -> str:
        """The URI of the resource."""
        return SCHEME + quote(self.reference, safe="/")


class ArtifactResources:
    """Artifacts of this session's scripts as resources, the newest run first.

    The URI is `prowess://artifacts/<run>/<name>`, percent-encoded so that every name is preserved. Runs sort by time
    and distinguish files with equal names. If the host hides paths, the URI has no run. Artifacts are read through
    `skills.read` and the session's executor.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._artifacts: dict[str, ArtifactResource] = {}

    def add(self, result: Mapping[str, object]) -> list[ArtifactResource]:
        """Register the artifacts in a result of `skills.run_script` and return them."""
        added = [_resource(entry) for entry in cast("Iterable[Mapping[str, object]]", result.get("artifacts", ()))]
        self._artifacts.update((artifact.uri, artifact) for artifact in added)
        return added

    def listed(self) -> list[ArtifactResource]:
        """Return all artifacts, the newest run first, sorted by name within a run."""
        runs = sorted({artifact.reference.split("/")[0] for artifact in self._artifacts.values()}, reverse=True)
        return sorted(self._artifacts.values(), key=lambda one: (runs.index(one.reference.split("/")[0]), one.name))

    async def read(self, uri: str) -> tuple[ArtifactResource, bytes]:
        """Return an artifact and its bytes. Raise ResourceNotFoundError or the errors of `skills.read`."""
        # Also try the canonical encoding: a host may have encoded more or fewer characters.
        ours = SCHEME + quote(unquote(uri.removeprefix(SCHEME)), safe="/")
        artifact = self._artifacts.get(uri) or self._artifacts.get(ours)
        if artifact is None:
            raise ResourceNotFoundError(None, uri)
        data = b""
        offset: int | None = 0
        while offset is not None:
            part = await self._session.read(artifact=artifact.reference, encoding="binary", offset=offset, limit=_SLICE)
            data += part.data
            offset = part.next_offset
        return artifact, data


def _as_text(media_type: str, data: bytes) -> str | None:
    """Return the text if the media type is textual, None if it is binary."""
    if not media_type.startswith("text/") and media_type not in _TEXT_TYPES:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _resource(entry: Mapping[str, object]) -> ArtifactResource:
    name, path = cast("str", entry["name"]), cast("str | None", entry["path"])
    reference = name  # if paths are hidden, this means the newest artifact of the name
    if path is not None:
        parts = path.split("/")
        run = parts[len(parts) - len(name.split("/")) - 1]  # the directory above the artifact's own name
        reference = f"{run}/{name}"
    return ArtifactResource(
        reference=reference,
        name=name,
        media_type=cast("str", entry["media_type"]),
        size=cast("int", entry["size"]),
    )
