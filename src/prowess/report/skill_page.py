"""Pages about skills for a person: one skill, the token costs of a set, or the roles of a set.

The page of a skill has its front matter fields, the cost of each level for a model, and its text.

The levels are those of progressive disclosure: name and description are always in the context, the body is read when
the skill is loaded, and files are read when they are needed. Each number is followed by the method of counting. Formal
specification 000, parts 3 and 11.
"""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import columns, counted, cut, printable, printable_line, wrapped
from prowess.format.fields.near_fields import tool_fields
from prowess.format.limits import FILES_FOR_PEOPLE, MANIFEST_FILE, MAX_BODY_TOKENS, PAPERS
from prowess.format.role import Role, balancer, is_balanced, role_of
from prowess.format.tokens import CHARACTERS_A_TOKEN, count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prowess.format import Skill
    from prowess.format.skill import Resource
    from prowess.format.tokens import TokenCount

    Style = Callable[[str, str], str]

_SHOWN_FILES = 50
_LOOKED_AT = 8192
_COLUMNS = ("always", "when_loaded", "when_needed", "files")
_FOR_PEOPLE = FILES_FOR_PEOPLE | {"evals", "tests", MANIFEST_FILE}
_TRIAD = 3
_GOOD, _BAD = "#10B981", "#EF4444"


class SkillPage(Struct, frozen=True, kw_only=True):
    """The content of `prowess show`. Only `lines` returns escaped text; escape other texts before printing."""

    skill: Skill
    policy: str | None = None  # effects of the policy on the skill, as text

    @property
    def role(self) -> Role:
        """The role that follows from the name."""
        return role_of(self.skill.name)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The fields of the front matter, and the policy: pairs of label and text. Absent fields are left out."""
        fields = self.skill.frontmatter
        tools = None if fields.allowed_tools is None else " ".join(map(str, fields.allowed_tools)) or "none"
        refused = "; ".join(map(_shown, tool_fields(fields.raw).disallowed)) or None
        hooks = _shown(fields.raw["hooks"]) if "hooks" in fields.raw else None
        known = (
            ("description", fields.description),
            ("license", fields.license),
            ("compatibility", fields.compatibility),
            ("allowed-tools", tools),
            ("disallowed-tools", refused),
            ("hooks", hooks),
            *((f"metadata.{key}", value) for key, value in fields.metadata.items()),
            ("policy", self.policy),
        )
        return tuple((label, text) for label, text in known if text is not None)

    @property
    def budget(self) -> tuple[tuple[str, str], ...]:
        """The cost of each level: pairs of the level's name and a text with the tokens and the method of counting."""
        skill = self.skill
        always, body, read = listing_tokens(skill), count_tokens(skill.body), files_to_read(skill)
        over = f", over {MAX_BODY_TOKENS}" if body.tokens > MAX_BODY_TOKENS else ""
        rest = len(skill.resources) - len(read)
        unread = f"; {counted(rest, 'file')} that no model reads" if rest else ""
        needed = f"about {tokens_to_read(read)} tokens (bytes / {CHARACTERS_A_TOKEN})"
        return (
            ("1 always", str(always)),
            ("2 when loaded", f"{body}{over}"),
            ("3 when needed", f"{needed}, {counted(len(read), 'file')}{unread}"),
        )

    def lines(self, *, roles: bool = False, width: int | None = None) -> Iterator[str]:
        """Yield the page in lines safe to print; `roles` adds the boxxy role. Lines before the text are wrapped."""
        yield printable_line(self.skill.name) + (f"  {self.role.title} ({self.role.balanced})" if roles else "")
        yield ""
        for label, text in (*self.facts, *self.budget):
            yield from wrapped(f"{printable_line(label)}: {printable_line(text)}", width, "  ")
        for file in self.skill.resources[:_SHOWN_FILES]:
            yield f"  {printable_line(file.path)}  {file.size} bytes"
        if len(self.skill.resources) > _SHOWN_FILES:
            yield f"  and {len(self.skill.resources) - _SHOWN_FILES} more"
        yield ""
        yield from printable(self.skill.body).strip("\n").split("\n")

    def as_dict(self) -> dict[str, object]:
        """Return name, role, budget and files as plain data for JSON."""
        return {
            "name": self.skill.name,
            "location": self.skill.location,
            "trit": self.role.balanced,
            "role": self.role.title,
            "color": self.role.color,
            "budget": dict(self.budget),
            "files": [{"path": file.path, "size": file.size} for file in self.skill.resources],
        }


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, dict)) else str(value)


def listing_tokens(skill: Skill) -> TokenCount:
    """Return the tokens of name and description, which are always in a model's context."""
    return count_tokens(f"{skill.name}: {skill.description}")


