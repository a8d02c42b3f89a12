"""Publishes skills: checks all of them, then writes them to a directory or pushes them to a container registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.publishing.container_registry import publish_to_registry
from prowess.distribution.publishing.directory_registry import DirectoryRegistry, Published
from prowess.distribution.publishing.package import read_checked_packages
from prowess.distribution.publishing.version_step import version_warnings
from prowess.distribution.sources.http.client import HttpClient
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.publishing.package import Check
    from prowess.distribution.sources.reference import SourceReference


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
    packages = read_checked_packages(directories, check)
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
