"""Reader of settings files: `prowess.toml`, `[tool.prowess]` in `pyproject.toml`, or the user's `config.toml`.

    profile = "boxxy"
    ignore = ["name.ascii"]

    [severity]
    "reference.missing" = "error"

    [paths."vendor/**"]
    preset = "minimal"

An unknown key is an error, because a misspelt setting would otherwise be ignored unnoticed. Every fault is reported
with its line.

The project's file is searched from the working directory up to the root of its repository. Files inside a skill are
never read as settings: a skill may come from a stranger and must not decide which of its findings are reported.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess._internal.files.catalog_settings import OWN_FILE, SHARED_FILE, SHARED_TABLE, order_is_ignored
from prowess._internal.files.session_table import SESSION, read_session_table
from prowess._internal.files.toml_file import TomlFile, read_toml_bytes
from prowess.config.settings import MAX_ENTRIES, SETTINGS, Origin, Value, nearest, path_setting, shown, value_of
from prowess.errors import ConfigurationError
from prowess.format.profiles import PROFILES
from prowess.format.skill_directories import skill_around

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prowess._internal.globs import PathGlob
    from prowess.config.settings import OriginKind

PATHS = "paths"
_SCHEMA = "$schema"  # written by editors


class PathSettings(Struct, frozen=True, kw_only=True):
    """The settings that a file gives for some paths; `glob` is relative to the file's directory."""

    pattern: str
    glob: PathGlob
    values: Mapping[str, Value]
    origin: Origin


class SettingsLayer(Struct, frozen=True, kw_only=True):
    """The settings of one layer. Patterns are relative to the absolute `directory`; `path` is the file, if any."""

    kind: OriginKind
    directory: str
    values: Mapping[str, Value]
    paths: tuple[PathSettings, ...] = ()
    path: str | None = None
    notices: tuple[str, ...] = ()

    def fitting(self, components: Sequence[str] | None) -> tuple[int, ...]:
        """Return the indexes of `paths` that match a path, in the order written; none if `components` is None."""
        if components is None:
            return ()
        return tuple(at for at, settings in enumerate(self.paths) if settings.glob.matches_or_is_below(components))


def read_settings_file(path: str, *, kind: OriginKind, directory: str | None = None) -> SettingsLayer | None:
    """Read one settings file. Return None for a `pyproject.toml` without `[tool.prowess]`.

    Patterns are relative to `directory`, which defaults to the directory of the file.

    Raises:
        ConfigurationError: the file is missing, cannot be read or has faults; lists every fault.
    """
    inside = SHARED_TABLE if os.path.basename(path) == SHARED_FILE else ()
    try:
        data = read_toml_bytes(path)
        if inside and b"prowess" not in data and b"\\" not in data:  # a backslash may escape a part of the key
            return None  # usual for pyproject.toml, so the TOML reader is not loaded
        file = TomlFile(path, data, inside)
    except ValueError as fault:
        raise ConfigurationError((str(fault),)) from None
    content: object = file.content
    for name in inside:
        content = cast("dict[str, object]", content).get(name) if isinstance(content, dict) else None
    if inside and content is None:
        return None
    found = _Reader(file, kind).read(content, directory or os.path.dirname(os.path.abspath(path)))
    if file.faults:
        raise ConfigurationError(file.faults)
    return found


