"""The result of load and unload: active skills in order, unloaded skills, and notices for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from prowess.format.fields.extended_fields import extended_fields
from prowess.format.fields.near_fields import restricting_fields, tool_fields
from prowess.runtime.activation.substitution import Substitutions  # noqa: TC001 -- msgspec decodes it
from prowess.tools.prompt_escaping import sentence
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.runtime.state import ActiveSkill

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}

# How a skill's `allowed-tools` is read: other calls are refused (`restrict`) or asked about (`ask`), the listed calls
# need no approval (`preapprove`), or the list has no effect (`ignored`, skills of other servers). Null without a list.
ALLOWED_TOOLS_MODE = {"type": ["string", "null"], "enum": ["restrict", "ask", "preapprove", "ignored", None]}

# JSON Schema of `prowess.runtime.activation.substitution.Substitutions`; absent if no placeholder was replaced.
SUBSTITUTIONS_SCHEMA: Mapping[str, object] = object_schema(
    "replaced unfilled appended",
    replaced={"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
    unfilled={"type": "array", "items": _TEXT},
    appended={"type": "boolean"},
)

NOTICES_SCHEMA: Mapping[str, object] = {
    "type": "array",
    "items": object_schema("code message skill", code=_TEXT, message=_TEXT, skill=_TEXT_OR_NULL),
}

RECEIPT_SCHEMA: Mapping[str, object] = object_schema(
    "active_skills unloaded_skills notices",
    active_skills={
        "type": "array",
        "items": object_schema(
            "name location root_dir digest properties allowed_tools_mode",
            name=_TEXT,
            location=_TEXT_OR_NULL,
            root_dir=_TEXT_OR_NULL,
            digest=_TEXT_OR_NULL,
            properties={"type": "object"},
            allowed_tools_mode=ALLOWED_TOOLS_MODE,
            content=_TEXT_OR_NULL,
            substitutions=SUBSTITUTIONS_SCHEMA,
        ),
    },
    unloaded_skills={"type": "array", "items": _TEXT},
    notices=NOTICES_SCHEMA,
)


class Notice(Struct, frozen=True, kw_only=True):
    """A remark in a result: `code` is for programs, `message` is one sentence, `skill` names the skill concerned."""

    code: str
    message: str
    skill: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the notice as JSON data. The message is escaped: a name or path in it cannot imitate our tags."""
        return {"code": self.code, "message": sentence(self.message), "skill": self.skill}


class LoadedSkill(Struct, frozen=True, kw_only=True):
    """An active skill in the result of a load.

    `location` is the path of SKILL.md and `root_dir` its directory; both are None if the session hides paths of this
    machine. `digest` covers all files of the skill; None if they cannot be digested. `properties` is the front matter
    with its original keys. `allowed_tools_mode` is how `allowed-tools` is read: `restrict`, `ask`, `preapprove` or
    `ignored`; None if the skill has no such list. `content` is the body; None if it was given before. It is unset, and
    absent from the JSON, if bodies are in the instructions. `substitutions` counts the placeholders replaced in the
    body; None if there were none.
    """

    name: str
    location: str | None
    root_dir: str | None
    digest: str | None
    properties: dict[str, Any]
    allowed_tools_mode: str | None
    content: str | UnsetType | None = UNSET
    substitutions: Substitutions | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the entry of `active_skills` as JSON data."""
        fields = asdict(self)
        if self.content is UNSET:
            del fields["content"]
        if self.substitutions is None:
            del fields["substitutions"]
        else:
            fields["substitutions"] = self.substitutions.as_dict()
        return fields


class LoadResult(Struct, frozen=True, kw_only=True):
    """The result of `skills.load` and `skills.unload`.

    `active_skills` lists the active skills, the most recently loaded last. `unloaded_skills` are names. `notices` are
    remarks for the model.
    """

    active_skills: tuple[LoadedSkill, ...]
    unloaded_skills: tuple[str, ...]
    notices: tuple[Notice, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the result as JSON data, as the tools return it."""
        return {
            "active_skills": [skill.as_dict() for skill in self.active_skills],
            "unloaded_skills": list(self.unloaded_skills),
            "notices": [notice.as_dict() for notice in self.notices],
        }


