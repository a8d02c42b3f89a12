"""Whether the sources of a project may be used: the project is trusted, and nobody else could have put skills there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.ownership import stranger_in_folder, stranger_in_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource


def is_trusted(project: str, problems: list[tuple[str, str]]) -> bool:
    """Whether the user trusts `project`.

    Adds a problem, the code and the message of a notice, if another user could change it or the store is unusable.
    """
    # Imported here: a catalog of given roots, or one outside a project, does not need it.
    from prowess.catalog.trust import TrustStore

    store = TrustStore()
    if (problem := store.problem) is not None:
        problems.append(("trust_unreadable", problem))
        return False
    if not store.is_trusted(project):
        return False
    if (why := stranger_in_project(project)) is not None:
        message = f"the project {project} was trusted, but its skills are held back: {why}"
        problems.append(("project_untrusted", message))
    return why is None


def is_own(source: CatalogSource, scan: Scan) -> bool:
    """Whether only the user or root could have put skills into this folder; if False, a finding was reported."""
    of_lock: Callable[[], str | None] | None = getattr(source, "why_foreign", None)
    why = stranger_in_folder(source.named) if of_lock is None else of_lock()
    if why is not None:
        scan.report("catalog.stranger", source.named, f"no skill is loaded from here: {why}")
    return why is None
