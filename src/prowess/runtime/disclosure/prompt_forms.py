"""A list of skills as a host may want it in its prompt: five forms of the same data, each within a budget.

Every name stays; where a budget is given, descriptions give way to one common length, so that the result depends on
nothing but the list. Texts of skills are data: no name, description or location can end its element, item or line, and
what XML cannot hold becomes U+FFFD. `attributes` is the form of formal specification 000, part 4; `tool` is the
description of the one tool of platform requirements 003. The form of the reference tool, byte for byte, is in
`prowess.compat.skills_ref`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess.format.role import role_of
from prowess.runtime.disclosure import model_texts, skill_tool
from prowess.tools.prompt_escaping import escaped, json_for_model, neutral, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.runtime.disclosure.model_texts import ListedSkill

Form = Literal["xml", "attributes", "tool", "json", "markdown"]

# What XML 1.0 cannot hold in any spelling, an undecodable byte of a path among it.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]!~|$])")  # what begins or ends something inside a line
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LIST = re.compile(r"<(?=\s*/?\s*skills\b)", re.IGNORECASE)  # the tag that only this form has


class Prompt(Struct, frozen=True, kw_only=True):
    """A list of skills as text; `shortened` names those whose descriptions were cut.

    `over_budget` says that names and locations alone are longer than the budget.
    """

    text: str
    shortened: tuple[str, ...] = ()
    over_budget: bool = False


def prompt(form: Form, skills: Sequence[ListedSkill], characters: int | None = None) -> Prompt:
    """Return the skills in one form, in the order given, as at most `characters` characters; nothing without skills."""
    render = FORMS[form]
    plain = [_plain(skill) for skill in skills]
    return fitted(plain, lambda limit: render(plain, limit), characters) if plain else Prompt(text="")


def fitted(skills: Sequence[ListedSkill], render: Callable[[int | None], str], characters: int | None = None) -> Prompt:
    """Return what `render` makes with the greatest limit on descriptions that keeps it within `characters`."""
    if characters is None:
        return Prompt(text=render(None))
    limit = model_texts.common_limit(skills, lambda limit: len(render(limit)) <= characters)
    text = render(limit)
    shortened = () if limit is None else tuple(skill.name for skill in skills if _is_cut(skill, limit))
    return Prompt(text=text, shortened=shortened, over_budget=len(text) > characters)


def active(skill: ListedSkill, body: str) -> str:
    """Return an active skill in the form `attributes`: opening element, whole body, and a close that is ours alone."""
    shown = _LIST.sub("&lt;", neutral(body)).strip("\r\n")
    return f"<skill{_attributes(_plain(skill), None)}>\n{shown}\n</skill>\n"


def _is_cut(skill: ListedSkill, limit: int) -> bool:
    return len(one_line(skill.description)) > limit


def _plain(skill: ListedSkill) -> ListedSkill:
    return replace(
        skill,
        name=_NOT_XML.sub("\ufffd", skill.name),
        description=_NOT_XML.sub("\ufffd", skill.description),
        location=None if skill.location is None else _NOT_XML.sub("\ufffd", skill.location),
    )


def _as_attributes(skills: Sequence[ListedSkill], limit: int | None) -> str:
    lines = "".join(f"<skill{_attributes(skill, limit)} />\n" for skill in skills)
    return f'<skills count="{len(skills)}">\n{lines}</skills>\n'


def _attributes(skill: ListedSkill, limit: int | None) -> str:
    role = role_of(skill.name)
    found = {"name": skill.name, "description": model_texts.cut(skill, limit), "location": skill.location}
    derived = {"trit": role.balanced, "role": role.title, "color": role.color}
    return "".join(f' {key}="{escaped(value)}"' for key, value in {**found, **derived}.items() if value is not None)


def _as_tool(skills: Sequence[ListedSkill], limit: int | None) -> str:
    return skill_tool.description(skill_tool.listed(skills, limit))


def _as_json(skills: Sequence[ListedSkill], limit: int | None) -> str:
    items = [
        json_for_model({"name": skill.name, "description": model_texts.cut(skill, limit), "location": skill.location})
        for skill in skills
    ]
    return "[\n" + ",\n".join(items) + "\n]\n"


def _as_markdown(skills: Sequence[ListedSkill], limit: int | None) -> str:
    return "".join(
        f"- **{_in_markdown(skill.name)}**: {_in_markdown(model_texts.cut(skill, limit))}"
        + ("\n" if skill.location is None else f" ({_in_markdown(skill.location)})\n")
        for skill in skills
    )


def _in_markdown(text: str) -> str:
    return neutral(_MARKDOWN.sub(r"\\\1", one_line(text).translate(_ENTITIES)))


FORMS: Mapping[Form, Callable[[Sequence[ListedSkill], int | None], str]] = {
    "xml": model_texts.available_skills,
    "attributes": _as_attributes,
    "tool": _as_tool,
    "json": _as_json,
    "markdown": _as_markdown,
}
