"""Publishes skills: checks all of them, then writes them to a directory or pushes them to a container registry.

A directory that `prowess registry init` made is a registry with signatures: each publication is a release of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution.deployment.repository import DeploymentRepository
from prowess.distribution.deployment.signed_index import draft_name, released_index, signed_entries
from prowess.distribution.publishing.container_registry import publish_to_registry
from prowess.distribution.publishing.directory_registry import (
    DirectoryRegistry,
    Published,
    add_packages,
    yank_versions,
)
from prowess.distribution.publishing.package import read_checked_packages
from prowess.distribution.publishing.version_step import version_warnings
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.index.document import render_index
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.distribution.deployment.deploy import DeploymentKeys
    from prowess.distribution.deployment.release import SkillRelease
    from prowess.distribution.deployment.repository import DeployReport
    from prowess.distribution.publishing.directory_registry import PublishedStatus
    from prowess.distribution.publishing.package import Check, SkillPackage
    from prowess.lockfile.source_reference import SourceReference


class PublishReport(Struct, frozen=True, kw_only=True):
    """What was published. `warnings` are sentences. `contacted` are the servers, as `host` or `host:port`.

    `release` is the signed release, None if the registry has no signatures. If it is pending, nothing is published yet.
    """

    published: tuple[Published, ...]
    warnings: tuple[str, ...] = ()
    contacted: tuple[str, ...] = ()
    release: DeployReport | None = None


def publish(
    directories: Sequence[str],
    to: SourceReference,
    *,
    check: Check,
    yank: Sequence[tuple[str, str]] = (),
    allowed_hosts: Sequence[str] = (),
    signing: DeploymentKeys | None = None,
) -> PublishReport:
    """Publish the skills in these directories, all or none, and mark versions (name and version) as yanked.

    `check` returns the errors of these skills; with one error nothing is published. With `signing` and without skills
    and versions, the pending release is signed.

    Raises:
        InvalidSkillError: `check` returned errors.
        DistributionError: a version is published with other bytes, two of the skills have one name, the destination is
            neither a directory nor a container registry, or has signatures and no keys are given; or see
            `DeploymentRepository.release`.
        UnavailableError: the registry cannot be reached.
    """
    if to.kind not in {"directory", "oci"}:
        raise DistributionError(f"{to.source} cannot be published to; name a directory or oci://REGISTRY/PATH")
    packages = read_checked_packages(directories, check)
    if to.kind == "oci":
        if signing is not None:
            raise DistributionError("a container registry has no signed index; sign the skill: prowess sign PATH")
        if yank:
            raise DistributionError("a container registry has no yanked versions; delete the tag in the registry")
        with HttpClient(allowed_hosts=allowed_hosts) as client:
            published = publish_to_registry(packages, to.location, client)
            return PublishReport(published=published, contacted=client.contacted)
    repository = DeploymentRepository(to.location)
    if signing is not None:
        return _published_signed(packages, yank, repository, signing)
    if repository.exists:
        raise DistributionError(f"{to.location} has signed releases; give the key that signs: --key FILE")
    registry = DirectoryRegistry(to.location)
    warnings = version_warnings(packages, registry)
    published = registry.publish(packages) if packages else ()
    return PublishReport(published=(*published, *(registry.yank(yank) if yank else ())), warnings=warnings)


def _published_signed(
    packages: Sequence[SkillPackage],
    yank: Sequence[tuple[str, str]],
    to: DeploymentRepository,
    signing: DeploymentKeys,
) -> PublishReport:
    """Make a release with the new index. Artifacts and index are kept as pending until it has enough signatures."""
    drafts: dict[str, bytes] = {}
    results: list[Published] = []

    def change(release: SkillRelease) -> SkillRelease:
        entries = signed_entries(to.directory, release.index)
        rows, files = add_packages(entries, packages)
        results.extend((*rows, *yank_versions(entries, yank, to.directory)))
        data = render_index(tuple(entries.values()))
        index = released_index(data)
        drafts.update({draft_name(path): content for path, content in files.items()} | {index.file: data})
        return replace(release, index=index)

    is_new = bool(packages or yank)
    warnings = version_warnings(packages, DirectoryRegistry(to.directory))
    if not is_new:
        results += _waiting(to)
    report = to.release(change if is_new else None, drafts, signing.keys, signing.online, signing.permission)
    rows = [
        replace(row, status="pending") if report.state == "pending" and row.status != "unchanged" else row
        for row in results
    ]
    return PublishReport(published=tuple(rows), warnings=warnings, release=report)


def _waiting(to: DeploymentRepository) -> Iterator[Published]:
    """Yield the versions that the pending release publishes or yanks."""
    present, pending = to.present(), to.pending()
    if pending is None or pending.release.index is None:
        return
    old = signed_entries(to.directory, None if present is None else present.index)
    for name, entry in signed_entries(to.directory, pending.release.index, "pending").items():
        for one in entry.artifacts:
            if name not in old or one not in old[name].artifacts:
                status: PublishedStatus = "yanked" if one.yanked else "published"
                yield Published(name=name, version=one.version, artifact=one.digest, status=status)
