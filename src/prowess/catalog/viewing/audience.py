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
from prowess.catalog.viewing.left_out import LeftOut
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

    def hides(self, entry: SkillEntry) -> LeftOut | None:
        """Return why a skill is not visible to this audience, or None if it is visible."""
        scope = entry.extended.scope
        if scope.admits(agent=self.agent, tenant=self.tenant, environment=self.environment):
            return None
        if scope.closed:
            reason, advice = "its scope cannot be read, so it is visible nowhere", "correct the field scope"
        else:
            known = {"agents": self.agent, "tenants": self.tenant, "environments": self.environment}
            name, value = next(
                (name, value)
                for name, value in known.items()
                if (allowed := getattr(scope, name)) is not None and value not in allowed
            )
            allowed = getattr(scope, name)
            here = "none is known here" if value is None else f"here it is {value}"
            reason = f"its scope allows {name} {', '.join(allowed) or '(none)'}, but {here}"
            advice = f"add to scope.{name}, or name one of them"
            if allowed:
                advice += f": --{name[:-1]} {allowed[0]}, PROWESS_{name[:-1].upper()} or the argument {name[:-1]}="
        return LeftOut.of_entry(entry, "out_of_scope", "catalog.scope", f"out of scope ({reason})", advice)


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
