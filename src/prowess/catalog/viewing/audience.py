"""The audience of a catalog: the agent, tenant and environment that a skill's `scope` is compared with.

Each of the three is the argument of the caller, else `PROWESS_AGENT`, `PROWESS_TENANT` or `PROWESS_ENVIRONMENT`, else
the key of the same name in the table `[session]` of the user's `config.toml`. If the machine is enrolled, the tenant
and the environment that it was given win over all of these. There is no default, and files of a
project cannot set them. If the `scope` of a skill requires a value that is not known, the skill is not visible: the
catalog answers as if it did not exist.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, TypedDict

from msgspec import Struct

from prowess._internal.files.enrolment import given_to_machine
from prowess._internal.files.session_table import session_setting
from prowess.catalog.viewing.left_out import LeftOut
from prowess.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog.entry import SkillEntry

_Place = Literal["agent", "tenant", "environment"]


class Audience(Struct, frozen=True, kw_only=True):
    """The audience of a catalog. None means that the value is not known."""

    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None

    def here(self) -> Audience:
        """Return this audience, with the values that are configured on this machine if the caller gave none."""
        return Audience(
            agent=self.agent or _configured("agent"),
            tenant=given_to_machine("tenant") or self.tenant or _configured("tenant"),
            environment=given_to_machine("environment") or self.environment or _configured("environment"),
        )

    def hides(self, entry: SkillEntry) -> LeftOut | None:
        """Return why a skill is not visible to this audience, or None if it is visible."""
        scope = entry.extended.scope
        if scope.admits(agent=self.agent, tenant=self.tenant, environment=self.environment):
            return None
        if scope.closed:
            reason = "its scope cannot be read, so it is visible nowhere"
            advice = "correct or remove the field scope; its keys are agents, tenants and environments"
        else:
            known = {"agents": self.agent, "tenants": self.tenant, "environments": self.environment}
            closed = [
                (name, allowed, value)
                for name, value in known.items()
                if (allowed := getattr(scope, name)) is not None and value not in allowed
            ]
            reason = f"its scope allows {'; it allows '.join(_fault(*one) for one in closed)}"
            advice = "; and ".join(_advice(*one) for one in closed)
        return LeftOut.of_entry(entry, "out_of_scope", "catalog.scope", f"out of scope ({reason})", advice)


class AudienceKeywords(TypedDict, total=False):
    """The fields of `Audience` as keywords."""

    agent: str | None
    tenant: str | None
    environment: str | None


def _fault(name: str, allowed: Sequence[str], value: str | None) -> str:
    """Return what the key `name` of a scope allows, and the value that is not among it."""
    here = "none is known here" if value is None else f"here it is {value}"
    return f"{name} {', '.join(allowed) or '(none)'}, but {here}"


def _advice(name: str, allowed: Sequence[str], value: str | None) -> str:
    """Return what to change, so that the key `name` of a scope admits this audience."""
    field = f"remove scope.{name}" if value is None else f"add {value} to scope.{name}"
    one = name.removesuffix("s")
    return f"use --{one} {allowed[0]}, PROWESS_{one.upper()} or {one}= in Python, or {field}" if allowed else field


def _configured(place: _Place) -> str | None:
    if named := os.environ.get(f"PROWESS_{place.upper()}", "").strip():
        return named
    try:
        return session_setting(place)
    except ConfigurationError:  # other code reads this file and raises the error
        return None
