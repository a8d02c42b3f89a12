"""The settings in force: all layers, each value with its origin, and the judgement that results for one skill.

    configuration = load_configuration(flags={"--ignore": ["name.ascii"]})
    configuration.value("profile")                        # Value(value="spec", origin=default)
    configuration.judgement("skills/pdf").judge(findings)

Layers, from high to low: flags, the environment, the project's file, the user's file, a preset, the defaults. A setting
of a higher layer replaces the setting of a lower layer. Only `severity` and `disabled` are merged, entry by entry. A
judgement (`prowess.rule_engine.Judgement`) decides which findings are reported. A project that is not trusted cannot
lower findings of the family `security`.
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast

from msgspec.structs import replace

from prowess._internal.places import USER_FILE, WorkingDirectoryError, prowess_home, working_directory
from prowess.config.settings import DEFAULT, PRESETS, SETTINGS, Origin, Value, from_text, path_setting, value_of
from prowess.config.settings_file import SettingsLayer, project_file, read_settings_file
from prowess.errors import ConfigurationError
from prowess.format.profiles import PROFILES
from prowess.format.skill_directories import skill_around
from prowess.rule_engine import Judgement, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.config.settings import Preset, Setting
    from prowess.diagnostics import Severity


FILE_VARIABLE, FILE_FLAG = "PROWESS_CONFIG", "--config"


class Configuration:
    """The settings in force, made by `load_configuration`.

    `layers` go from high to low; `notices` are remarks for a person. `trusted` is false if settings were read from a
    project that is not trusted.
    """

    def __init__(self, layers: Iterable[SettingsLayer], *, trusted: bool = True, notices: Iterable[str] = ()) -> None:
        self.layers = tuple(layers)
        self.trusted = trusted
        self.notices = tuple(notices)
        self._judgements: dict[tuple[object, ...], Judgement] = {}
        kept = tuple(layer for layer in self.layers if layer.kind != "project")
        self._floor = None if trusted or len(kept) == len(self.layers) else Configuration(kept)

    def value(self, name: str, path: str | None = None) -> Value:
        """Return one setting for the skill at `path`, or the value for all skills if `path` is None.

        `severity` is merged over all layers.

        Raises:
            KeyError: there is no such setting.
        """
        return self.values(path)[name]

    def values(self, path: str | None = None) -> Mapping[str, Value]:
        """Return every setting, by name, for the skill at `path`, or the values for all skills if `path` is None."""
        return self._values(self._fitting(path))

    def excludes(self, path: str) -> bool:
        """Whether the settings exclude the skill at `path`.

        Its security findings may still be reported, see `judgement`.
        """
        for layer in self.layers:
            if "exclude" in layer.values:
                components = _components(path, layer.directory)
                patterns = cast("tuple[str, ...]", layer.values["exclude"].value)
                return components is not None and any(
                    path_setting(pattern).matches_or_is_below(components) for pattern in patterns
                )
        return False

    def judgement(self, path: str | None = None) -> Judgement:
        """Return the judgement for the skill at `path`: which findings are reported, and with which severity.

        If only an untrusted project excludes the skill, the judgement still reports findings of the family `security`.
        """
        fitting = self._fitting(path)
        excluded = path is not None and self.excludes(path)
        key = (fitting, excluded, None if self._floor is None else self._floor.judgement(path))
        known = self._judgements.get(key[:2])
        if known is not None and known.floor is key[2]:
            return known
        values = self._values(fitting)
        judgement = Judgement(
            profile=PROFILES[str(values["profile"].value)],
            selection=Selection(
                select=cast("tuple[str, ...]", values["select"].value),
                ignore=cast("tuple[str, ...]", values["ignore"].value),
                severity=cast("tuple[tuple[str, Severity | None], ...]", values["severity"].value),
                shift=PRESETS[str(values["preset"].value)].shift,
            ),
            floor=None if self._floor is None else self._floor.judgement(path),
            excluded=excluded,
        )
        self._judgements[key[:2]] = judgement
        return judgement

    def _fitting(self, path: str | None) -> tuple[tuple[int, ...], ...]:
        if path is None:
            return tuple(() for _ in self.layers)
        return tuple(layer.fitting(_components(path, layer.directory)) if layer.paths else () for layer in self.layers)

    def _values(self, fitting: tuple[tuple[int, ...], ...]) -> Mapping[str, Value]:
        stack: list[Mapping[str, Value]] = []  # from high to low
        for layer, chosen in zip(self.layers, fitting, strict=True):
            stack += [layer.paths[at].values for at in reversed(chosen)]
            stack.append(layer.values)
        name = next((str(values["preset"].value) for values in stack if "preset" in values), SETTINGS["preset"].default)
        stack.append(_of_preset(PRESETS[str(name)]))
        return MappingProxyType({name: _resolved(setting, stack) for name, setting in SETTINGS.items()})


def load_configuration(
    *,
    directory: str | None = None,
    flags: Mapping[str, Sequence[str]] | None = None,
    environment: Mapping[str, str] | None = None,
    file: str | None = None,
    isolated: bool = False,
    is_trusted: Callable[[str], bool] | None = None,
) -> Configuration:
    """Return the settings in force in `directory`, which defaults to the working directory.

    Args:
        directory: the search for the project's file starts here.
        flags: the texts given for each flag, by the flag's name.
        environment: defaults to the environment of this process.
        file: read in place of the project's file. It is trusted because the user named it, as is the file that
            `PROWESS_CONFIG` names.
        isolated: read no file.
        is_trusted: called with the directory of the project's file. Without it, no project is trusted.

    Raises:
        ConfigurationError: lists every fault of every layer, each with its line, variable or flag.
    """
    here = _starting_point(directory)
    environment = os.environ if environment is None else environment
    base = here or os.sep
    problems: list[str] = []
    layers = [
        SettingsLayer(kind="flag", directory=base, values=_given("flag", flags or {}, problems)),
        SettingsLayer(kind="environment", directory=base, values=_given("environment", environment, problems)),
    ]
    notices: tuple[str, ...] = ()
    trusted = True
    if not isolated:
        file = file or environment.get(FILE_VARIABLE) or None
        try:
            if file is not None:
                layers.append(_named(file))
            elif here is not None:
                project = project_file(here)
                found, notices = project.file, project.notices
                if found is not None:
                    layers.append(found)
                    trusted = is_trusted is not None and is_trusted(found.directory)
        except ConfigurationError as fault:
            problems += fault.problems
        problems += _user_layer(layers)
    if problems:
        raise ConfigurationError(tuple(problems))
    ignored = tuple(notice for layer in layers for notice in layer.notices)
    return Configuration(layers, trusted=trusted, notices=(*notices, *ignored))


def _starting_point(directory: str | None) -> str | None:
    """Return the directory to search from, or None if it was deleted (no error: absolute paths do not need one)."""
    if directory is not None:
        return os.path.abspath(directory)
    try:
        return working_directory()
    except WorkingDirectoryError:
        return None


def _given(
    kind: Literal["flag", "environment"], texts: Mapping[str, str | Sequence[str]], problems: list[str]
) -> dict[str, Value]:
    """Read the settings given as flags or as environment variables, and append their faults to `problems`."""
    values = {}
    for name, setting in SETTINGS.items():
        source: str = getattr(setting, kind)
        said = texts.get(source)
        if not said:
            continue
        value, faults = value_of(setting, from_text(setting, (said,) if isinstance(said, str) else said))
        problems += [f"{source}: {fault}" for _, fault in faults]
        values[name] = Value(value=value, origin=Origin(kind=kind, name=source))
    return values


def _named(file: str) -> SettingsLayer:
    skill = skill_around(file)
    if skill is not None:
        message = (
            f"{file}: is inside the skill {skill}, which must not set how it is judged; copy the file out of the skill"
        )
        raise ConfigurationError((message,))
    found = read_settings_file(file, kind="project")
    if found is None:
        raise ConfigurationError((f"{file}: has no table [tool.prowess]",))
    return found


def _user_layer(layers: list[SettingsLayer]) -> tuple[str, ...]:
    path = os.path.join(prowess_home(), USER_FILE)
    if not os.path.lexists(path):
        return ()
    try:
        found = read_settings_file(path, kind="user", directory="/")
    except ConfigurationError as fault:
        return fault.problems
    if found is not None:
        layers.append(found)
    return ()


def _of_preset(preset: Preset) -> Mapping[str, Value]:
    origin = Origin(kind="preset", name=preset.name)
    values = {"ignore": preset.ignore, "severity": preset.severity}
    return {name: Value(value=value, origin=origin) for name, value in values.items() if value}


def _resolved(setting: Setting, stack: Sequence[Mapping[str, Value]]) -> Value:
    """Return the value of the highest layer; `severity` and `disabled` are merged, entries of higher layers last."""
    found = [values[setting.name] for values in stack if setting.name in values]
    if not found:
        return Value(value=setting.default, origin=DEFAULT)
    if setting.kind == "names":
        named = {name: value.origin for value in found[::-1] for name in cast("tuple[str, ...]", value.value)}
        return replace(found[0], value=tuple(named), entries=MappingProxyType(named))
    if setting.kind != "severities":
        return found[0]
    joined: dict[str, Severity | None] = {}
    origins: dict[str, Origin] = {}
    for value in reversed(found):
        for selector, level in cast("tuple[tuple[str, Severity | None], ...]", value.value):
            joined.pop(selector, None)  # so that the entry moves to the end
            joined[selector] = level
            origins[selector] = value.entries.get(selector, value.origin)
    return replace(found[0], value=tuple(joined.items()), entries=MappingProxyType(origins))


def _components(path: str, directory: str) -> list[str] | None:
    """Return the parts of a path relative to a directory, or None if the path is not in it."""
    absolute = os.path.abspath(path)
    if absolute == directory:
        return []
    lead = directory if directory.endswith(os.sep) else f"{directory}{os.sep}"
    return absolute[len(lead) :].split(os.sep) if absolute.startswith(lead) else None
