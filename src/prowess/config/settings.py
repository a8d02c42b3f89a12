"""The table of settings, the presets that bundle them, and the origin of a value.

Each setting is declared once: its name, its allowed values and its default. Its variable and flag are derived from the
name. This table is used by the readers of files, environment and flags, by `prowess config show`, by the JSON Schema
and by the documentation page.

A file gives plain data; a variable or flag gives a text. The text `a,b` is a list, and `a=error,b=off` is a table.
`value_of` returns the value of a setting and a sentence for each fault.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from prowess._internal.files.catalog_settings import name_patterns
from prowess._internal.globs import PathGlob, path_components
from prowess._internal.layers_order import LAYERS_ORDERS
from prowess._internal.text.near_words import near_words
from prowess.diagnostics import Severity
from prowess.format.profiles import PROFILES
from prowess.rule_engine.rules import selector_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SettingKind = Literal["choice", "selectors", "severities", "patterns", "names", "sources"]
OriginKind = Literal["default", "preset", "user", "project", "environment", "flag"]
FORMATS = ("text", "json", "sarif", "github", "junit")
LEVELS = ("error", "warning", "info", "off")
_MAX_COMPONENTS = 64  # parts of one path pattern
MAX_ENTRIES = 1000  # of one list or table; a person does not maintain a longer one
_SHOWN = 60

Fault = tuple[str | None, str]
"""The faulty key, if the fault is in one entry of a table, and a sentence that describes the fault."""

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO


class Preset(Struct, frozen=True, kw_only=True):
    """A named bundle of settings, just above the defaults: a value from any other layer replaces it.

    `severity` and `shift` are fields of a `Selection`; None as a severity means off.
    """

    name: str
    summary: str
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | None], ...] = ()
    shift: tuple[tuple[Severity, Severity | None], ...] = ()


_PRESETS = (
    Preset(name="recommended", summary="severities as in the profile"),
    Preset(name="strict", summary="each warning is an error", shift=((_W, _E),)),
    Preset(name="quiet", summary="no infos", shift=((_I, None),)),
    Preset(name="minimal", summary="only errors", shift=((_W, None), (_I, None))),
    Preset(
        name="portable",
        summary="errors for anything that some clients refuse, such as a non-ASCII name or the file name skill.md",
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
    """One setting: its name, type and default.

    A `choice` is a string, one of `choices`. `selectors`, `patterns` (of paths) and `names` (patterns of names) are
    tuples of strings. `severities` is a tuple of pairs: selector and severity. A name with a dot is a key in a table.
    `by_path`: the setting may differ for some paths of a project. `has_flag`: commands have a flag for it.
    `by_project`: the file of a project may have it; otherwise it is ignored there, with a notice.
    """

    name: str
    kind: SettingKind
    summary: str
    default: object = ()
    choices: tuple[str, ...] = ()
    by_path: bool = True
    has_flag: bool = True
    by_project: bool = True

    @property
    def environment(self) -> str:
        """Name of the environment variable for this setting."""
        return f"PROWESS_{self.name.upper().replace('.', '_')}"

    @property
    def flag(self) -> str:
        """Command-line flag for this setting, or an empty text."""
        return f"--{self.name.replace('.', '-')}" if self.has_flag else ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the setting in a file, from the outer table to the inner one."""
        return tuple(self.name.split("."))


_SUPPRESSIONS = ("trusted", "on", "off")
_ROWS = (
    Setting(
        name="profile",
        kind="choice",
        summary="the rules and severities that apply",
        default="spec",
        choices=tuple(PROFILES),
    ),
    Setting(
        name="preset",
        kind="choice",
        summary="a named bundle of settings",
        default="recommended",
        choices=tuple(PRESETS),
    ),
    Setting(name="select", kind="selectors", summary="only these rules run"),
    Setting(name="ignore", kind="selectors", summary="these rules do not run"),
    Setting(name="severity", kind="severities", summary="the severity of findings"),
    Setting(name="exclude", kind="patterns", summary="skills that are not checked", by_path=False),
    Setting(
        name="suppressions",
        kind="choice",
        summary="whether comments in a skill suppress findings",
        default=_SUPPRESSIONS[0],
        choices=_SUPPRESSIONS,
    ),
    Setting(
        name="format", kind="choice", summary="the format of the report", default="text", choices=FORMATS, by_path=False
    ),
    Setting(
        name="disabled",
        kind="names",
        summary="the catalog hides the skills with these names",
        by_path=False,
        has_flag=False,
    ),
    Setting(
        name="layers.order",
        kind="choice",
        summary="whether personal or project skills replace the other ones",
        default=LAYERS_ORDERS[0],
        choices=LAYERS_ORDERS,
        by_path=False,
        by_project=False,
    ),
    Setting(
        name="registries",
        kind="sources",
        summary="where dependencies without a source are searched, and what `prowess registry` reads",
        by_path=False,
        has_flag=False,
        by_project=False,
    ),
)

SETTINGS: Mapping[str, Setting] = MappingProxyType({row.name: row for row in _ROWS})


