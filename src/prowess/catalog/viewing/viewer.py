"""The viewer of a catalog: the one place that decides, after a scan, which copies are visible.

The decision is made anew at each look, from the audience and the names that are switched off.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from prowess._internal.files.ancestors import ancestor_in
from prowess._internal.files.catalog_settings import DISABLED_VARIABLE
from prowess._internal.places import USER_FILE, prowess_home
from prowess.catalog.deferred_findings import DeferredFindings
from prowess.catalog.viewing.left_out import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.faults import Notice
    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.viewing.audience import Audience, AudienceKeywords
    from prowess.catalog.viewing.disabled import Disabled, DisabledSettings
    from prowess.diagnostics import Diagnostic


class Viewer:
    """Decides what one catalog shows. `disabled` are patterns of names that are hidden.

    `also` is the real path of a skill that is visible whatever its scope is: the skill that a fork runs.

    Raises:
        InvalidArgumentsError: `disabled` is not a list of patterns.
    """

    def __init__(self, audience: AudienceKeywords, disabled: Iterable[str] = (), also: str | None = None) -> None:
        self._for_whom = audience
        self._given = disabled if isinstance(disabled, str) else tuple(disabled)
        self._also = also
        self._settings: DisabledSettings | None = None
        if self._given:
            self._disabled_settings()

    @property
    def audience(self) -> Audience:
        """The audience as given by the caller."""
        # Imported here: few skills have a scope, and importing a Struct takes longer than a listing.
        from prowess.catalog.viewing.audience import Audience

        return Audience(**self._for_whom)

    def for_another(self, audience: AudienceKeywords, also: str | None) -> Viewer:
        """Return a viewer with another audience and the same patterns."""
        named = {name: value for name, value in audience.items() if value is not None}
        return Viewer(cast("AudienceKeywords", {**self._for_whom, **named}), self._given, also or self._also)

    def look(self, sources: Sequence[CatalogSource], notices: list[Notice]) -> View:
        """Return what is visible now. Adds notices about settings that are not used.

        Raises:
            ConfigurationError: as `DisabledSettings.now`.
        """
        projects = _settings_places(sources)
        if not (self._given or self._settings or projects or os.environ.get(DISABLED_VARIABLE) or _has_user_file()):
            return View(self, None, self._also)
        disabled, told = self._disabled_settings().now(projects)
        notices += told
        return View(self, disabled, self._also)

    def _disabled_settings(self) -> DisabledSettings:
        if self._settings is None:
            # Imported here: most catalogs have no patterns.
            from prowess.catalog.viewing.disabled import DisabledSettings

            self._settings = DisabledSettings(self._given)
        return self._settings


class View:
    """What a viewer sees at one moment."""

    __slots__ = ("_also", "_audience", "_disabled", "_viewer")

    def __init__(self, viewer: Viewer, disabled: Disabled | None, also: str | None) -> None:
        self._viewer = viewer
        self._disabled = disabled
        self._also = also
        self._audience: Audience | None = None

    @property
    def has_patterns(self) -> bool:
        """Whether patterns of names may hide skills."""
        return self._disabled is not None and self._disabled.has_patterns

    def hides(self, entry: SkillEntry) -> LeftOut | None:
        """Return why a copy is not visible, or None if it is visible."""
        if self._disabled is not None:
            found = self._disabled.match((entry.name,), entry.layer, entry.source, entry.project)
            if found is not None:
                return LeftOut.of_entry(entry, "disabled", "catalog.disabled", *_why_disabled(found))
        if entry.has_scope and entry.root_dir != self._also:
            if self._audience is None:
                self._audience = self._viewer.audience.here()
            return self._audience.hides(entry)
        return None

    def told(self, copies: Iterable[LeftOut]) -> list[LeftOut]:
        """Return the held-back copies that this viewer would see, and mark the other ones as not to be mentioned."""
        for one in copies:
            if one.entry is not None:
                one.is_told = self.hides(one.entry) is None
            elif self._disabled is not None:
                one.is_told = self._disabled.match(one.names, one.layer, one.source, one.project) is None
        return [one for one in copies if one.is_told]

    def split(self, entries: list[SkillEntry], scan: Scan) -> tuple[list[SkillEntry], list[LeftOut]]:
        """Return the visible ones of `entries` and the hidden copies; remove every trace of these from `scan`."""
        if self._disabled is None:
            hidden = [why for entry in entries if entry.has_scope and (why := self.hides(entry)) is not None]
        else:
            hidden = [why for entry in entries if (why := self.hides(entry)) is not None]
            hidden += self._skipped(scan)
        if hidden:
            gone = {one.entry for one in hidden}
            entries = [entry for entry in entries if entry not in gone]
            _forget(scan, hidden)
        return entries, hidden

    def _skipped(self, scan: Scan) -> list[LeftOut]:
        """Take the skipped copies whose names are switched off out of `scan`, and return them."""
        kept: list[LeftOut] = []
        taken: list[LeftOut] = []
        assert self._disabled is not None  # noqa: S101 -- called only with patterns
        for one in scan.skipped:
            found = self._disabled.match(one.names, one.layer, one.source, one.project)
            if found is None:
                kept.append(one)
            else:
                one.state, one.rule, one.is_told = "disabled", "catalog.disabled", False
                one.reason, one.advice = _why_disabled(found)
                taken.append(one)
        scan.skipped = kept
        return taken


def _why_disabled(found: tuple[str, str]) -> tuple[str, str]:
    pattern, origin = found
    return f"disabled (the pattern {pattern!r} of {origin} fits its name)", f"remove the pattern from {origin}"


def _forget(scan: Scan, hidden: Iterable[LeftOut]) -> None:
    """Remove the findings about hidden copies from `scan`."""
    places: set[str] = set()
    for one in hidden:
        places.add(one.location)
        if one.entry is not None:
            scan.faults.pop(one.entry.root_dir, None)
            places.update((one.entry.root_dir, *one.entry.aliases))
    scan.diagnostics = [found for found in scan.diagnostics if ancestor_in(_place_of(found), places) is None]


def _place_of(found: Diagnostic | DeferredFindings) -> str:
    return found.directory if isinstance(found, DeferredFindings) else found.location.path or ""


def _settings_places(sources: Iterable[CatalogSource]) -> Mapping[str, tuple[str, ...]]:
    """Return, for each discovered project, the directories between the working directory and its root."""
    found: dict[str, dict[str, None]] = {}
    for source in sources:
        beside: str | None = getattr(source, "beside", None)
        if beside is not None and source.project is not None:
            found.setdefault(source.project, {})[beside] = None
    return {project: tuple(places) for project, places in found.items()}


def _has_user_file() -> bool:
    return os.path.lexists(os.path.join(prowess_home(), USER_FILE))
