"""Versions and the npm ranges that demand them: which version fits, and which is preferred.

A range is written as npm writes it: `^2`, `1.2 - 1.4`, `>=1 <3 || 5.x`. The range `*` demands nothing: every version
fits, and a skill without version too. Every text that is no range is the text of one version.

A version that is no semantic version, such as `2026-spring`, fits only a demand for this text. Prereleases fit as in
npm: `^1.0.0-rc.1` allows `1.0.0-rc.2` and no prerelease of another version.
"""

from __future__ import annotations

import re
from functools import cmp_to_key, lru_cache
from typing import TYPE_CHECKING, Any

from prowess.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable

ANY = "*"
MAX_VERSION = 256  # characters, as in npm
MAX_RANGE = 256  # characters; a longer text is the text of one version


def fits(version: str | None, wanted: str) -> bool:
    """Return whether a version meets the demand `wanted`. `version` is None if the skill states none."""
    wanted = wanted.strip()
    if wanted in {"", ANY}:
        return True
    if version is None:
        return False
    if version == wanted:
        return True
    parsed, range_ = _version(version), _range(wanted)
    return parsed is not None and range_ is not None and bool(range_.test(parsed))


def is_range(text: str) -> bool:
    """Return whether a text is an npm range, and not only the text of one version."""
    return text in {"", ANY} or _range(text) is not None


def is_semantic(version: str | None) -> bool:
    """Return whether a version is a semantic version, which ranges can contain."""
    return version is not None and _version(version) is not None


def is_prerelease(version: str | None) -> bool:
    """Return whether a version is a semantic version with a prerelease part, such as `1.0.0-rc.1`."""
    parsed = None if version is None else _version(version)
    return parsed is not None and bool(parsed.prerelease)


def major(version: str | None) -> int | None:
    """Return the major part of a semantic version; None for every other text."""
    parsed = None if version is None else _version(version)
    return None if parsed is None else int(parsed.major)


def newest_first(versions: Iterable[str | None]) -> list[str | None]:
    """Return versions in the order in which they are preferred.

    Releases come first, then prereleases, both from high to low. Texts that are no semantic versions keep their order
    behind them, and None, no version, is the last. Versions that differ only in their build part are
    ordered by their text, from high to low.
    """
    return sorted(versions, key=_preference)


def compare(one: str, other: str) -> int:
    """Return -1, 0 or 1 if `one` is lower than, equal to or higher than `other`; 0 if one is no semantic version."""
    first, second = _version(one), _version(other)
    return 0 if first is None or second is None else int(first.compare(second))


def _preference(version: str | None) -> tuple[int, Any]:
    if version is None:
        return 3, 0
    if (parsed := _version(version)) is None:
        return 2, 0
    return (1 if parsed.prerelease else 0), _from_high_to_low((parsed, version))


def _compared(one: tuple[Any, str], other: tuple[Any, str]) -> int:
    return -int(one[0].compare(other[0]) or (one[1] > other[1]) - (one[1] < other[1]))


_from_high_to_low = cmp_to_key(_compared)


@lru_cache(maxsize=65_536)
def _version(text: str) -> Any:  # noqa: ANN401 -- the library has no types
    if not text.isascii() or len(text) > MAX_VERSION:
        return None
    try:
        return _library().make_semver(text, loose=False)
    except ValueError:
        return None


@lru_cache(maxsize=65_536)
def _range(text: str) -> Any:  # noqa: ANN401 -- the library has no types
    if not text.isascii() or len(text) > MAX_RANGE or _has_number_after_x(text):
        return None
    try:
        return _library().make_range(text, loose=False)
    except ValueError:
        return None


def _has_number_after_x(text: str) -> bool:
    """Return whether a comparator is like `1.x.2` or `>x.1`. npm refuses these ranges, the library accepts them."""
    return any(
        _NUMBER_AFTER_X.match(comparator)
        for alternative in text.split("||")
        if " - " not in alternative
        for comparator in re.sub(r"([~^<>=]+)\s+", r"\1", alternative).split()
    )


_NUMBER_AFTER_X = re.compile(r"[<>=]*v?(?:[0-9]+\.)?[xX*]\.(?:[xX*]\.)?[0-9]")


@lru_cache(maxsize=1)
def _library() -> Any:  # noqa: ANN401 -- the library has no types
    try:
        import nodesemver
    except ImportError as fault:
        raise MissingExtraError("comparing versions", "install", str(fault)) from fault
    return nodesemver
