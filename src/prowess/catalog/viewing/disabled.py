"""Names that are switched off: patterns from the caller, the environment, the user's file and a project's file.

The patterns of all places count together. A project's file switches off only skills of this project, and no pattern
hides an enterprise skill. The files are read again at each look.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.catalog_settings import (
    DISABLED_VARIABLE,
    OWN_FILE,
    SHARED_FILE,
    SHARED_TABLE,
    catalog_settings,
    name_patterns,
    order_is_ignored,
    patterns_of_text,
    user_catalog_settings,
)
from prowess._internal.globs import fits_text
from prowess.catalog.entry import key_of
from prowess.catalog.faults import Notice
from prowess.catalog.layers import Layer
from prowess.errors import ConfigurationError, InvalidArgumentsError
from prowess.format.skill_directories import skill_around

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess._internal.files.catalog_settings import CatalogSettings


_SPECIAL = frozenset("*?[")


class Patterns:
    """Patterns of names with their origins. A pattern without `*`, `?` and `[` is looked up, not compared."""

    __slots__ = ("_globs", "_plain")

    def __init__(self, origins: Mapping[str, str]) -> None:
        keys = {key_of(pattern): origin for pattern, origin in origins.items()}
        self._plain = {key: origin for key, origin in keys.items() if _SPECIAL.isdisjoint(key)}
        self._globs = {key: origin for key, origin in keys.items() if key not in self._plain}

    @property
    def has_patterns(self) -> bool:
        """Whether there is one."""
        return bool(self._plain or self._globs)

    def match(self, names: Iterable[str]) -> tuple[str, str] | None:
        """Return the first pattern that fits one of the normalised names, with its origin, or None."""
        for name in names:
            if name in self._plain:
                return name, self._plain[name]
            for pattern, origin in self._globs.items():
                if fits_text(name, pattern):
                    return pattern, origin
        return None


class Disabled:
    """The patterns in force: everywhere, and for the skills of each project by the project's real path."""

    __slots__ = ("_everywhere", "_of_projects")

    def __init__(self, everywhere: Mapping[str, str], of_projects: Mapping[str, Mapping[str, str]]) -> None:
        self._everywhere = Patterns(everywhere)
        self._of_projects = {project: Patterns(patterns) for project, patterns in of_projects.items()}

    @property
    def has_patterns(self) -> bool:
        """Whether there is a pattern at all."""
        return any(one.has_patterns for one in (self._everywhere, *self._of_projects.values()))

    def match(self, names: tuple[str, ...], layer: Layer, label: str, project: str | None) -> tuple[str, str] | None:
        """Return the pattern that hides a copy, with its origin, or None. `label` is the label of its source."""
        if layer is Layer.ENTERPRISE:
            return None
        keys = [key_of(name) for name in names]
        if layer is Layer.PLUGIN:
            keys += [form for key in keys[:] for form in (f"{key}@{label}", f"{label}/{key}")]
        found = self._everywhere.match(keys)
        if found is None and layer is Layer.PROJECT and project in self._of_projects:
            found = self._of_projects[project].match(keys)
        return found


class DisabledSettings:
    """Reads the patterns for one catalog. `given` are those of the caller.

    Raises:
        InvalidArgumentsError: `given` is not a list of patterns.
    """

    __slots__ = ("_given", "_of_user")

    def __init__(self, given: Iterable[str]) -> None:
        patterns, faults = name_patterns([given] if isinstance(given, str) else [*given])
        if faults:
            raise InvalidArgumentsError(tuple(f"disabled: {fault}" for fault in faults))
        self._given = dict.fromkeys(patterns, "the argument disabled")
        self._of_user: dict[str, str] | None = None

    def now(self, projects: Mapping[str, tuple[str, ...]]) -> tuple[Disabled | None, list[Notice]]:
        """Return the patterns in force, or None, and notices about settings that are not used.

        `projects` maps the real path of each project to the directories that may have its settings file, the nearest
        first.

        Raises:
            ConfigurationError: the user's settings are faulty at the first look. Later, the last valid ones stay in
                force and a notice reports the fault.
        """
        notices: list[Notice] = []
        everywhere = {**self._from_user(notices), **self._given}
        text = os.environ.get(DISABLED_VARIABLE, "")
        everywhere.update(dict.fromkeys(patterns_of_text(text), DISABLED_VARIABLE))
        of_projects = {}
        for project, directories in projects.items():
            settings = _of_project(directories, notices)
            if settings is not None and settings.disabled:
                of_projects[project] = dict.fromkeys(settings.disabled, settings.path)
        return (Disabled(everywhere, of_projects) if everywhere or of_projects else None), notices

    def _from_user(self, notices: list[Notice]) -> dict[str, str]:
        try:
            settings = user_catalog_settings()
        except ConfigurationError as fault:
            if self._of_user is None:
                raise
            notices.append(
                Notice(code="settings_unreadable", message=f"the last valid settings stay in force: {fault}")
            )
        else:
            self._of_user = dict.fromkeys(settings.disabled, settings.path)
        return self._of_user


def _of_project(directories: tuple[str, ...], notices: list[Notice]) -> CatalogSettings | None:
    """Return the settings of the nearest settings file of a project, or None. Files inside a skill do not count."""
    for directory in directories:
        for name, table in ((OWN_FILE, ()), (SHARED_FILE, SHARED_TABLE)):
            path = os.path.join(directory, name)
            if not os.path.lexists(path) or skill_around(path) is not None:
                continue
            try:
                settings = catalog_settings(path, table)
            except ConfigurationError as fault:
                message = f"the disabled names of this project are not used: {fault}; correct the file"
                notices.append(Notice(code="settings_unreadable", message=message))
                return None
            if settings is None:
                continue  # a pyproject.toml without [tool.prowess]
            if settings.sets_order:
                notices.append(Notice(code="setting_ignored", message=order_is_ignored(path)))
            return settings
    return None
