"""Skills of untrusted projects and packages: searched only to name them in a notice, and to explain a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.catalog.faults import Notice
from prowess.catalog.viewing.left_out import LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.viewing.left_out import HeldPackage
    from prowess.catalog.viewing.viewer import View

_SHOWN_NAMES = 5


def held_back(
    sources: Iterable[CatalogSource], scan: Scan, view: View, problems: Iterable[tuple[str, str]]
) -> tuple[list[LeftOut], list[Notice]]:
    """Return the copies that are held back, and notices.

    There is one notice for each of the `problems` (a code and a message), one for each project that has copies, and one
    for all packages. `sources` are those of untrusted projects. Skills that `scan` has already found are left out:
    another source offers them. A notice does not mention copies that `view` hides.
    """
    projects: dict[str, list[CatalogSource]] = {}
    for source in sources:
        projects.setdefault(source.project or source.named, []).append(source)
    found: list[LeftOut] = []
    notices = [Notice(code=code, message=message) for code, message in problems]
    for project, places in projects.items():
        aside = scan.aside()
        for source in places:
            aside.begin(source)
            source.scan(aside)
        copies = [
            LeftOut.held_back(entry, project) for path, entry in aside.entries.items() if path not in scan.entries
        ]
        found += copies
        if told := view.told(copies):
            notices.append(Notice(code="project_untrusted", message=_message(project, told)))
    packages = []
    for package in scan.held:
        found += package.copies
        if view.told(package.copies):
            packages.append(package)
    if packages:
        notices.append(Notice(code="package_untrusted", message=_packages_message(packages)))
    return found, notices


def _packages_message(packages: Sequence[HeldPackage]) -> str:
    texts = []
    for package in sorted(packages, key=lambda package: package.shown):
        names = sorted({printable_line(copy.names[0]) for copy in package.copies if copy.is_told})
        more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
        why = f"; {package.reason}" if package.reason else ""
        texts.append(f"{package.shown} ({', '.join(names[:_SHOWN_NAMES])}{more}{why})")
    can = any(package.trustable for package in packages)
    advice = "; to offer the skills of a package: prowess trust --package NAME" if can else ""
    return f"skills of installed packages are held back: {', '.join(texts)}{advice}"


def _message(project: str, copies: Sequence[LeftOut]) -> str:
    names = sorted({copy.names[0] for copy in copies})
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    count = "1 skill" if len(names) == 1 else f"{len(names)} skills"
    return (
        f"{count} of the project {project} held back because the project is not trusted: "
        f"{', '.join(names[:_SHOWN_NAMES])}{more}; to offer them: prowess trust {project}"
    )
