"""The default sources of skills: directories of the machine, the user, the current project, and given plugins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.places import prowess_home, user_home
from prowess.catalog.layers import Layer
from prowess.catalog.ownership import SKILL_FOLDERS, project_root
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.enterprise import ENTERPRISE_ROOT, enterprise_sources
from prowess.catalog.sources.locked_skills import LockedSkills
from prowess.catalog.sources.packages.installed_packages import InstalledPackages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.marketplace import MarketplaceSource
    from prowess.catalog.sources.plugin import PluginSource


class UnsignedEnterpriseSource(DirectorySource):
    """Enterprise skills below the user's home. No such skill is loaded, because the user could have written it."""

    def scan(self, scan: Scan) -> None:
        """Report the directory if it exists."""
        if os.path.isdir(self.root):
            message = f"no skill is loaded from here: the user could change or remove it; use {ENTERPRISE_ROOT}"
            scan.report("catalog.enterprise", self.named, message)


class ProjectSource(DirectorySource):
    """A folder of skills of a project. `beside` is the directory that has the folder, and maybe a settings file."""

    def __init__(self, beside: str, folder: str, root: str) -> None:
        path = os.path.join(beside, folder)
        super().__init__(path, layer=Layer.PROJECT, label=os.path.relpath(path, root), project=root)
        self.beside = beside


def default_sources(
    cwd: str | None, plugins: Sequence[str], *, enterprise_root: str | None = None
) -> list[CatalogSource]:
    """Return the sources of all four layers, by layer. Their directories may be missing.

    In a layer they are in the order of precedence, except plugins, of which the last one has the highest.
    """
    sources: list[CatalogSource] = [*enterprise_sources(enterprise_root)]
    sources.append(UnsignedEnterpriseSource(f"{prowess_home()}/enterprise/skills", layer=Layer.ENTERPRISE))
    sources += _personal()
    if cwd is not None:
        sources += _project(cwd)
    given = plugin_sources(plugins)
    here = [] if cwd is None else list(project_directories(cwd))
    own = LockedSkills(None, given)  # after the project's lock, so that a person's skills replace those of the project
    locks = [own] if cwd is None else [LockedSkills(here[-1], (own, *given)), own]
    sources += [InstalledPackages(here, here[-1] if here else None, (*locks, *given)), *locks, *given]
    return sources


def _personal() -> Iterator[DirectorySource]:
    home = user_home()
    for path in (f"{prowess_home()}/skills", f"{home}/.agents/skills", f"{home}/.claude/skills"):
        label = f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
        yield DirectorySource(path, layer=Layer.PERSONAL, label=label)


def _project(cwd: str) -> Iterator[DirectorySource]:
    root = project_root(cwd)
    for here in project_directories(cwd):
        for folder in SKILL_FOLDERS:
            yield ProjectSource(here, folder, root)


def project_directories(cwd: str) -> Iterator[str]:
    """Yield the real path of `cwd` and of each directory above it, up to the project's root."""
    root = project_root(cwd)
    here = os.path.realpath(cwd)
    while here != root:
        yield here
        here = os.path.dirname(here)
    yield root


def plugin_sources(directories: Sequence[str]) -> list[DirectorySource]:
    """Return a source of the plugin layer for each directory, in the order given. Their labels are distinct.

    The last one has the highest precedence, so it keeps its name if two plugins have the same one.
    """
    if not directories:
        return []
    # Imported here: most catalogs have no plugin, and importing this module takes longer than a listing.
    from prowess.catalog.sources.marketplace import plugins_at

    sources: list[PluginSource | MarketplaceSource] = []
    for directory in reversed(directories):
        sources.append(plugins_at(directory, sources))
    return [*reversed(sources)]
