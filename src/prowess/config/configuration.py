"""The settings in force: every layer at once, each value with its origin, and the judgement they mean for one skill.

    configuration = load_configuration(flags={"--ignore": ["name.ascii"]})
    configuration.value("profile")                        # Value(value="spec", origin=default)
    configuration.judgement("skills/pdf").judge(findings)

Layers, from high to low: flags, the environment, the project's file, the user's file, a preset, the defaults. A
setting of a higher layer replaces that of a lower one; `severity` alone is joined, entry by entry. A project that is
not trusted cannot lower what is found in the family `security` (`prowess.rule_engine.Judgement`).
"""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, cast

from msgspec.structs import replace

from prowess._internal.files.session_table import USER_FILE
from prowess._internal.places import WorkingDirectoryError, prowess_home, working_directory
from prowess.config.settings import DEFAULT, PRESETS, SETTINGS, Origin, Value, from_text, path_setting, value_of
from prowess.config.settings_file import SettingsLayer, project_file, read_settings_file, skill_around
from prowess.errors import ConfigurationError
from prowess.format.profiles import PROFILES
from prowess.rule_engine import Judgement, Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.config.settings import Preset, Setting
    from prowess.diagnostics import Severity


FILE_VARIABLE, FILE_FLAG = "PROWESS_CONFIG", "--config"


class Configuration:
    """What `load_configuration` found; `notices` are remarks for a person, `layers` go from high to low.

    `trusted` is false where a project's file counts that belongs to no trusted project.
    """

    def __init__(self, layers: Iterable[SettingsLayer], *, trusted: bool = True, notices: Iterable[str] = ()) -> None:
        self.layers = tuple(layers)
        self.trusted = trusted
        self.notices = tuple(notices)
        self._judgements: dict[tuple[object, ...], Judgement] = {}
        kept = tuple(layer for layer in self.layers if layer.kind != "project")
        self._floor = None if trusted or len(kept) == len(self.layers) else Configuration(kept)

    def value(self, name: str, path: str | None = None) -> Value:
        """Return a setting, as it is for the skill at `path`, by default for all; `severity` is joined.

        Raises:
            KeyError: there is no such setting.
        """
        return self.values(path)[name]

    def values(self, path: str | None = None) -> Mapping[str, Value]:
        """Return every setting, as it is for the skill at `path`."""
        return self._values(self._fitting(path))

    def excludes(self, path: str) -> bool:
        """Whether the skill at `path` is to be passed over; for how a floor is kept see `judgement`."""
        for layer in self.layers:
            if "exclude" in layer.values:
                components = _components(path, layer.directory)
                patterns = cast("tuple[str, ...]", layer.values["exclude"].value)
                return components is not None and any(
                    path_setting(pattern).matches_or_lies_below(components) for pattern in patterns
                )
        return False

    def judgement(self, path: str | None = None) -> Judgement:
        """Return how the skill at `path` is judged.

        For a skill that only an untrusted project excludes the judgement keeps the family `security` alone.
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
    """Return the settings in force in `directory`, by default the working directory.

    `flags` are texts by the name of their flag, `environment` is by default that of this process. `file` is read in
    place of the project's file and trusted by being named; so is what `PROWESS_CONFIG` names. With `isolated` no file
    is read. `is_trusted` answers for the directory of a project's file; without it none is trusted.

    Raises:
        ConfigurationError: every fault of every place, each with its line, variable or flag.
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
    return Configuration(layers, trusted=trusted, notices=notices)


def _starting_point(directory: str | None) -> str | None:
    """Return where to look from; None where the working directory is gone, which absolute paths do not need."""
    if directory is not None:
        return os.path.abspath(directory)
    try:
        return working_directory()
    except WorkingDirectoryError:
        return None


def _given(
    kind: Literal["flag", "environment"], texts: Mapping[str, str | Sequence[str]], problems: list[str]
) -> dict[str, Value]:
    """Read what flags or variables say."""
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
        message = f"{file}: lies inside the skill {skill}, and a skill does not decide how it is judged; copy it out"
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
    """Return the highest value of a setting; of `severity` all entries, the higher ones later."""
    found = [values[setting.name] for values in stack if setting.name in values]
    if not found:
        return Value(value=setting.default, origin=DEFAULT)
    if setting.kind != "severities":
        return found[0]
    joined: dict[str, Severity | None] = {}
    origins: dict[str, Origin] = {}
    for value in reversed(found):
        for selector, level in cast("tuple[tuple[str, Severity | None], ...]", value.value):
            joined.pop(selector, None)  # so that it stands later
            joined[selector] = level
            origins[selector] = value.entries.get(selector, value.origin)
    return replace(found[0], value=tuple(joined.items()), entries=MappingProxyType(origins))


def _components(path: str, directory: str) -> list[str] | None:
    """Return the parts of a path below a directory; None where it does not lie there."""
    absolute = os.path.abspath(path)
    if absolute == directory:
        return []
    lead = directory if directory.endswith(os.sep) else f"{directory}{os.sep}"
    return absolute[len(lead) :].split(os.sep) if absolute.startswith(lead) else None
