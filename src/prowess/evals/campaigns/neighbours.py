"""Skills that are installed beside those under test (`--with`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.errors import InvalidArgumentsError, SkillParseError
from prowess.format.reading import read_skill

if TYPE_CHECKING:
    from collections.abc import Sequence


def neighbour_directories(paths: Sequence[str], *, tested: Sequence[str]) -> dict[str, str]:
    """Return the real paths of the skills in these directories, by name. `tested` are the names under test.

    Raises:
        InvalidArgumentsError: a directory has no skill that can be loaded, or two of all skills have one name.
    """
    found: list[tuple[str, str]] = []
    for path in paths:
        place = os.path.realpath(path)
        try:
            found.append((read_skill(place).name, place))
        except SkillParseError as fault:
            raise InvalidArgumentsError((f"--with {path}: {fault}",)) from None
    require_distinct([*tested, *(name for name, _ in found)])
    return dict(found)


def require_distinct(names: Sequence[str]) -> None:
    """Require that each skill has a name of its own.

    Raises:
        InvalidArgumentsError: two have the same.
    """
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidArgumentsError((f"two skills are called {min(twice)!r}; each name can be installed once",))
