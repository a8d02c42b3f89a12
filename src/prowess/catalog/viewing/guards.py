"""`Guards`: the state of what decides whether sources are used and copies are visible, as it was before a scan.

Trust, owners, settings and the environment are asked anew at each scan. Between scans, `Guards` tells with `stat` alone
whether one of the answers may differ.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.catalog_settings import OWN_FILE, SHARED_FILE
from prowess._internal.places import TRUST_FILE, USER_FILE, prowess_home

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.catalog.sources import CatalogSource

_VARIABLES = "PROWESS_"


class Guards:
    """The directories that sources and projects name, their owners, trust, manifests, settings and the environment."""

    __slots__ = ("_sources", "_state")

    def __init__(self, sources: Sequence[CatalogSource]) -> None:
        self._sources = sources
        self._state = self._now()

    def moved(self) -> bool:
        """Whether something has changed since this object was made."""
        return self._now() != self._state

    def _now(self) -> tuple[object, ...]:
        variables = sorted(item for item in os.environ.items() if item[0].startswith(_VARIABLES))
        return (variables, *map(_directory, self._directories()), *map(_file, self._files()))

    def _directories(self) -> Iterator[str]:
        for source in self._sources:
            yield source.named
            if source.project is not None:
                yield source.project
                yield f"{source.project}/.git"

    def _files(self) -> Iterator[str]:
        home = prowess_home()
        yield os.path.join(home, TRUST_FILE)
        yield os.path.join(home, USER_FILE)
        for source in self._sources:
            manifests: Iterable[str] = getattr(source, "manifests", ())
            yield from manifests
            beside: str | None = getattr(source, "beside", None)
            if beside is not None:
                yield os.path.join(beside, OWN_FILE)
                yield os.path.join(beside, SHARED_FILE)


def _directory(path: str) -> tuple[int, ...] | None:
    found = _examined(path)
    return None if found is None else (found.st_dev, found.st_ino, found.st_uid, found.st_mode)


def _file(path: str) -> tuple[int, ...] | None:
    found = _examined(path)
    return None if found is None else (found.st_ino, found.st_ctime_ns, found.st_mtime_ns, found.st_size)


def _examined(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
