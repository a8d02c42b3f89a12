"""The search of all sources of a catalog: those that may be used are scanned, the other ones are held back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.layers import Layer
from prowess.catalog.memo.readings import LookInFullError, NoMemo
from prowess.catalog.scan import Scan
from prowess.catalog.viewing.trusted import is_own, is_trusted
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from prowess.catalog.faults import Notice
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.viewing.left_out import LeftOut
    from prowess.catalog.viewing.viewer import View, Viewer


def search(
    sources: Sequence[CatalogSource], scan: Scan, viewer: Viewer, *, trust_project: bool
) -> tuple[View, list[LeftOut], list[Notice]]:
    """Scan the sources. Return what is visible, the copies that are held back, and notices for a person.

    A source of a project is scanned if the project is trusted, or with `trust_project`.

    Raises:
        LookInFullError: the memo of `scan` has only some skills, but all are needed.
    """
    memo = scan.memo
    held: list[CatalogSource] = []
    notices: list[Notice] = []
    problems: list[tuple[str, str]] = []  # with projects, so their sources are held back
    decided: dict[str, bool] = {}
    for source in _with_parts(sources, scan):
        project = source.project
        if project is not None and project not in decided:
            decided[project] = trust_project or is_trusted(project, problems)
        if project is None or decided[project]:
            # A higher layer that administrators control is looked at in full, whatever name is asked for.
            scan.memo = NoMemo() if memo.is_partial and source.layer is Layer.ENTERPRISE else memo
            scan.begin(source)
            if project is None or trust_project or is_own(source, scan):
                source.scan(scan)
        else:
            held.append(source)
    view = viewer.look(sources, notices)
    left_out: list[LeftOut] = []
    if held or scan.held:
        if memo.is_partial:
            raise LookInFullError  # the notice names all skills that are held back
        # Imported here: a catalog of given roots, or of a trusted project, does not need it.
        from prowess.catalog.viewing.held_back import held_back

        left_out, told = held_back(held, scan, view, problems)
        notices += told
    return view, left_out, notices


def _with_parts(sources: Iterable[CatalogSource], scan: Scan) -> Iterator[CatalogSource]:
    """Yield the sources, and instead of one that has parts (installed packages) its parts as they are now."""
    for source in sources:
        parts: Callable[[Scan], list[CatalogSource]] | None = getattr(source, "parts", None)
        yield from (source,) if parts is None else parts(scan)


def require_none(enterprise: Iterable[CatalogSource]) -> None:
    """Raise InvalidArgumentsError if a source of the enterprise layer has skills."""
    scan = Scan()
    for source in enterprise:
        scan.begin(source)
        source.scan(scan)
        if scan.entries or scan.skipped:
            problem = f"{source.named} has skills of this machine's administrator, which cannot be left out"
            raise InvalidArgumentsError((problem,))
