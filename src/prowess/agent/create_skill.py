"""The tool `create_skill`: an agent writes a new skill from a user's description of a task.

The draft is validated first, and every fault is returned to the model. Then a person sees the whole text and is asked
for approval. After the approval, the skill is written under an unused name to the directory that the host has chosen.
Existing files are never overwritten. SKILL.md is written last, so the catalog never sees an incomplete skill. Platform
requirements 003, journey 3.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING, cast

from anyio import to_thread
from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.contained import check_relative
from prowess._internal.text.invisible import hides_something
from prowess.errors import (
    ApprovalRequiredError,
    InvalidArgumentsError,
    InvalidSkillError,
    PolicyDeniedError,
    SkillError,
    SkillNotFoundError,
)
from prowess.format import document_text, parse_document, validate_skill
from prowess.format.name import name_faults
from prowess.policy.approval import ApprovalRequest, Refusal, Unanswered
from prowess.tools import ToolSpec, require_executor
from prowess.tools.gates import asked
from prowess.tools.running_call import report_approval
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.catalog import Catalog
    from prowess.policy.approval import Approver
    from prowess.tools import ToolCall

_TEXT = {"type": "string", "minLength": 1}
_MOST_FILES = 50
_LONGEST_PART, _LONGEST_PATH = 100, 200  # bytes; short enough for a person to read the whole path
_TARGET = "directory"  # argument of the approval request that shows the target directory

SPEC = ToolSpec(
    name="create_skill",
    title="Create a skill",
    description=(
        "Create a skill for a kind of task that the user needs repeatedly. The skill is validated first, and every "
        "fault is returned: correct them and call again. A person must approve before files are written. Links in the "
        "instructions must point to files that you pass. Afterwards, tell the user that the skill was created, and "
        "offer a test; do not use the skill before the user agrees."
    ),
    input_schema=object_schema(
        "name description instructions",
        name={**_TEXT, "description": "Lower-case letters, digits and single hyphens: weekly-status-report."},
        description={**_TEXT, "description": "What the skill does and when to use it."},
        instructions={**_TEXT, "description": "The body in Markdown: the steps to follow."},
        allowed_tools={
            "type": "array",
            "items": _TEXT,
            "description": "Tools that the skill needs, such as Read or Bash(git:*); omit it for no restriction.",
        },
        files={
            "type": "array",
            "maxItems": _MOST_FILES,
            "items": object_schema(
                "path text",
                path={**_TEXT, "description": "references/format.md, scripts/check.py, assets/form.txt."},
                text={"type": "string"},
            ),
            "description": "Other files of the skill; scripts go below scripts/.",
        },
    ),
)


class SkillExistsError(SkillError):
    """A skill of this name exists already, at `location`."""

    code = "skill_conflict"
    name: str
    location: str
    sentence = "a skill {name!r} exists already ({location}) and is not overwritten; choose another name"


class _Draft(Struct, frozen=True, kw_only=True):
    """A skill before it is written: `source` is the text of SKILL.md, `files` maps paths to texts of other files."""

    name: str
    source: str
    files: Mapping[str, str]


class CreateSkillTool:
    """Writes new skills to `skills_dir`, which should be a source of `catalog`. Asks `approver` for each skill."""

    spec = SPEC

    def __init__(self, skills_dir: str | os.PathLike[str], catalog: Catalog, approver: Approver) -> None:
        self._directory, self._catalog, self._approver = os.path.abspath(skills_dir), catalog, approver

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Validate, ask for approval and write a skill. Return its files and a text for the user.

        Raises:
            InvalidSkillError, InvalidArgumentsError, UnsafePathError: the draft is invalid; no person was asked.
            SkillExistsError: the name is in use.
            PolicyDeniedError, ApprovalRequiredError: the skill was not approved.
        """
        require_executor(self, call)
        draft = _drafted(arguments)
        target = await to_thread.run_sync(self._checked_target, draft)
        await self._ask(draft, target)
        await to_thread.run_sync(self._write, draft, target)
        await to_thread.run_sync(self._catalog.refresh)
        location = os.path.join(self._directory, draft.name, "SKILL.md")
        return {
            "name": draft.name,
            "location": location,
            "files": ["SKILL.md", *draft.files],
            "available": self._taken_at(draft.name) == location,
            "next": (
                f"Tell the user that the skill {draft.name!r} was created and what it does, and offer to test it. "
                "Do not load it before the user says so."
            ),
        }

    def _checked_target(self, draft: _Draft) -> str:
        """Validate the draft and return the real path of its new directory."""
        _require_valid(draft)
        if (location := self._taken_at(draft.name)) is not None:
            raise SkillExistsError(draft.name, location)
        target = os.path.join(os.path.realpath(self._directory), draft.name)
        if os.path.lexists(target):
            raise SkillExistsError(draft.name, target)
        return target

    def _taken_at(self, name: str) -> str | None:
        try:
            return self._catalog.get(name).location
        except SkillNotFoundError:
            return None

    async def _ask(self, draft: _Draft, target: str) -> None:
        """Ask for approval with the whole text and the real target path.

        The question shows `directory` as the target. A file of this name is shown as `./directory`, so that it cannot
        replace the target.
        """
        files = {f"./{path}" if path == _TARGET else path: text for path, text in draft.files.items()}
        request = ApprovalRequest(
            tool=SPEC.name,
            arguments={_TARGET: target, "SKILL.md": draft.source, **files},
            reason="a new skill would be written, and be available to agents",
        )
        answer = await asked(self._approver.approve, request)
        if not isinstance(answer, Unanswered):
            report_approval(answer.by)
        match answer:
            case Refusal(reason=reason):
                raise PolicyDeniedError("approval", reason)
            case Unanswered(instead=instead):
                raise ApprovalRequiredError(SPEC.name, request.id, request.reason, instead)

    def _write(self, draft: _Draft, target: str) -> None:
        """Write the approved files to the approved real path, even if a symbolic link leads elsewhere now."""
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.mkdir(target)  # fails if the name exists, even if it was created in the meantime
        except FileExistsError:
            raise SkillExistsError(draft.name, target) from None
        except OSError as fault:
            raise InvalidArgumentsError((f"{self._directory} cannot be written: {fault.strerror}",)) from None
        try:
            _put(target, draft)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise


