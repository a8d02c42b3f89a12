"""One skill for a person to read: what it says of itself, what each level of it costs a model, and its text.

The levels are those of progressive disclosure: name and description are always there, the body is read when the skill
is loaded, files when they are needed. Each number says how it was counted. Formal specification 000, parts 3 and 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.format.limits import MAX_BODY_TOKENS
from prowess.format.role import role_of
from prowess.format.tokens import CHARACTERS_A_TOKEN, count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.format import Role, Skill

_SHOWN_FILES = 50


class SkillPage(Struct, frozen=True, kw_only=True):
    """What `prowess show` shows; all texts are as the skill has them, so that whoever prints them must escape them."""

    skill: Skill

    @property
    def role(self) -> Role:
        """The role that the name gives."""
        return role_of(self.skill.name)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What the skill says of itself: label and text."""
        fields = self.skill.frontmatter
        tools = None if fields.allowed_tools is None else " ".join(map(str, fields.allowed_tools)) or "none"
        known = (
            ("description", fields.description),
            ("license", fields.license),
            ("compatibility", fields.compatibility),
            ("allowed-tools", tools),
            *((f"metadata.{key}", value) for key, value in fields.metadata.items()),
        )
        return tuple((label, text) for label, text in known if text is not None)

    @property
    def budget(self) -> tuple[tuple[str, str], ...]:
        """What each level costs: its name, and how many tokens by which method."""
        skill = self.skill
        body = count_tokens(skill.body)
        over = f", over {MAX_BODY_TOKENS}" if body.tokens > MAX_BODY_TOKENS else ""
        size = sum(file.size for file in skill.resources)
        files = f"{len(skill.resources)} file{'' if len(skill.resources) == 1 else 's'}"
        return (
            ("1 always", str(count_tokens(f"{skill.name}: {skill.description}"))),
            ("2 when loaded", f"{body}{over}"),
            ("3 when needed", f"about {-(-size // CHARACTERS_A_TOKEN)} tokens (bytes / {CHARACTERS_A_TOKEN}), {files}"),
        )

    def lines(self, *, roles: bool = False) -> Iterator[str]:
        """Yield the page as plain lines, safe to print; with `roles` the boxxy role is in it."""
        yield printable_line(self.skill.name) + (f"  {self.role.title} ({self.role.balanced})" if roles else "")
        yield ""
        for label, text in (*self.facts, *self.budget):
            yield f"{printable_line(label)}: {printable_line(text)}"
        for file in self.skill.resources[:_SHOWN_FILES]:
            yield f"  {printable_line(file.path)}  {file.size} bytes"
        if len(self.skill.resources) > _SHOWN_FILES:
            yield f"  and {len(self.skill.resources) - _SHOWN_FILES} more"
        yield ""
        yield from printable(self.skill.body).strip("\n").split("\n")

    def as_dict(self) -> dict[str, object]:
        """Return name, role and budget as plain data for JSON."""
        return {
            "name": self.skill.name,
            "location": self.skill.location,
            "trit": self.role.balanced,
            "role": self.role.title,
            "color": self.role.color,
            "budget": dict(self.budget),
            "files": [{"path": file.path, "size": file.size} for file in self.skill.resources],
        }
