"""`skills.read`: one file of a loaded skill, or one artifact, in slices (runtime protocol 002, read).

Below `scripts/` a read gives facts and never the text: a script is run, not retold.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from prowess._internal.contained import check_relative
from prowess.errors import (
    DigestChangedError,
    InvalidArgumentsError,
    NotTextError,
    ResourceNotFoundError,
    ScriptUnsupportedError,
)
from prowess.execution import select_interpreter
from prowess.execution.artifacts import media_type
from prowess.runtime import disclosure, receipts
from prowess.runtime.artifacts import ArtifactNotTextError
from prowess.runtime.sections import outline
from prowess.runtime.skill_files import nearest, read_verified
from prowess.runtime.slices import DEFAULT_LIMIT, slice_bytes, slice_text
from prowess.tools import ToolSpec

if TYPE_CHECKING:
    from prowess.runtime.context import SessionContext
    from prowess.runtime.sections import Section
    from prowess.runtime.skill_files import VerifiedFile
    from prowess.tools import ToolCall

SCRIPTS = "scripts"
MAX_LISTED_SECTIONS = 200
_UNKNOWN_MEDIA = "application/octet-stream"

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_COUNT = {"type": "integer", "minimum": 0}

SPEC = ToolSpec(
    name="skills.read",
    title="Read a file of a skill",
    description=disclosure.READ,
    input_schema={
        "type": "object",
        "properties": {
            "skill": {"type": "string", "description": "A loaded skill; by default the one loaded last."},
            "path": {
                "type": "string",
                "description": "Relative to the skill's directory, for example references/a.md.",
            },
            "artifact": {"type": "string", "description": "The name of an artifact, instead of path."},
            "encoding": {
                "type": "string",
                "enum": ["text", "binary"],
                "default": "text",
                "description": "binary returns base64.",
            },
            "offset": {**_COUNT, "description": "First byte, 0 by default."},
            "limit": {"type": "integer", "minimum": 1, "description": "Most bytes to return, 65536 by default."},
            "section": {
                "type": "string",
                "description": "Slug of one section of a Markdown file; preamble is the text before the first heading.",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "skill": _TEXT_OR_NULL,
            "path": _TEXT,
            "encoding": {"type": "string", "enum": ["text", "binary"]},
            "media_type": _TEXT,
            "text": _TEXT,
            "data_base64": _TEXT,
            "offset": _COUNT,
            "size": _COUNT,
            "truncated": {"type": "boolean"},
            "next_offset": {"type": ["integer", "null"]},
            "digest": _TEXT,
            "sections": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"slug": _TEXT, "title": _TEXT, "level": _COUNT},
                    "required": ["slug", "title", "level"],
                    "additionalProperties": False,
                },
            },
            "interpreter": _TEXT_OR_NULL,
            "usage": _TEXT,
            "notices": receipts.NOTICES_SCHEMA,
        },
        "required": ["skill", "path", "size", "digest"],
        "additionalProperties": False,
    },
    read_only=True,
    idempotent=True,
)


class ReadTool:
    """Chooses the skill, reads and verifies the file, and cuts the slice."""

    spec = SPEC

    def __init__(self, context: SessionContext) -> None:
        self._context = context

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the slice, the section, or the facts about a script.

        Raises:
            InvalidArgumentsError: not exactly one of path and artifact, or parts that exclude each other.
            SkillNotActiveError, SkillNotFoundError, SessionNotFoundError: no such file for this session.
            UnsafePathError, ResourceNotFoundError, NotAFileError, NotTextError, LimitExceededError,
            DigestChangedError: see `prowess.runtime.skill_files.read_verified`.
        """
        del call
        _require_consistent(arguments)
        if (artifact := cast("str | None", arguments.get("artifact"))) is not None:
            await self._context.keeper.current()
            found = await to_thread.run_sync(self._context.artifacts.read, artifact)
            return {"skill": None, **_content(found, arguments, None)}
        name, file, notices = await self._verified(arguments)
        described = _describe(name, file) if _is_script(file.path) else _content(file, arguments, name)
        result: dict[str, object] = {"skill": name, **described}
        return {**result, "notices": [notice.as_dict() for notice in notices]} if notices else result

    async def _verified(self, arguments: dict[str, object]) -> tuple[str, VerifiedFile, list[receipts.Notice]]:
        context, path = self._context, cast("str", arguments["path"])
        check_relative(path)
        skill = await context.choose(cast("str | None", arguments.get("skill")))
        try:
            manifest = await context.manifest(skill)
            return skill.name, await to_thread.run_sync(read_verified, skill, manifest, path), []
        except DigestChangedError:
            if not context.is_live(skill):
                raise
        # A skill whose source is live follows its author's edits.
        skill = await context.reload(skill)
        file = await to_thread.run_sync(read_verified, skill, await context.manifest(skill), path)
        return skill.name, file, [receipts.reloaded(skill.name)]


