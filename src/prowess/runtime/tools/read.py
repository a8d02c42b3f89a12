"""`skills.read`: one file of a loaded skill, or one artifact, in slices (runtime protocol 002, read).

For a script, the result describes the file and does not contain its text, unless the policy sets `read_scripts`:
scripts are meant to be run.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, cast

from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.files.contained import check_relative
from prowess.errors import (
    InvalidArgumentsError,
    NotTextError,
    ResourceNotFoundError,
    ScriptUnsupportedError,
    file_of,
)
from prowess.execution import select_interpreter
from prowess.execution.artifacts import media_type
from prowess.runtime.activation import load_result
from prowess.runtime.disclosure import model_texts
from prowess.runtime.events.event import ResourceRead
from prowess.runtime.files.sections import outline
from prowess.runtime.files.skill_files import (
    DEFAULT_LIMIT,
    VerifiedWindow,
    moved,
    nearest,
    read_verified,
    read_window,
    slice_bytes,
    slice_text,
)
from prowess.runtime.tools.read_result import ReadResult, SectionTitle
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import as_called, object_schema

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.runtime.activation.active_skills import ActiveSkills
    from prowess.runtime.events.delivery import Events
    from prowess.runtime.files.sections import Section
    from prowess.runtime.files.skill_files import VerifiedFile
    from prowess.runtime.scripts import Artifacts, SkillPrograms
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolCall

MAX_LISTED_SECTIONS = 200
_SUGGESTED = 5
_UNKNOWN_MEDIA = "application/octet-stream"

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_COUNT = {"type": "integer", "minimum": 0}

SPEC = ToolSpec(
    name="skills.read",
    title="Read a file of a skill",
    description=model_texts.READ,
    input_schema=object_schema(
        skill={"type": "string", "description": "A loaded skill; by default the last loaded."},
        path={"type": "string", "description": "Relative to the skill's directory, for example references/a.md."},
        artifact={"type": "string", "description": "Name of an artifact, instead of path."},
        encoding={
            "type": "string",
            "enum": ["text", "binary"],
            "default": "text",
            "description": "binary returns base64.",
        },
        offset={**_COUNT, "description": "First byte; 0 by default."},
        limit={"type": "integer", "minimum": 1, "description": "Maximum number of bytes; 65536 by default."},
        section={
            "type": "string",
            "description": "Slug of a section of a Markdown file; preamble is the text before the first heading.",
        },
    ),
    output_schema=object_schema(
        "skill path size digest",
        skill=_TEXT_OR_NULL,
        path=_TEXT,
        encoding={"type": "string", "enum": ["text", "binary"]},
        media_type=_TEXT,
        text=_TEXT,
        data_base64=_TEXT,
        offset=_COUNT,
        size=_COUNT,
        truncated={"type": "boolean"},
        next_offset={"type": ["integer", "null"]},
        digest=_TEXT,
        sections={"type": "array", "items": object_schema("slug title level", slug=_TEXT, title=_TEXT, level=_COUNT)},
        interpreter=_TEXT_OR_NULL,
        usage=_TEXT,
        notices=load_result.NOTICES_SCHEMA,
    ),
    read_only=True,
    idempotent=True,
)


class SectionNotFoundError(ResourceNotFoundError):
    """The file exists but has no such section; `suggestions` are slugs of its sections."""

    def __init__(self, skill: str | None, path: str, slug: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(skill, path, suggestions)
        self.slug = slug
        self.args = (skill, path, slug, suggestions)

    def __str__(self) -> str:
        has = f"; it has {', '.join(map(repr, self.suggestions))}" if self.suggestions else ""
        return f"{file_of(self.skill, self.path)} has no section {self.slug!r}{has}"


class ReadTool:
    """Selects the skill, reads and verifies the file, and returns the requested slice."""

    spec = SPEC

    def __init__(self, active: ActiveSkills, artifacts: Artifacts, programs: SkillPrograms, events: Events) -> None:
        self._active, self._artifacts, self._programs, self._events = active, artifacts, programs, events

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the slice, the section, or the description of a script.

        Raises:
            InvalidArgumentsError: not exactly one of path and artifact, or arguments that exclude each other.
            SkillNotActiveError, SkillNotFoundError, SessionNotFoundError: the skill or session is not available.
            UnsafePathError, ResourceNotFoundError, NotAFileError, NotTextError, LimitExceededError,
            DigestChangedError: see `prowess.runtime.files.skill_files.read_verified`.
        """
        require_executor(self, call)
        _require_consistent(arguments)
        if (artifact := cast("str | None", arguments.get("artifact"))) is not None:
            await self._active.stored.current()
            return (await to_thread.run_sync(self._artifact, artifact, arguments)).as_dict()
        path = cast("str", arguments["path"])
        check_relative(path)
        skill = await self._active.choose(cast("str | None", arguments.get("skill")))
        run = as_called("skills.run_script", call.called or call.name)
        skill, described, notices = await self._active.with_files(skill, self._answer, path, arguments, run)
        await self._events.tell(ResourceRead, call.id, skill, path=described.path)
        return replace(described, notices=tuple(notices)).as_dict()

    def _artifact(self, name: str, arguments: dict[str, object]) -> ReadResult:
        return _content(self._artifacts.read(name), arguments, None)

    def _answer(
        self, skill: ActiveSkill, manifest: TreeManifest, path: str, arguments: dict[str, object], run: str
    ) -> ReadResult:
        """Read the file and return a slice or a description; `run` is the name of the tool for scripts. Blocking."""
        rules = self._programs.rules
        hidden = rules.is_script(check_relative(path)) and not rules.shows_text
        if not hidden and "section" not in arguments:
            offset, limit = _range(arguments)
            found = read_window(skill.root_dir, manifest, path, offset, limit)
            if found is not None and (found.is_text or arguments["encoding"] == "binary"):
                return _slice(found, arguments, skill.name)
        file = read_verified(skill, manifest, path)
        return _describe(skill.name, file, run) if hidden else _content(file, arguments, skill.name)


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


