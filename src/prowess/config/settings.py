"""Every setting in one table: its name, what it may be, the variable and flag that set it, its default.

The reader of files, the environment, the flags, `prowess config show`, the JSON Schema and the page of the
documentation are made from this table.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from prowess.config.presets import PRESETS
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["choice", "selectors", "severities", "patterns"]
FORMATS = ("text", "json", "sarif", "github", "junit")
LEVELS = ("error", "warning", "info", "off")


class Setting(NamedTuple):
    """One setting. `choices` are those of a `choice`; `by_path`: it may differ for some of a project's paths.

    A `choice` is a text, `selectors` and `patterns` are tuples of texts, `severities` pairs of selector and severity.
    """

    name: str
    kind: Kind
    environment: str
    flag: str
    default: object
    summary: str
    choices: tuple[str, ...] = ()
    by_path: bool = True


_ROWS = (
    Setting("profile", "choice", "PROWESS_PROFILE", "--profile", "spec", "whose reading judges", tuple(PROFILES)),
    Setting("preset", "choice", "PROWESS_PRESET", "--preset", "recommended", "a named bundle", tuple(PRESETS)),
    Setting("select", "selectors", "PROWESS_SELECT", "--select", (), "only these rules run"),
    Setting("ignore", "selectors", "PROWESS_IGNORE", "--ignore", (), "these rules do not run"),
    Setting("severity", "severities", "PROWESS_SEVERITY", "--severity", (), "how bad a finding is"),
    Setting("exclude", "patterns", "PROWESS_EXCLUDE", "--exclude", (), "skills that are passed over", by_path=False),
    Setting(
        "suppressions",
        "choice",
        "PROWESS_SUPPRESSIONS",
        "--suppressions",
        "trusted",
        "whether comments in a skill count",
        ("trusted", "on", "off"),
    ),
    Setting("format", "choice", "PROWESS_FORMAT", "--format", "text", "the form of the report", FORMATS, by_path=False),
)

SETTINGS: Mapping[str, Setting] = MappingProxyType({row.name: row for row in _ROWS})