class _Reader:
    def __init__(self, file: TomlFile, kind: OriginKind) -> None:
        self._file, self._kind = file, kind

    def read(self, content: object, directory: str) -> SettingsLayer:
        if not isinstance(content, dict):
            self._file.fault("must be a table")
            content = {}
        known = (*dict.fromkeys(setting.keys[0] for setting in SETTINGS.values()), PATHS)
        if self._kind == "user":
            known = (*known, SESSION)
            if (profile := read_session_table(self._file).get("profile")) not in (None, *PROFILES):
                self._file.fault(f"{profile!r} is not one of {', '.join(PROFILES)}", SESSION, "profile")
        for key in content:
            if key == SESSION and self._kind != "user":
                self._file.fault("is not a setting of a project; set it in the user's config.toml", key)
            elif key not in known and key != _SCHEMA:
                self._unknown((), key, known)
        self._check_tables(content)
        ignored = [
            name
            for name, setting in SETTINGS.items()
            if self._kind != "user" and not setting.by_project and _value(content, setting.keys) is not None
        ]
        paths = content.get(PATHS, {})
        if not isinstance(paths, dict) or len(paths) > MAX_ENTRIES:
            self._file.fault(f'must be tables such as [paths."docs/**"], at most {MAX_ENTRIES} of them', PATHS)
            paths = {}
        return SettingsLayer(
            kind=self._kind,
            path=self._file.path,
            directory=directory,
            values=self._values(content, (), [name for name in SETTINGS if name not in ignored]),
            notices=tuple(order_is_ignored(self._file.path) for _ in ignored),
            paths=tuple(found for glob in paths if (found := self._by_path(glob, paths[glob])) is not None),
        )

    def _by_path(self, pattern: str, table: object) -> PathSettings | None:
        at = (PATHS, pattern)
        try:
            glob = path_setting(pattern)
        except ValueError as fault:
            self._file.fault(str(fault), *at)
            return None
        if not isinstance(table, dict):
            self._file.fault(f"must be a table of settings, not {shown(table)}", *at)
            return None
        allowed = [name for name, setting in SETTINGS.items() if setting.by_path]
        for key in table:
            if key not in allowed:
                self._unknown(at, key, allowed)
        return PathSettings(
            pattern=pattern, glob=glob, values=self._values(table, at, allowed), origin=self._origin(at)
        )

    def _values(self, table: dict[str, object], at: tuple[str, ...], names: Iterable[str]) -> dict[str, Value]:
        values = {}
        for name in names:
            setting = SETTINGS[name]
            written = _value(table, setting.keys)
            if written is not None:
                here = (*at, *setting.keys)
                value, faults = value_of(setting, written)
                for key, fault in faults:
                    self._file.fault(fault, *here, *self._keys(written, key), named=here)
                entries = {}
                if setting.kind == "severities":
                    entries = {
                        key: self._origin((*here, *self._keys(written, key)))
                        for key, _ in cast("tuple[tuple[str, object], ...]", value)
                    }
                values[name] = Value(value=value, origin=self._origin(here), entries=entries)
        return values

    def _check_tables(self, content: dict[str, object]) -> None:
        """Report unknown keys in the tables that hold settings, such as `layers`."""
        tables: dict[str, list[str]] = {}
        for setting in SETTINGS.values():
            if len(setting.keys) > 1:
                tables.setdefault(setting.keys[0], []).append(setting.keys[1])
        for name, known in tables.items():
            table = content.get(name, {})
            if not isinstance(table, dict):
                self._file.fault(f"must be a table with {', '.join(known)}", name)
                continue
            for key in table:
                if key not in known:
                    self._unknown((name,), key, known)

    @staticmethod
    def _keys(table: object, key: str | None) -> tuple[str, ...]:
        """Return the TOML keys of a rule id: one key if it is quoted, else one for each part between dots."""
        if key is None:
            return ()
        return (key,) if isinstance(table, dict) and key in table else tuple(key.split("."))

    def _unknown(self, at: tuple[str, ...], key: str, known: Iterable[str]) -> None:
        known = tuple(known)
        elsewhere = at and (key in SETTINGS or key == PATHS)
        near = nearest(key, known)
        if elsewhere:
            meant = f"it cannot differ by path; these can: {', '.join(known)}"
        else:
            meant = f"did you mean {near!r}?" if near else f"known here: {', '.join(known)}"
        self._file.fault(f"is no setting here; {meant}", *at, key)

    def _origin(self, at: tuple[str, ...]) -> Origin:
        return Origin(kind=self._kind, name=self._file.path, line=self._file.line(*at))


def _value(table: dict[str, object], keys: tuple[str, ...]) -> object:
    """Return the value of a key, or of a key in a table, or None if it is absent."""
    value: object = table
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


class ProjectFile(Struct, frozen=True, kw_only=True):
    """The project's settings file, or None, and a notice for each file that was ignored."""

    file: SettingsLayer | None
    notices: tuple[str, ...]


def project_file(start: str) -> ProjectFile:
    """Find the nearest settings file, from `start` up to the root of its repository.

    If `start` is in no repository, only `start` itself is searched.

    Raises:
        ConfigurationError: the file cannot be read or has faults, or one directory has two settings files.
    """
    notices = []
    for directory in _upwards(os.path.realpath(start)):
        paths = [path for name in (OWN_FILE, SHARED_FILE) if os.path.lexists(path := os.path.join(directory, name))]
        if not paths:
            continue
        inside = {path: skill_around(path) for path in paths}
        if any(inside.values()):
            notices += [
                f"{path} is not read: it is inside the skill {skill}"
                for path, skill in inside.items()
                if skill and (os.path.basename(path) == OWN_FILE or _has_settings(path))
            ]
            continue
        found = [file for path in paths if (file := read_settings_file(path, kind="project")) is not None]
        if len(found) > 1:
            raise ConfigurationError(
                (f"{directory} has settings in {OWN_FILE} and in [tool.prowess] of {SHARED_FILE}; keep them in one",)
            )
        if found:
            return ProjectFile(file=found[0], notices=tuple(notices))
    return ProjectFile(file=None, notices=tuple(notices))


def _upwards(start: str) -> Iterator[str]:
    """Yield a directory and its parents up to the root of its repository. Without one, yield only the directory.

    `start` is absolute, with symbolic links resolved.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        above = os.path.dirname(chain[-1])
        if above == chain[-1]:
            yield start
            return
        chain.append(above)
    yield from chain


def _has_settings(path: str) -> bool:
    try:
        return read_settings_file(path, kind="project") is not None
    except ConfigurationError:
        return True  # a file with faults is ignored too, and must be reported
