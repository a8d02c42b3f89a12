"""A plugin as a source of skills. Its name and skills are declared in its manifest.

If the manifest declares no skills, the immediate subdirectories of `skills/` are its skills. Tests, fixtures and
documents outside `skills/` are not searched. If there is no `skills/` either, the plugin is searched like any other
directory. Skills outside the plugin's directory are not part of it.

Sources: protocol 003, storage layers; Claude Code, plugins reference.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.catalog.layers import Layer
from prowess.catalog.sources.directory import NAMED_BOUNDS, DirectorySource, Walk
from prowess.catalog.sources.hidden import report_hidden
from prowess.catalog.sources.labels import free_label
from prowess.catalog.sources.plugin_manifest import MANIFEST_FILES, read_plugin_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources.plugin_manifest import MarketplaceEntry, PluginManifest

_SKILLS = "skills"
_SHOWN = 3


class PluginSource(DirectorySource):
    """The skills of one plugin. `directory` is the plugin's directory or its `skills/`.

    `listed` is the entry of the marketplace that lists the plugin, or None. `version` is that of the manifest, else
    that of the entry.

    `above` are the plugins that take precedence over this one. If one of them has the same name, this plugin's label
    gets a number: `acme`, `acme-2`. So `NAME@acme` is the copy that the plain name refers to. The manifest is read
    again at each scan.
    """

    def __init__(
        self, directory: str, above: Sequence[PluginSource] = (), listed: MarketplaceEntry | None = None
    ) -> None:
        super().__init__(directory, layer=Layer.PLUGIN, named=True)
        self._listed = listed
        self.version: str | None = None
        self._given = self.named
        self._above = tuple(above)
        self._name = ""
        self._read()

    def _read(self) -> PluginManifest | None:
        """Read the manifest and set the plugin's directory and label from it. Return the manifest, or None."""
        above, _, base = self._given.rpartition("/")
        self.named = self._given
        manifest = read_plugin_manifest(self.named)
        if self._listed is not None:
            base, manifest = "", self._listed.completed(manifest)
        if manifest is None and base == _SKILLS and above and (manifest := read_plugin_manifest(above)) is not None:
            self.named = above
        self.root = os.path.realpath(self.named)
        # If `directory` is called `skills`, the plugin is the directory above it, which gives the name if there is no
        # manifest.
        directory = above if base == _SKILLS and above else self._given
        name = None if manifest is None else manifest.name
        self.version = None if manifest is None else manifest.version
        self._name = name or directory.rpartition("/")[2]
        self.label = free_label(self._name, {plugin.label for plugin in self._above})
        return manifest

    @property
    def manifests(self) -> Iterator[str]:
        """The absolute paths of the files that may be the manifest."""
        return (f"{self.named}/{file}" for file in MANIFEST_FILES)

    def scan(self, scan: Scan) -> None:
        """Add every skill of the plugin to `scan`."""
        manifest = self._read()
        self._report_name(scan)
        faults = [] if manifest is None else list(manifest.faults)
        walk = _PluginWalk(self, scan)
        if manifest is not None and manifest.skills is not None:
            faults += [fault for path in manifest.skills if (fault := walk.take(path)) is not None]
        elif os.path.isdir(f"{self.root}/{_SKILLS}"):
            walk.take_children()
        elif not os.path.isdir(self.root):
            self._report_absence(scan)
        elif self._listed is not None:
            walk.is_skill(self.root, self.root, "")  # its directory may contain the other plugins of the marketplace
        else:
            walk.search_all()
        if manifest is not None and faults:
            more = f"; and {len(faults) - _SHOWN} more faults" if len(faults) > _SHOWN else ""
            message = f"this manifest is not used as written: {'; '.join(faults[:_SHOWN])}{more}"
            scan.report("catalog.plugin", os.path.join(self.named, manifest.file), message)
        walk.report_hidden()

    def _report_name(self, scan: Scan) -> None:
        if self.label == self._name:
            return
        other = next((plugin for plugin in self._above if plugin.label == self._name), None)
        if other is not None and other.root != self.root:
            message = (
                f"{self.named} and {other.named} are both called {self._name!r}; {other.named} was added later and "
                f"takes precedence; use NAME@{self.label} for a skill of {self.named}"
            )
            scan.report("catalog.plugin", self.named, message)


