"""Names of people: when two spellings are one person, and which names a new token may have."""

from __future__ import annotations

import unicodedata

from prowess._internal.text.invisible import visible

NOT_PLAIN = "a name has no control or format characters, and no spaces at its edges"
_UNSEEN = frozenset({"Cc", "Cf"})  # categories of control and format characters


def is_same_person(one: str, other: str) -> bool:
    """Return whether two names differ only in case, compatibility forms, edge spaces or invisible characters."""
    return one == other or _plain(one) == _plain(other)


def is_plain_name(name: str) -> bool:
    """Return whether a name has no control or format characters, and no spaces at its edges."""
    seen = visible(name).strip()
    return bool(name) and name == seen and not any(unicodedata.category(one) in _UNSEEN for one in name)


def _plain(name: str) -> str:
    seen = "".join(one for one in visible(name) if unicodedata.category(one) not in _UNSEEN)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).strip()
