"""Navigation: every page, in its group. The role table decides who sees a page that is only for some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from prowess.governance.service.service_call import Actor
    from prowess.policy.roles import Operation


class NavigationEntry(Struct, frozen=True):
    """A link. `operation` is what a person must be able to do to see the page, None if everybody may."""

    path: str
    title: str
    operation: Operation | None = None


NAVIGATION: tuple[tuple[str, tuple[NavigationEntry, ...]], ...] = (
    (
        "What happens",
        (
            NavigationEntry("/activity", "Activity", "audit"),
            NavigationEntry("/sessions", "Sessions", "audit"),
            NavigationEntry("/usage", "Usage", "audit"),
            NavigationEntry("/audit", "Audit", "audit"),
        ),
    ),
    (
        "Skills",
        (
            NavigationEntry("/skills", "Skills"),
            NavigationEntry("/approvals", "Approvals"),
            NavigationEntry("/blocks", "Blocks"),
            NavigationEntry("/deployments", "Deployments"),
            NavigationEntry("/write", "Write a skill", "create"),
        ),
    ),
    (
        "Organisation",
        (
            NavigationEntry("/policies", "Policies"),
            NavigationEntry("/machines", "Machines", "audit"),
            NavigationEntry("/tokens", "Tokens", "administer"),
        ),
    ),
)


def navigation_of(actor: Actor) -> tuple[tuple[str, tuple[NavigationEntry, ...]], ...]:
    """Return the groups of links that a person sees."""
    groups = (
        (title, tuple(one for one in entries if one.operation is None or actor.may(one.operation)))
        for title, entries in NAVIGATION
    )
    return tuple((title, entries) for title, entries in groups if entries)


def home_of(actor: Actor) -> str:
    """Return the page that a person sees first."""
    return navigation_of(actor)[0][1][0].path
