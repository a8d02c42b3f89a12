"""Suggestions for a name that was not found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.near_words import near_words

if TYPE_CHECKING:
    from collections.abc import Iterable

_AT_MOST = 3
_LENGTH_APART = 3  # characters; a typing error changes few
_SHORTEST_PART = 3  # shorter parts occur in too many names


def close_names(asked: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of `names` that were probably meant by `asked`, the likeliest first.

    A name is suggested if it begins with `asked`, contains `asked`, is contained in `asked`, or differs by few
    characters.
    """
    if not asked:
        return ()
    wanted = asked.lower()
    known = list(names)
    found: dict[str, None] = {}
    if len(wanted) >= _SHORTEST_PART:
        within = [
            name
            for name in known
            if (wanted in name.lower() if len(name) >= len(wanted) else len(name) >= _SHORTEST_PART and name in wanted)
        ]
        found.update(
            dict.fromkeys(sorted(within, key=lambda name: (not name.lower().startswith(wanted), len(name), name)))
        )
    similar = {name.lower(): name for name in known if abs(len(name) - len(wanted)) <= _LENGTH_APART}
    found.update((similar[name], None) for name in near_words(wanted, similar, most=_AT_MOST, cutoff=0.7))
    return tuple(found)[:_AT_MOST]
