"""The roles of a set of skills, one group each, and whether their trits balance.

Two rules of balance are in use, and both are stated: the law says that the trits add up to 0 modulo 3; the stricter one
asks for whole triads too, so that the number of skills is a multiple of three. Formal specification 000, part 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.format.role import Role, balancer, is_balanced, role_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Style = Callable[[str, str], str]

_TRIAD = 3
_GOOD, _BAD = "#10B981", "#EF4444"


class TriadSummary(Struct, frozen=True, kw_only=True):
    """Names by role. `missing` is the role of one more skill that balances the set, None where it is balanced."""

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
        skills = f"{count} skill{'' if count == 1 else 's'}"
        whole = count % _TRIAD == 0
        triads = "whole triads" if self.in_triads else "balanced in no triads" if whole else "not a multiple of 3"
        yield _verdict(self.in_triads, f"{skills}: {triads}", style)
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