class _PluginWalk(Walk):
    """A search for skills at the places that a plugin may use. It never leaves the plugin.

    The search does not enter the directories below these places, except in a plugin that is searched like any other
    directory.
    """

    def __init__(self, source: PluginSource, scan: Scan) -> None:
        super().__init__(source, scan, NAMED_BOUNDS)
        self._leaves: list[str] = []
        self._groups: list[str] = []
        self._children_of: str | None = None  # the real path of `skills/`, which is not itself a skill
        self._everywhere = False

    def take(self, relative: str) -> str | None:
        """Add the skill, or directory of skills, that the manifest declares. Return the fault, or None."""
        path = f"{self._source.root}/{relative}".removesuffix("/")
        real = os.path.realpath(path)
        shown = repr(relative or ".")
        if not self._contains(real):
            return f"the skill {shown} is left out: it leads out of the plugin"
        if not os.path.isdir(real):
            return f"the skill {shown} is left out: there is no such directory"
        if not self.is_skill(real, path, self._relative(real)):
            before = len(self._leaves)
            self._searched.discard(real)  # it may have been searched as a child that is not a skill
            self.search(real, path, self._relative(real), 0)
            if len(self._leaves) == before:
                return f"{shown} contains no skill"
        return None

    def search_all(self) -> None:
        """Search a plugin that declares no skills and has no `skills/`."""
        self._everywhere = True
        root = self._source.root
        if not self.is_skill(root, root, ""):
            self.search(root, root, "", 0)

    def take_children(self) -> None:
        """Add the skills in `skills/`."""
        path = f"{self._source.root}/{_SKILLS}"
        real = os.path.realpath(path)
        if not self._contains(real):
            self._report_outside(path)
            return
        if os.path.lexists(f"{real}/SKILL.md"):
            message = f"a file here is not a skill; move it into a directory of its own below {path}"
            self._scan.report("catalog.loose", f"{path}/SKILL.md", message)
        if os.path.lexists(f"{self._source.root}/SKILL.md"):
            message = f"a plugin with a directory {_SKILLS} has its skills there; move it into one below {path}"
            self._scan.report("catalog.loose", f"{self._source.root}/SKILL.md", message)
        self._children_of = real
        self.search(real, path, self._relative(real), 0)

    def is_skill(self, directory: str, path: str, relative: str) -> bool:
        """Extend `Walk.is_skill`: also record each skill found."""
        found = super().is_skill(directory, path, relative)
        if found:
            self._leaves.append(directory)
        return found

    def visit(self, directory: str, path: str, relative: str, depth: int) -> None:
        """Handle one subdirectory of a directory of skills."""
        if self._everywhere:
            super().visit(directory, path, relative, depth)
        elif depth > 1:
            return  # skills are not searched deeper
        elif not self._contains(directory):
            self._report_outside(path)
        elif not self.is_skill(directory, path, relative):
            self._groups.append(directory)
            self.search(directory, path, relative, depth)  # finds a SKILL.md in another spelling

    def report_hidden(self) -> None:
        """Report skills inside other skills, and skills that are too deep in the plugin."""
        for directory in dict.fromkeys(self._leaves):
            report_hidden(self._scan, directory)
        for directory in dict.fromkeys(self._groups):
            report_hidden(self._scan, directory, "a plugin's skills must be directly in a directory of skills")

    def _is_misspelled(self, directory: str, path: str, relative: str, loose: list[str]) -> bool:
        return directory != self._children_of and super()._is_misspelled(directory, path, relative, loose)

    def _contains(self, real: str) -> bool:
        root = self._source.root
        return real == root or real.startswith(f"{root}/")

    def _relative(self, real: str) -> str:
        return real[len(self._source.root) + 1 :]

    def _report_outside(self, path: str) -> None:
        self._scan.report("catalog.plugin", path, f"left out: it leads out of the plugin {self._source.named}")
