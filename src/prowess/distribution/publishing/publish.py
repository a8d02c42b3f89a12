"""Publishes skills: checks all of them, then writes them to a directory or pushes them to a container registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.publishing.container_registry import publish_to_registry
from prowess.distribution.publishing.directory_registry import DirectoryRegistry, Published
from prowess.distribution.publishing.package import read_package
from prowess.distribution.publishing.version_step import version_warnings
from prowess.distribution.sources.http.client import HttpClient
from prowess.errors import DistributionError, InvalidSkillError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.distribution.publishing.package import SkillPackage
    from prowess.distribution.sources.reference import SourceReference

    Check = Callable[[Sequence[str]], Sequence[Diagnostic]]


class PublishReport(Struct, frozen=True, kw_only=True):
    """What was published. `warnings` are sentences. `contacted` are the servers, as `host` or `host:port`."""

    published: tuple[Published, ...]
    warnings: tuple[str, ...] = ()
    contacted: tuple[str, ...] = ()


def publish(
    directories: Sequence[str],
    to: SourceReference,
    *,
    check: Check,
    yank: Sequence[tuple[str, str]] = (),
    allowed_hosts: Sequence[str] = (),
) -> PublishReport:
    """Publish the skills in these directories, all or none, and mark versions (name and version) as yanked.

    `check` returns the errors of these skills; with one error nothing is published.

    Raises:
        InvalidSkillError: `check` returned errors.
        DistributionError: a version is published with other bytes, two of the skills have one name, or the destination
            is neither a directory nor a container registry.
        UnavailableError: the registry cannot be reached.
    """
    if to.kind not in {"directory", "oci"}:
        raise DistributionError(f"{to.source} cannot be published to; name a directory or oci://REGISTRY/PATH")
    if errors := tuple(check(directories)):
        raise InvalidSkillError(errors)
    packages = [read_package(directory) for directory in directories]
    _require_distinct(packages)
    if to.kind == "oci":
        if yank:
            raise DistributionError("a container registry has no yanked versions; delete the tag in the registry")
        with HttpClient(allowed_hosts=allowed_hosts) as client:
            published = publish_to_registry(packages, to.location, client)
            return PublishReport(published=published, contacted=client.contacted)
    registry = DirectoryRegistry(to.location)
    warnings = version_warnings(packages, registry)
    published = registry.publish(packages) if packages else ()
    return PublishReport(published=(*published, *(registry.yank(yank) if yank else ())), warnings=warnings)


def _require_distinct(packages: Sequence[SkillPackage]) -> None:
    names = [package.name for package in packages]
    for name in names:
        if names.count(name) > 1:
            raise DistributionError(f"two of these skills have the name {name!r}; publish one of them")
