"""Reads the packages that seem to have skills, and makes a source of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.sources.packages.node_packages import read_node_package
from prowess.catalog.sources.packages.package import sources_of
from prowess.catalog.sources.packages.python_packages import read_distribution

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.directory import DirectorySource


def read_packages(
    distributions: Iterable[tuple[str, str]],
    nodes: Iterable[tuple[str, str]],
    project: str | None,
    taken: Sequence[CatalogSource],
    known: Mapping[tuple[str, ...], list[DirectorySource]],
) -> list[tuple[tuple[str, ...], list[DirectorySource]]]:
    """Return the sources of each package by its identity (`prowess.catalog.sources.packages.package.sources_of`).

    `distributions` are a directory of distributions and the name of a metadata directory each, `nodes` a `node_modules`
    and the name of a package each, nearest first.
    """
    found = [read_distribution(site, name) for site, name in distributions]
    found += [read_node_package(folder, name) for folder, name in nodes]
    return sources_of([one for one in found if one is not None], project, taken, known)