def _range(arguments: dict[str, object]) -> tuple[int, int]:
    return cast("int", arguments.get("offset", 0)), cast("int", arguments.get("limit", DEFAULT_LIMIT))


def _content(file: VerifiedFile, arguments: dict[str, object], skill: str | None) -> ReadResult:
    if arguments["encoding"] == "text":
        text = _decoded(file, skill)
        if "section" in arguments:
            return _section(file, outline(text), arguments, skill)
    whole = VerifiedWindow(
        path=file.path, data=file.data, digest=file.digest, start=0, size=len(file.data), is_text=True
    )
    return _slice(whole, arguments, skill)


def _slice(file: VerifiedWindow, arguments: dict[str, object], skill: str | None) -> ReadResult:
    offset, limit = _range(arguments)
    binary = arguments["encoding"] == "binary"
    cut = slice_bytes if binary else slice_text
    part = moved(cut(file.data, max(min(offset, file.size) - file.start, 0), limit), file.start, file.size)
    return ReadResult(
        skill=skill,
        path=file.path,
        encoding="binary" if binary else "text",
        media_type=media_type(file.path) if binary else _text_type(file.path),
        text="" if binary else part.data.decode(),
        data_base64=b2a_base64(part.data, newline=False).decode("ascii") if binary else "",
        offset=part.offset,
        size=part.size,
        truncated=part.truncated,
        next_offset=part.next_offset,
        digest=file.digest,
    )


def _section(
    file: VerifiedFile, sections: tuple[Section, ...], arguments: dict[str, object], skill: str | None
) -> ReadResult:
    _, limit = _range(arguments)
    chosen = _chosen(sections, cast("str", arguments["section"]), file, skill)
    part = slice_text(file.data, chosen.start, limit, stop=chosen.end)
    at_end = part.end == chosen.end
    listed = sections[:MAX_LISTED_SECTIONS]
    return ReadResult(
        skill=skill,
        path=file.path,
        encoding="text",
        media_type=_text_type(file.path),
        text=part.data.decode(),
        sections=tuple(SectionTitle(slug=one.slug, title=one.title, level=one.level) for one in listed),
        offset=part.offset,
        size=part.size,
        truncated=part.truncated and not at_end,
        next_offset=None if at_end else part.next_offset,
        digest=file.digest,
    )


def _text_type(path: str) -> str:
    kind = media_type(path)
    return "text/plain" if kind == _UNKNOWN_MEDIA else kind


def _decoded(file: VerifiedFile, skill: str | None) -> str:
    try:
        return file.data.decode()
    except UnicodeDecodeError:
        raise NotTextError(skill, file.path) from None


def _chosen(sections: tuple[Section, ...], slug: str, file: VerifiedFile, skill: str | None) -> Section:
    for section in sections:
        if section.slug == slug:
            return section
    slugs = [section.slug for section in sections]
    raise SectionNotFoundError(skill, file.path, slug, nearest(slug, slugs) or tuple(slugs[:_SUGGESTED]))


def _describe(skill: str, file: VerifiedFile, run: str) -> ReadResult:
    interpreter = None
    try:
        interpreter = select_interpreter(file.path, file.data[:256]).name
        usage = f"run it with {run}: skill {skill!r}, path {file.path!r}, and args as its instructions say"
    except ScriptUnsupportedError as fault:
        usage = str(fault)
    return ReadResult(
        skill=skill,
        path=file.path,
        size=len(file.data),
        digest=file.digest,
        interpreter=interpreter,
        usage=usage,
    )
