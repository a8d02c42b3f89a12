"""Opens the source of a reference. Each kind of source is one module, imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prowess.distribution.sources.index.document import has_index
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prowess.distribution.sources.protocol import SkillSource
    from prowess.lockfile.source_reference import Kind, SourceReference

# Module and class of each kind. The class is called with the reference, the scratch directory and the access.
CLASSES: Mapping[Kind, tuple[str, str]] = {
    "archive": ("prowess.distribution.sources.archive", "ArchiveSource"),
    "directory": ("prowess.distribution.sources.directory", "LocalDirectory"),
    "index": ("prowess.distribution.sources.index.source", "IndexSource"),
    "oci": ("prowess.distribution.sources.oci.source", "OciSource"),
    "npm": ("prowess.distribution.sources.installed", "InstalledPackage"),
    "python": ("prowess.distribution.sources.installed", "InstalledPackage"),
    "git": ("prowess.distribution.sources.git.repository", "GitRepository"),
}


def open_source(reference: SourceReference, *, scratch: str, access: Access | None = None) -> SkillSource:
    """Return the source of a reference. Nothing is read or contacted before its first method is called.

    `scratch` is a private directory, which the source fills and the caller removes after `close`.

    Raises:
        DistributionError: this kind of source is not supported.
    """
    has_own_index = reference.kind == "directory" and has_index(reference.location)
    if (found := CLASSES.get("index" if has_own_index else reference.kind)) is None:
        message = f"{reference}: sources of the kind {reference.kind} cannot be read"
        raise DistributionError(message)
    kind: Callable[[SourceReference, str, Access], SkillSource] = getattr(import_module(found[0]), found[1])
    return kind(reference, scratch, Access() if access is None else access)