def already_active(name: str) -> Notice:
    """Report that a repeated load changed nothing, because the skill is active already."""
    return Notice(code="already_active", message=f"{name} is loaded already and unchanged; follow it.", skill=name)


def hidden_removed(name: str) -> Notice:
    """Report that the description contains invisible characters, which are removed before models see it."""
    message = f"The description of {name} holds invisible characters; they are left out, and may be an attack."
    return Notice(code="hidden_text_removed", message=message, skill=name)


def reloaded(name: str) -> Notice:
    """Report that an edited skill was reloaded."""
    message = f"{name} changed since it was loaded; its new text is in force."
    return Notice(code="skill_reloaded", message=message, skill=name)


def not_digestible(skill: ActiveSkill) -> Notice:
    """Report why a skill has no digest."""
    message = (
        f"{skill.name} has no digest because {skill.obstacle!r} is a link, a special file or cannot be read; "
        "its other files are checked one by one."
    )
    return Notice(code="no_digest", message=message, skill=skill.name)


def removed(skill: ActiveSkill) -> Notice:
    """Report that a skill was unloaded because the catalog no longer lists it. Its `post` hooks did not run."""
    message = f"{skill.name} is no longer available and has been unloaded"
    if "hooks" in skill.properties and extended_fields(skill.properties).hooks.post:
        message += "; its post hooks were not run, because the skill is no longer listed"
    return Notice(code="skill_removed", message=f"{message}.", skill=skill.name)


def too_old(skill: str, reason: str) -> Notice:
    """Report that the deployment of a skill was not verified for longer than the policy allows."""
    return Notice(code="deployment_too_old", message=f"{skill} may be out of date: {reason}.", skill=skill)


def names_ignored(names: Sequence[str]) -> Notice:
    """Report that `names` was ignored because `all` was true."""
    message = f"all is true, so every skill was unloaded; names ({', '.join(names)}) was ignored."
    return Notice(code="names_ignored", message=message)


def kept_copy(skill: ActiveSkill) -> Notice:
    """Report that another copy of this name is active and stays."""
    message = (
        f"another copy of {skill.name} is active and stays; unload it first to load the one that now has the name."
    )
    return Notice(code="other_copy_active", message=message, skill=skill.name)


def already_running(name: str) -> Notice:
    """Report that a repeated call of the `skill` tool changed nothing."""
    message = f"{name} is running already and unchanged; its instructions are above: follow them."
    return Notice(code="already_active", message=message, skill=name)


def field_read_as(skill: ActiveSkill) -> Iterator[Notice]:
    """Report misspelt fields and the fields that they are read as."""
    for key, field in (*tool_fields(skill.properties).misspelt, *restricting_fields(skill.properties)):
        message = f"{skill.name} writes {key[:80]!r}, which is read as {field}; correct the spelling."
        yield Notice(code="field_read_as", message=message, skill=skill.name)


def commands_not_run(name: str) -> Notice:
    """Report that the commands in the body were left as text."""
    message = f"the commands in the body of {name} were not run: this session does not run them."
    return Notice(code="commands_not_run", message=message, skill=name)


WITHOUT_A_SHELL = "commands run without a shell, so put this one into a script below scripts/ and name that"


def command_refused(name: str, line: int, reason: str) -> Notice:
    """Report that one command in the body needs a shell and was not run."""
    message = f"the command in line {line} of {name}/SKILL.md was not run: {reason}; {WITHOUT_A_SHELL}."
    return Notice(code="command_refused", message=message, skill=name)


def hook_failed(skill: str, message: str) -> Notice:
    """Report a hook that failed too late to stop the operation."""
    return Notice(code="hook_failed", message=message, skill=skill)


def hook_context(skill: str, context: str) -> Notice:
    """Pass on a hook's text for the model. The text is data of the skill, not an instruction of the runtime."""
    return Notice(code="hook_context", message=f"A hook of {skill} adds: {context}", skill=skill)


def hook_message(skill: str, message: str) -> Notice:
    """Pass on a hook's text for the user."""
    return Notice(code="hook_message", message=f"A hook of {skill} tells the user: {message}", skill=skill)
