"""Settings: their table, the presets that bundle them, and where a value was set.

Each setting is declared once: its name, what it may be, its default. Its variable and its flag are made from the name;
the reader of files, the environment, the flags, `prowess config show`, the JSON Schema and the page of the
documentation are made from this table.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from prowess.diagnostics import Severity
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

SettingKind = Literal["choice", "selectors", "severities", "patterns"]
OriginKind = Literal["default", "preset", "user", "project", "environment", "flag"]
FORMATS = ("text", "json", "sarif", "github", "junit")
LEVELS = ("error", "warning", "info", "off")

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO


class Preset(Struct, frozen=True, kw_only=True):
    """A named bundle of settings, just above the defaults: a value that is set anywhere else beats it.

    `severity` and `shift` mean what they mean in a `Selection`; None is off.
    """

    name: str
    summary: str
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | None], ...] = ()
    shift: tuple[tuple[Severity, Severity | None], ...] = ()


_PRESETS = (
    Preset(name="recommended", summary="what the profile says"),
    Preset(name="strict", summary="each warning is an error", shift=((_W, _E),)),
    Preset(name="quiet", summary="no infos", shift=((_I, None),)),
    Preset(name="minimal", summary="errors alone", shift=((_W, None), (_I, None))),
    Preset(
        name="portable",
        summary="what some clients refuse is an error, such as a name beyond ASCII or the file name skill.md",
        severity=(
            ("name.ascii", _E),
            ("allowed-tools.separator", _E),
            ("file.name", _E),
            ("encoding.bom", _E),
            ("reference.case", _E),
        ),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _PRESETS})


class Setting(Struct, frozen=True, kw_only=True):
    """One setting. `choices` are those of a `choice`; `by_path`: it may differ for some of a project's paths.

    A `choice` is a text, `selectors` and `patterns` are tuples of texts, `severities` pairs of selector and severity.
    """

    name: str
    kind: SettingKind
    summary: str
    default: object = ()
    choices: tuple[str, ...] = ()
    by_path: bool = True

    @property
    def environment(self) -> str:
        """The variable that sets it."""
        return f"PROWESS_{self.name.upper()}"

    @property
    def flag(self) -> str:
        """The flag that sets it."""
        return f"--{self.name}"


_SUPPRESSIONS = ("trusted", "on", "off")
_ROWS = (
    Setting(name="profile", kind="choice", summary="whose reading judges", default="spec", choices=tuple(PROFILES)),
    Setting(name="preset", kind="choice", summary="a named bundle", default="recommended", choices=tuple(PRESETS)),
    Setting(name="select", kind="selectors", summary="only these rules run"),
    Setting(name="ignore", kind="selectors", summary="these rules do not run"),
    Setting(name="severity", kind="severities", summary="how bad a finding is"),
    Setting(name="exclude", kind="patterns", summary="skills that are passed over", by_path=False),
    Setting(
        name="suppressions",
        kind="choice",
        summary="whether comments in a skill count",
        default=_SUPPRESSIONS[0],
        choices=_SUPPRESSIONS,
    ),
    Setting(
        name="format", kind="choice", summary="the form of the report", default="text", choices=FORMATS, by_path=False
    ),
)

SETTINGS: Mapping[str, Setting] = MappingProxyType({row.name: row for row in _ROWS})


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