def _require_consistent(arguments: dict[str, object]) -> None:
    problems = []
    if ("path" in arguments) == ("artifact" in arguments):
        problems.append("give exactly one of path and artifact")
    if "artifact" in arguments and "skill" in arguments:
        problems.append("an artifact belongs to the session; leave skill out")
    if "section" in arguments:
        problems.extend(
            f"section cannot be combined with {other}" for other in ("artifact", "offset") if other in arguments
        )
        if arguments["encoding"] == "binary":
            problems.append("section needs encoding 'text'")
    if problems:
        raise InvalidArgumentsError(tuple(problems))


def _content(file: VerifiedFile, arguments: dict[str, object], skill: str | None) -> dict[str, object]:
    limit = cast("int", arguments.get("limit", DEFAULT_LIMIT))
    offset = cast("int", arguments.get("offset", 0))
    kind = media_type(file.path)
    head: dict[str, object] = {"path": file.path, "encoding": "text", "media_type": kind}
    if arguments["encoding"] == "binary":
        part = slice_bytes(file.data, offset, limit)
        head["encoding"] = "binary"
        body: dict[str, object] = {"data_base64": base64.b64encode(part.data).decode("ascii")}
    else:
        text = _decoded(file, skill)
        if kind == _UNKNOWN_MEDIA:
            head["media_type"] = "text/plain"
        sections = outline(text) if "section" in arguments else ()
        stop = None
        if sections:
            chosen = _chosen(sections, cast("str", arguments["section"]), file, skill)
            offset, stop = chosen.start, chosen.end
        part = slice_text(file.data, offset, limit, stop=stop)
        body = {"text": part.data.decode()}
        if sections:
            body["sections"] = [
                {"slug": section.slug, "title": section.title, "level": section.level}
                for section in sections[:MAX_LISTED_SECTIONS]
            ]
        if stop is not None and part.end == stop:
            tail = {"offset": part.offset, "size": part.size, "truncated": False, "next_offset": None}
            return {**head, **body, **tail, "digest": file.digest}
    tail = {"offset": part.offset, "size": part.size, "truncated": part.truncated, "next_offset": part.next_offset}
    return {**head, **body, **tail, "digest": file.digest}


def _decoded(file: VerifiedFile, skill: str | None) -> str:
    try:
        return file.data.decode()
    except UnicodeDecodeError:
        raise (ArtifactNotTextError(file.path) if skill is None else NotTextError(skill, file.path)) from None


def _chosen(sections: tuple[Section, ...], slug: str, file: VerifiedFile, skill: str | None) -> Section:
    for section in sections:
        if section.slug == slug:
            return section
    raise ResourceNotFoundError(
        skill or "", f"{file.path}#{slug}", nearest(slug, (section.slug for section in sections))
    )


def _is_script(path: str) -> bool:
    # Without regard to case: on some file systems Scripts/ is the same directory.
    return path.split("/", maxsplit=1)[0].casefold() == SCRIPTS


def _describe(skill: str, file: VerifiedFile) -> dict[str, object]:
    try:
        interpreter = select_interpreter(file.path, file.data[:256]).name
        usage = f"run it with skills.run_script: skill {skill!r}, path {file.path!r}, and args as its instructions say"
    except ScriptUnsupportedError as fault:
        interpreter, usage = None, str(fault)
    return {
        "path": file.path,
        "size": len(file.data),
        "digest": file.digest,
        "interpreter": interpreter,
        "usage": usage,
    }
