"""One skill for a person to read, or the roles of a set of skills.

The page of a skill has what it says of itself, what each level of it costs a model, and its text.

The levels are those of progressive disclosure: name and description are always there, the body is read when the skill
is loaded, files when they are needed. Each number says how it was counted. Formal specification 000, parts 3 and 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import counted, printable, printable_line
from prowess.format.limits import MAX_BODY_TOKENS
from prowess.format.role import Role, balancer, is_balanced, role_of
from prowess.format.tokens import CHARACTERS_A_TOKEN, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prowess.format import Skill

    Style = Callable[[str, str], str]

_SHOWN_FILES = 50
_TRIAD = 3
_GOOD, _BAD = "#10B981", "#EF4444"


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
        files = counted(len(skill.resources), "file")
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


class TriadSummary(Struct, frozen=True, kw_only=True):
    """The roles of a set of skills, one group each, and whether their trits balance.

    Two rules of balance are in use, and both are stated: the law says that the trits add up to 0 modulo 3; the stricter
    one asks for whole triads too, so that the number of skills is a multiple of three. Formal specification 000, part
    11. `missing` is the role of one more skill that balances the set, None if it is balanced.
    """

    members: dict[Role, tuple[str, ...]]

    @classmethod
    def of(cls, names: Iterable[str]) -> TriadSummary:
        """Group names by their roles, each group in the order given."""
        groups: dict[Role, list[str]] = {role: [] for role in Role}
        for name in names:
            groups[role_of(name)].append(name)
        return cls(members={role: tuple(found) for role, found in groups.items()})

    @property
    def roles(self) -> tuple[Role, ...]:
        """The role of each skill."""
        return tuple(role for role, names in self.members.items() for _ in names)

    @property
    def balanced(self) -> bool:
        """Whether the trits add up to 0 modulo 3."""
        return is_balanced(self.roles)

    @property
    def in_triads(self) -> bool:
        """Whether they do, and the number of skills is a multiple of three."""
        return self.balanced and len(self.roles) % _TRIAD == 0

    @property
    def missing(self) -> Role | None:
        """The role that would balance the set."""
        return None if self.balanced else balancer(self.roles)

    def lines(self, style: Style = lambda text, _colour: text) -> Iterator[str]:
        """Yield the summary line by line, the verdict last; `style` colours a text that is safe already."""
        for role, names in self.members.items():
            yield f"{style('■', role.color)} {role.title} ({role.balanced})"
            for name in names:
                yield f"  {style('●', role.color)} {printable_line(name)}"
        count, total = len(self.roles), sum(role.trit for role in self.roles) % _TRIAD
        whole = count % _TRIAD == 0
        triads = "whole triads" if self.in_triads else "balanced in no triads" if whole else "not a multiple of 3"
        yield _verdict(self.in_triads, f"{counted(count, 'skill')}: {triads}", style)
        need = "balanced" if self.missing is None else f"needs a {self.missing.title} ({self.missing.balanced})"
        yield _verdict(self.balanced, f"∑ trits ≡ {total} (mod 3): {need}", style)

    def as_dict(self) -> dict[str, object]:
        """Return the summary as plain data for JSON."""
        return {
            "roles": {role.title: list(names) for role, names in self.members.items()},
            "sum": sum(role.trit for role in self.roles) % _TRIAD,
            "balanced": self.balanced,
            "in_triads": self.in_triads,
            "missing": None if self.missing is None else self.missing.title,
        }


def _verdict(good: bool, text: str, style: Style) -> str:  # noqa: FBT001 -- the sign is what it decides
    return f"{style('✓' if good else '✗', _GOOD if good else _BAD)} {text}"
