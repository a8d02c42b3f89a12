"""The audience of a catalog: the agent, tenant and environment that a skill's `scope` is compared with.

The environment is the argument of the caller, else `PROWESS_ENVIRONMENT`, else `environment` in the table `[session]`
of the user's `config.toml`. There is no default, and files of a project cannot set the environment. If the `scope` of a
skill requires a value that is not known, the skill is not visible: the catalog answers as if it did not exist.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.session_table import session_setting
from prowess.errors import ConfigurationError

if TYPE_CHECKING:
    from prowess.catalog.entry import SkillEntry

ENVIRONMENT_VARIABLE = "PROWESS_ENVIRONMENT"


class Audience(Struct, frozen=True, kw_only=True):
    """The audience of a catalog. None means that the value is not known."""

    agent: str | None = None
    tenant: str | None = None
    environment: str | None = None

    def here(self) -> Audience:
        """Return this audience. If the caller gave no environment, add the one that is configured on this machine."""
        return replace(self, environment=self.environment or _environment())

    def why_hidden(self, entry: SkillEntry) -> str | None:
        """Return why a skill is not visible to this audience, or None if it is visible."""
        scope = entry.extended.scope
        known = {"agents": self.agent, "tenants": self.tenant, "environments": self.environment}
        if scope.admits(agent=self.agent, tenant=self.tenant, environment=self.environment):
            return None
        if scope.closed:
            return "its scope cannot be read, so it is visible nowhere"
        name, place = next(
            (name, place)
            for name, place in known.items()
            if (allowed := getattr(scope, name)) is not None and place not in allowed
        )
        here = "none is known here" if place is None else f"here it is {place}"
        return f"its scope allows {name} {', '.join(getattr(scope, name)) or '(none)'}, but {here}"


class AudienceKeywords(TypedDict, total=False):
    """The fields of `Audience` as keywords."""

    agent: str | None
    tenant: str | None
    environment: str | None


def _environment() -> str | None:
    if named := os.environ.get(ENVIRONMENT_VARIABLE, "").strip():
        return named
    try:
        return session_setting("environment")
    except ConfigurationError:  # other code reads this file and raises the error
        return None
