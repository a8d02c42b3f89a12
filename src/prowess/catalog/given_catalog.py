"""Accept either a catalog or the path of a directory of skills."""

from __future__ import annotations

import os

from prowess.catalog.catalog import Catalog
from prowess.errors import InvalidArgumentsError


def catalog_of(given: Catalog | str | os.PathLike[str]) -> Catalog:
    """Return `given` if it is a catalog, else a new catalog of this directory. Raises InvalidArgumentsError."""
    if isinstance(given, Catalog):
        return given
    if not isinstance(given, str | os.PathLike):
        raise InvalidArgumentsError((f"skills come from a Catalog or a path, not from {type(given).__name__}",))
    path = os.fspath(given)
    if os.path.isdir(path):
        return Catalog(path)
    if not path:
        raise InvalidArgumentsError(("the path of the skills is empty; give the directory that holds them",))
    named = os.path.abspath(path)
    if os.path.lexists(named):
        problem = f"{named} is not a directory; give the directory that holds the skills"
    else:
        problem = f"there is no directory of skills at {named}; make it, or give the directory that holds the skills"
    raise InvalidArgumentsError((problem,))