class Origin(Struct, frozen=True, kw_only=True):
    """The place that sets a value. `name` is a path, variable, flag or preset. A path has a 1-based `line`."""

    kind: OriginKind
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        """Return `prowess.toml:3`, `PROWESS_PROFILE`, `--profile`, `preset strict` or `default`."""
        if self.kind == "default":
            return "default"
        if self.kind == "preset":
            return f"preset {self.name}"
        return self.name if self.line is None else f"{self.name}:{self.line}"


class Value(Struct, frozen=True, kw_only=True):
    """The value of one setting, of the type `Setting.kind`, and where it was set. `entries`: each entry's origin."""

    value: object
    origin: Origin
    entries: Mapping[str, Origin] = field(default_factory=dict)


DEFAULT = Origin(kind="default")


def value_of(setting: Setting, written: object) -> tuple[object, list[Fault]]:
    """Return a setting's value and its faults. Faulty entries are left out; a faulty choice becomes the default."""
    match setting.kind:
        case "choice":
            fault = _choice_fault(written, setting.choices)
            return (written, []) if fault is None else (setting.default, [(None, fault)])
        case "names":
            patterns, wrong = name_patterns(written)
            return patterns, [(None, fault) for fault in wrong]
        case "selectors" | "patterns" | "sources":
            return _texts(setting, written)
        case "severities":
            return _severities(written)


def from_text(setting: Setting, texts: Iterable[str]) -> object:
    """Convert the text of a variable, or the texts of a repeated flag, to the plain data that a file would hold."""
    if setting.kind == "choice":
        return [*texts][-1].strip()
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if setting.kind != "severities":
        return parts
    return {name.strip(): level.strip() for name, _, level in (part.partition("=") for part in parts)}


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the most similar name of `known`, or None if none is similar."""
    return next(iter(near_words(name[:_SHOWN], known, cutoff=cutoff)), None)


def shown(value: object) -> str:
    """Format a value for a message: one line, cut after 60 characters."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _choice_fault(written: object, choices: Sequence[str]) -> str | None:
    if written in choices:
        return None
    near = nearest(written, choices) if isinstance(written, str) else None
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{shown(written)} is not one of {', '.join(choices)}{hint}"


def _texts(setting: Setting, written: object) -> tuple[tuple[str, ...], list[Fault]]:
    if not isinstance(written, list) or not all(isinstance(text, str) for text in written):
        return (), [(None, f"must be a list of strings, not {shown(written)}")]
    if len(written) > MAX_ENTRIES:
        return (), [(None, f"has {len(written)} entries, at most {MAX_ENTRIES} are allowed")]
    wrong = {text: fault for text in written if (fault := _text_fault(setting, text)) is not None}
    return tuple(text for text in written if text not in wrong), [(None, fault) for fault in wrong.values()]


def _text_fault(setting: Setting, text: str) -> str | None:
    if setting.kind == "sources":
        return None if text.strip() and text.isprintable() else "a source is empty or has invisible characters"
    if setting.kind == "patterns":
        try:
            path_setting(text)
        except ValueError as fault:
            return str(fault)
        return None
    return _selector_fault(text)


def _selector_fault(text: str) -> str | None:
    # Imported here because the rules are only needed to check selectors, which most configurations do not use.
    from prowess.lint import RULES

    return selector_fault(text, RULES)


def _severities(written: object) -> tuple[tuple[tuple[str, Severity | None], ...], list[Fault]]:
    if not isinstance(written, dict):
        return (), [(None, f"must be a table of rules and levels, not {shown(written)}")]
    entries = [*_flattened(written)]
    if len(entries) > MAX_ENTRIES:
        return (), [(None, f"has {len(entries)} entries, at most {MAX_ENTRIES} are allowed")]
    found: list[tuple[str, Severity | None]] = []
    faults: list[Fault] = []
    for selector, level in entries:
        if (fault := _selector_fault(selector)) is not None:
            faults.append((selector, fault))
        elif (fault := _choice_fault(level, LEVELS)) is not None:
            faults.append((selector, f"{selector}: {fault}"))
        else:
            found.append((selector, None if level == "off" else Severity(str(level))))
    return tuple(found), faults


def _flattened(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Yield the entries with dotted names: TOML reads `name.ascii = "error"` without quotes as a table in a table."""
    for key, value in table.items():
        name = f"{above}{key}"
        if isinstance(value, dict) and value and name.count(".") < 2:  # noqa: PLR2004 -- rule ids have at most three parts
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


def path_setting(source: str) -> PathGlob:
    """Parse a path pattern of a settings file, by the rules of .gitignore.

    A path is selected if `matches_or_is_below` returns true for it:

        vendor        a file or directory of that name at any depth, and everything below it
        docs/*        files and directories directly in docs
        docs/**       everything below docs
        .             everything

    Raises:
        ValueError: the pattern is empty, contains `..` or has too many parts; the text names the fault.
    """
    text = source.strip()
    if not text:
        raise ValueError("a pattern is empty; write . for everything")
    parts = path_components(text)
    if ".." in parts:
        raise ValueError(f"{source!r} leaves the directory of the file; a pattern may not contain ..")
    if len(parts) > _MAX_COMPONENTS:
        raise ValueError(f"a pattern has {len(parts)} parts, at most {_MAX_COMPONENTS} are allowed")
    return PathGlob.parse(text, floating=True)