def _drafted(arguments: Mapping[str, object]) -> _Draft:
    fields = {"name": str(arguments["name"]), "description": str(arguments["description"])}
    if "allowed_tools" in arguments:
        fields["allowed-tools"] = " ".join(cast("Sequence[str]", arguments["allowed_tools"]))
    body = str(arguments["instructions"]).strip("\n")
    files = _files(cast("Sequence[Mapping[str, str]]", arguments.get("files", ())))
    return _Draft(name=fields["name"], source=document_text(fields, f"\n{body}\n"), files=files)


def _files(listed: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the files by path. Each path must be inside the skill, and no two paths may be equal.

    Raise UnsafePathError for a path that could leave the skill. Raise InvalidArgumentsError for a path that is hidden,
    in use, unreadable for a person, or too long.
    """
    files: dict[str, str] = {}
    problems = []
    seen: set[tuple[str, ...]] = set()
    for item in listed:
        parts = check_relative(item["path"])
        key = tuple(part.casefold() for part in parts)
        if not parts or "skill.md" in key or any(part.startswith(".") for part in parts):
            problems.append(f"{item['path']!r} cannot be a further file: it is hidden, SKILL.md, or empty")
        elif any(key[: len(other)] == other or other[: len(key)] == key for other in seen):
            problems.append(f"{item['path']!r} conflicts with the path of another file")
        elif any(not part.isprintable() or hides_something(part) for part in parts):
            problems.append(f"{item['path']!a} contains invisible characters; use letters, digits, - _ and .")
        elif len("/".join(parts).encode()) > _LONGEST_PATH or any(len(p.encode()) > _LONGEST_PART for p in parts):
            problems.append(
                f"{item['path'][:40]!r}… is too long: at most {_LONGEST_PART} bytes per name, {_LONGEST_PATH} in all"
            )
        seen.add(key)
        files["/".join(parts)] = item["text"]
    if problems:
        raise InvalidArgumentsError(tuple(problems))
    return files


def _require_valid(draft: _Draft) -> None:
    """Refuse a draft that violates the specification. The error carries every violation."""
    if name_faults(draft.name):  # an invalid name must not become a directory, so only the text is validated
        found = validate_skill(parse_document(draft.source))
    else:
        with tempfile.TemporaryDirectory(prefix="prowess-draft-") as place:
            target = os.path.join(place, draft.name)
            os.mkdir(target)
            _put(target, draft)
            found = validate_skill(target)
    if errors := tuple(fault for fault in found if fault.severity == "error"):
        raise InvalidSkillError(errors)


def _put(target: str, draft: _Draft) -> None:
    for path, text in draft.files.items():
        place = os.path.join(target, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        mode = 0o755 if path.startswith("scripts/") else 0o644
        write_atomically(place, text.encode("utf-8", "surrogatepass"), mode)
    write_atomically(os.path.join(target, "SKILL.md"), draft.source.encode("utf-8", "surrogatepass"), 0o644)
