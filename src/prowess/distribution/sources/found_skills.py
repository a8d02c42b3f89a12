"""The skills in a directory tree, as the catalog's readers find them: marketplace, plugin, or directory of skills.

A directory with a plugin's manifest has the skills of that plugin. A directory with a marketplace has those of its
plugins, and those in its own `skills/` whose names no plugin has: many repositories list only some of their skills in a
marketplace. Any other directory is searched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prowess.catalog.deferred_findings import DeferredFindings
from prowess.catalog.layers import Layer
from prowess.catalog.scan import Scan
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.marketplace import MarketplaceSource, plugins_at
from prowess.catalog.sources.plugin_manifest import read_plugin_manifest
from prowess.distribution.sources.portable_paths import is_portable_name
from prowess.distribution.sources.protocol import Offer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog.entry import SkillEntry


_SKILLS = "skills"
_MOST_PROBLEMS = 100  # sentences; the other ones are counted


def find_skills(directory: str, package: str | None) -> tuple[tuple[Offer, ...], tuple[str, ...]]:
    """Return the skills in a directory, sorted by name and path, and a sentence for each one that is left out.

    A skill's package is its plugin, else `package`. Raises no errors for faulty skills.
    """
    scan = Scan()
    plugins: set[int] = set()  # ids of the sources whose label is a plugin's name
    for part, is_plugin in _parts(directory, scan):
        if is_plugin:
            plugins.add(id(part))
        scan.begin(part)
        part.scan(scan)
    root = os.path.realpath(directory)
    offers: list[Offer] = []
    problems: list[str] = []
    listed = {entry.key for entry in scan.entries.values() if entry.source_id in plugins}
    for real, entry in scan.entries.items():
        if entry.source_id not in plugins and entry.key in listed:
            continue
        if not is_portable_name(entry.name):
            problems.append(f"{entry.name!r}: left out, because its name cannot be the name of a directory")
        elif real == root or real.startswith(f"{root}/"):
            offers.append(
                offer_for(entry, real[len(root) + 1 :], entry.source if entry.source_id in plugins else package)
            )
        else:
            problems.append(f"{entry.name}: left out, because a link leads out of the source to it")
    problems += [
        _sentence(found.location.path, root, found.message)
        for found in scan.diagnostics
        if not isinstance(found, DeferredFindings) and found.family == "catalog"
    ]
    problems += [
        _sentence(left.location, root, left.reason) for left in scan.skipped if not left.rule.startswith("catalog.")
    ]
    if len(problems) > _MOST_PROBLEMS:
        problems[_MOST_PROBLEMS:] = [f"and {len(problems) - _MOST_PROBLEMS} more"]
    return tuple(sorted(offers, key=lambda offer: (offer.name, offer.path))), tuple(problems)


def _parts(directory: str, scan: Scan) -> Iterator[tuple[DirectorySource, bool]]:
    """Yield the sources of a directory, and whether each one is a plugin, whose label is a name."""
    found = plugins_at(directory)
    if isinstance(found, MarketplaceSource):
        scan.begin(found)
        yield from ((plugin, True) for plugin in found.parts(scan))
        if os.path.isdir(f"{directory}/{_SKILLS}"):
            yield DirectorySource(f"{directory}/{_SKILLS}", layer=Layer.PLUGIN, named=True), False
    elif read_plugin_manifest(found.named) is not None:
        yield found, True
    else:
        yield DirectorySource(directory, layer=Layer.PLUGIN, named=True), False


def _sentence(path: str | None, root: str, message: str) -> str:
    shown = "" if path is None else os.path.relpath(path, root)
    return f"{shown}: {message}" if shown else message


def offer_for(entry: SkillEntry, path: str, package: str | None) -> Offer:
    """Return the offer of a listed skill. Its version is that of its metadata."""
    metadata = entry.properties.get("metadata")
    version = metadata.get("version") if isinstance(metadata, Mapping) else None
    return Offer(
        name=entry.name,
        package=package,
        version=version.strip() or None if isinstance(version, str) else None,
        path=path,
        description=entry.description,
    )
