"""Skills of untrusted projects: searched only to name them in a notice and to explain a request for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.faults import Notice
from prowess.catalog.viewing.left_out import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource

_SHOWN_NAMES = 5


def held_back(sources: Iterable[CatalogSource], scan: Scan) -> tuple[list[LeftOut], list[Notice]]:
    """Return the copies in the sources of untrusted projects, and one notice for each project that has some.

    Skills that `scan` has already found are left out: another source offers them.
    """
    projects: dict[str, list[CatalogSource]] = {}
    for source in sources:
        projects.setdefault(source.project or source.named, []).append(source)
    found: list[LeftOut] = []
    notices: list[Notice] = []
    for project, places in projects.items():
        aside = scan.aside()
        for source in places:
            aside.begin(source)
            source.scan(aside)
        copies = [
            LeftOut.held_back(entry, project) for path, entry in aside.entries.items() if path not in scan.entries
        ]
        if copies:
            found += copies
            notices.append(Notice(code="project_untrusted", message=_message(project, copies)))
    return found, notices


def _message(project: str, copies: Sequence[LeftOut]) -> str:
    names = sorted({copy.names[0] for copy in copies})
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    count = "1 skill" if len(names) == 1 else f"{len(names)} skills"
    return (
        f"{count} of the project {project} held back because the project is not trusted: "
        f"{', '.join(names[:_SHOWN_NAMES])}{more}; to offer them: prowess trust {project}"
    )