def files_to_read(skill: Skill) -> tuple[Resource, ...]:
    """Return the files that a model would read as text. Scripts, hidden files and files for people are left out."""
    return tuple(
        file for file in skill.resources if _is_read(file) and _is_text(os.path.join(skill.root_dir, file.path))
    )


def tokens_to_read(files: Iterable[Resource]) -> int:
    """Return the approximate number of tokens of `files`, from their size in bytes."""
    return -(-sum(file.size for file in files) // CHARACTERS_A_TOKEN)


def _is_read(file: Resource) -> bool:
    top, _, _ = file.path.partition("/")
    name = file.path.rpartition("/")[2].lower()
    hidden = any(part.startswith(".") for part in file.path.split("/"))
    return not (hidden or file.kind == "script" or top in _FOR_PEOPLE or name in _FOR_PEOPLE or name.startswith(PAPERS))


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            begin = file.read(_LOOKED_AT)
    except OSError:
        return False
    try:
        # incremental, because the part that was read may end inside a character
        getincrementaldecoder("utf-8")().decode(begin)
    except UnicodeDecodeError:
        return False
    return b"\0" not in begin


class SkillCost(Struct, frozen=True, kw_only=True):
    """Tokens that one skill costs: always, when it is loaded, and when all of its files are read."""

    name: str
    path: str
    always: int
    when_loaded: int
    when_needed: int
    files: int

    @classmethod
    def of(cls, skill: Skill, path: str) -> SkillCost:
        """Count a skill. `path` is its directory as the user wrote it."""
        read = files_to_read(skill)
        return cls(
            name=skill.name,
            path=path,
            always=listing_tokens(skill).tokens,
            when_loaded=count_tokens(skill.body).tokens,
            when_needed=tokens_to_read(read),
            files=len(read),
        )

    @classmethod
    def total(cls, costs: Sequence[SkillCost], path: str) -> SkillCost:
        """Return the sum of the costs, named by the number of skills."""
        sums = {name: sum(getattr(cost, name) for cost in costs) for name in _COLUMNS}
        return cls(name=counted(len(costs), "skill"), path=path, **sums)


def cost_lines(costs: Sequence[SkillCost], path: str, width: int | None) -> Iterator[str]:
    """Yield a table of costs with the sum in its last row. Long names are cut to keep it within `width` columns."""
    heads = [column.replace("_", " ") for column in _COLUMNS]
    counts = (*costs, SkillCost.total(costs, path))
    rows = [("skill", heads)]
    rows += [(printable_line(cost.name), [str(getattr(cost, column)) for column in _COLUMNS]) for cost in counts]
    widths = [max(len(values[at]) for _, values in rows) for at in range(len(heads))]
    room = max(columns(name) for name, _ in rows)
    if width is not None:
        room = max(min(room, width - sum(widths) - 2 * len(widths)), len("skill"))
    for name, values in rows:
        shown = cut(name, room)
        numbers = "".join(f"  {value:>{size}}" for value, size in zip(values, widths, strict=True))
        yield f"{shown}{' ' * (room - columns(shown))}{numbers}"


class TriadSummary(Struct, frozen=True, kw_only=True):
    """The roles of a set of skills, one group each, and whether their trits balance.

    Two rules of balance are in use, and both are reported. The law requires that the trits add up to 0 modulo 3. The
    stricter rule also requires whole triads: the number of skills is a multiple of three. Formal specification 000,
    part 11.
    """

    members: dict[Role, tuple[str, ...]]

    @classmethod
    def of(cls, names: Iterable[str]) -> TriadSummary:
        """Group names by role, in the given order within each group."""
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
        """Whether the set is balanced and the number of skills is a multiple of three."""
        return self.balanced and len(self.roles) % _TRIAD == 0

    @property
    def missing(self) -> Role | None:
        """The role of one more skill that would balance the set; None if the set is balanced."""
        return None if self.balanced else balancer(self.roles)

    def lines(self, style: Style = lambda text, _colour: text) -> Iterator[str]:
        """Yield the summary line by line, the verdict last. `style` colours a text that is already escaped."""
        for role, names in self.members.items():
            yield f"{style('■', role.color)} {role.title} ({role.balanced})"
            for name in names:
                yield f"  {style('●', role.color)} {printable_line(name)}"
        count, total = len(self.roles), sum(role.trit for role in self.roles) % _TRIAD
        whole = count % _TRIAD == 0
        triads = "whole triads" if self.in_triads else "not balanced" if whole else "not a multiple of 3"
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


def _verdict(good: bool, text: str, style: Style) -> str:  # noqa: FBT001 -- good or bad is the value itself
    return f"{style('✓' if good else '✗', _GOOD if good else _BAD)} {text}"
