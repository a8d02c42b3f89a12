"""Every setting in one table: its name, what it may be, the variable and flag that set it, its default.

The reader of files, the environment, the flags, `prowess config show`, the JSON Schema and the page of the
documentation are made from this table.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from prowess.config.presets import PRESETS
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping


OriginKind = Literal["default", "preset", "user", "project", "environment", "flag"]


class Origin(Struct, frozen=True, kw_only=True):
    """`name` is the path, variable, flag or preset; `line` is 1-based and stands only beside a path."""

    kind: OriginKind
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        """`prowess.toml:3`, `PROWESS_PROFILE`, `--profile`, `preset strict` or `default`."""
        if self.kind == "default":
            return "default"
        if self.kind == "preset":
            return f"preset {self.name}"
        return self.name if self.line is None else f"{self.name}:{self.line}"


class Value(Struct, frozen=True, kw_only=True):
    """The value of one setting, of the type that `Setting.kind` names, and where it was set.

    `entries` has the origin of each entry of a table.
    """

    value: object
    origin: Origin
    entries: Mapping[str, Origin] = field(default_factory=dict)


DEFAULT = Origin(kind="default")


Kind = Literal["choice", "selectors", "severities", "patterns"]
FORMATS = ("text", "json", "sarif", "github", "junit")
LEVELS = ("error", "warning", "info", "off")


class Setting(Struct, frozen=True, kw_only=True):
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
    Setting(
        name="profile",
        kind="choice",
        environment="PROWESS_PROFILE",
        flag="--profile",
        default="spec",
        summary="whose reading judges",
        choices=tuple(PROFILES),
    ),
    Setting(
        name="preset",
        kind="choice",
        environment="PROWESS_PRESET",
        flag="--preset",
        default="recommended",
        summary="a named bundle",
        choices=tuple(PRESETS),
    ),
    Setting(
        name="select",
        kind="selectors",
        environment="PROWESS_SELECT",
        flag="--select",
        default=(),
        summary="only these rules run",
    ),
    Setting(
        name="ignore",
        kind="selectors",
        environment="PROWESS_IGNORE",
        flag="--ignore",
        default=(),
        summary="these rules do not run",
    ),
    Setting(
        name="severity",
        kind="severities",
        environment="PROWESS_SEVERITY",
        flag="--severity",
        default=(),
        summary="how bad a finding is",
    ),
    Setting(
        name="exclude",
        kind="patterns",
        environment="PROWESS_EXCLUDE",
        flag="--exclude",
        default=(),
        summary="skills that are passed over",
        by_path=False,
    ),
    Setting(
        name="suppressions",
        kind="choice",
        environment="PROWESS_SUPPRESSIONS",
        flag="--suppressions",
        default="trusted",
        summary="whether comments in a skill count",
        choices=("trusted", "on", "off"),
    ),
    Setting(
        name="format",
        kind="choice",
        environment="PROWESS_FORMAT",
        flag="--format",
        default="text",
        summary="the form of the report",
        choices=FORMATS,
        by_path=False,
    ),
)

SETTINGS: Mapping[str, Setting] = MappingProxyType({row.name: row for row in _ROWS})
