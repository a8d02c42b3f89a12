"""A marketplace as a source: a directory whose file lists plugins, each with the directory that it is in.

Plugins in directories of the marketplace are read like plugins that were given one by one. Plugins at other places,
such as a repository or a registry, are reported and never fetched.

The file is untrusted input. It is read only if it is a regular file below the directory, and only up to a size limit.

Sources: Claude Code, plugin marketplaces; Codex, build plugins; Cursor, plugins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import check_relative
from prowess.catalog.layers import Layer
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.plugin import PluginSource
from prowess.catalog.sources.plugin_manifest import (
    MarketplaceEntry,
    declared_skills,
    json_objects,
    plugin_name,
    plugin_version,
    read_plugin_manifest,
)
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.catalog.scan import Scan

# In the order of preference; a directory has one marketplace.
MARKETPLACE_FILES = (
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
    ".codex-plugin/marketplace.json",
    ".cursor-plugin/marketplace.json",
)
MAX_MARKETPLACE_BYTES = 4 * 1024 * 1024  # our limit; the largest real one seen has 300 KiB
MAX_PLUGINS = 1000  # of one marketplace; our limit
_SHOWN = 5
_LONGEST = 60  # characters of a name in a message


class Marketplace(Struct, frozen=True, kw_only=True):
    """The contents of a marketplace's file. `faults` are parts of it that are not used."""

    file: str
    entries: tuple[MarketplaceEntry, ...] = ()
    faults: tuple[str, ...] = ()


def plugins_at(
    directory: str, above: Sequence[PluginSource | MarketplaceSource] = ()
) -> PluginSource | MarketplaceSource:
    """Return the source of a directory that a person named: its marketplace, or else its plugin.

    `above` are the sources that take precedence over this one.
    """
    plugins = [plugin for source in above for plugin in _plugins(source)]
    if read_marketplace(directory) is None:
        return PluginSource(directory, plugins)
    return MarketplaceSource(directory, plugins)


def _plugins(source: PluginSource | MarketplaceSource) -> Sequence[PluginSource]:
    return source.plugins() if isinstance(source, MarketplaceSource) else (source,)


class MarketplaceSource(DirectorySource):
    """The plugins of one marketplace. A catalog scans its parts, which are sources of their own.

    The file is read again at each scan. A plugin that is listed later takes precedence over an earlier one.
    """

    def __init__(self, directory: str, above: Sequence[PluginSource] = ()) -> None:
        super().__init__(directory, layer=Layer.PLUGIN, named=True)
        self._above = tuple(above)
        self._known: dict[MarketplaceEntry, PluginSource] = {}

    @property
    def manifests(self) -> Iterator[str]:
        """The absolute paths of the files that may list the plugins, and of the plugins' manifests."""
        yield from (f"{self.named}/{file}" for file in MARKETPLACE_FILES)
        for plugin in self._known.values():
            yield from plugin.manifests

    def scan(self, scan: Scan) -> None:
        """Add every skill of every plugin."""
        for part in self.parts(scan):
            scan.begin(part)
            part.scan(scan)

    def parts(self, scan: Scan) -> Sequence[PluginSource]:
        """Return the plugins in the order of precedence, and report those that cannot be used."""
        self.root = os.path.realpath(self.named)
        found = read_marketplace(self.named)
        if found is None:
            self._report_absence(scan)
            return ()
        if found.faults:
            more = f"; and {len(found.faults) - _SHOWN} more" if len(found.faults) > _SHOWN else ""
            message = f"this marketplace is not used as written: {'; '.join(found.faults[:_SHOWN])}{more}"
            scan.report("catalog.plugin", found.file, message)
        return self._sources(found)

    def plugins(self) -> Sequence[PluginSource]:
        """Return the plugins in the order of precedence."""
        found = read_marketplace(self.named)
        return () if found is None else self._sources(found)

    def _sources(self, found: Marketplace) -> list[PluginSource]:
        entries = list(found.entries)
        if read_plugin_manifest(self.named) is not None and not any(not entry.path for entry in entries):
            entries.insert(0, MarketplaceEntry(file=found.file, path="", name=None))  # the directory is a plugin too
        known, self._known = self._known, {}
        sources: list[PluginSource] = []
        for entry in reversed(entries):
            directory = f"{self.named}/{entry.path}" if entry.path else self.named
            source = known.get(entry) or PluginSource(directory, (*self._above, *sources), entry)
            self._known[entry] = source
            sources.append(source)
        return sources


def read_marketplace(directory: str) -> Marketplace | None:
    """Read the marketplace in `directory`. Return None if it has none. Raises no errors."""
    here = os.path.abspath(directory)
    for file, content, fault in json_objects(directory, MARKETPLACE_FILES, MAX_MARKETPLACE_BYTES):
        path = os.path.join(here, file)
        if fault is None:
            return _parsed(here, path, content)
        if os.path.lexists(path):  # if not, its directory is a link, and has no such file
            return Marketplace(file=path, faults=(fault,))
    return None


def _parsed(directory: str, file: str, content: Mapping[str, object]) -> Marketplace:
    plugins = content.get("plugins")
    if not isinstance(plugins, list):
        return Marketplace(file=file, faults=("it has no list of plugins",))
    faults: list[str] = []
    if len(plugins) > MAX_PLUGINS:
        faults.append(f"it lists {len(plugins)} plugins, at most {MAX_PLUGINS} are used")
    metadata = content.get("metadata")
    base = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    entries = []
    for plugin in plugins[:MAX_PLUGINS]:
        entry = _entry(directory, file, base, plugin)
        if isinstance(entry, str):
            faults.append(entry)
        else:
            entries.append(entry)
    return Marketplace(file=file, entries=tuple(dict.fromkeys(entries)), faults=tuple(faults))


def _entry(directory: str, file: str, base: object, plugin: object) -> MarketplaceEntry | str:
    """Return the entry of one plugin, or why it is not used."""
    if not isinstance(plugin, dict):
        return "an entry of plugins is not an object"
    shown = repr(str(plugin.get("name"))[:_LONGEST])
    faults: list[str] = []
    name = plugin_name(plugin.get("name"), faults)
    source = plugin.get("source")
    if isinstance(source, dict) and source.get("source") in {"local", "directory"}:
        source = source.get("path")
    if isinstance(source, dict) or (isinstance(source, str) and "://" in source):
        return f"the plugin {shown} is at another place and is not fetched; install it and name its directory"
    if not isinstance(source, str):
        return f"the plugin {shown} has no source"
    below = f"{base}/{source}" if isinstance(base, str) and base and not source.startswith("./") else source
    try:
        path = "/".join(check_relative(below or "."))
    except UnsafePathError as fault:
        return f"the plugin {shown} is left out: {fault.reason}"
    root, real = os.path.realpath(directory), os.path.realpath(os.path.join(directory, path))
    if real != root and not real.startswith(f"{root}/"):
        return f"the plugin {shown} is left out: it leads out of the marketplace"
    if not os.path.isdir(real):
        return f"the plugin {shown} is left out: there is no directory {path!r}"
    skills = declared_skills(plugin["skills"], faults) if "skills" in plugin else None
    version = plugin_version(plugin, faults)
    return MarketplaceEntry(file=file, path=path, name=name, version=version, skills=skills, faults=tuple(faults))
