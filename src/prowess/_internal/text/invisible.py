"""Remove invisible characters, which people do not see but models read.

Tag characters and rows of variation selectors can contain whole hidden sentences. Controls of writing direction show a
text in a different order. Zero-width characters and fillers split words so that a search misses them.

Source: Unicode Technical Standard 39; Unicode 16, sections 23.2 and 23.4; UTS 51 for emoji.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

TAGS = "\U000e0000-\U000e007f"
SELECTORS, FEW_SELECTORS = "\U000e0100-\U000e01ef", "\ufe00-\ufe0f\u180b-\u180d\u180f"
OVERRIDES, EMBEDDINGS = "\u202d\u202e", "\u202a-\u202c\u2066-\u2069"
JOINERS, NEVER_NEEDED = "\u200b-\u200d\u180e", "\u2060-\u2064\ufeff"
_MARKS = "\u00ad\u034f\u061c\u200e\u200f\u206a-\u206f\ufff9-\ufffb\U0001d173-\U0001d17a"
_FILLERS = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_INVISIBLE = (
    f"[{TAGS}{SELECTORS}{FEW_SELECTORS}{OVERRIDES}{EMBEDDINGS}{JOINERS}{NEVER_NEEDED}{_MARKS}{_FILLERS}"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]+"
)
_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f"  # flag of a region, such as Scotland
_EMOJI_STYLE, _TEXT_STYLE, _ZWNJ, _ZWJ = "\ufe0f", "\ufe0e", "\u200c", "\u200d"
_KEYCAPS = "0123456789#*"
_ASCII = bytes(range(0x80))


def visible(text: str) -> str:
    """Return `text` without invisible characters, except in emoji, flags and scripts that need joiners."""
    if text.isascii():
        return text
    # The pattern takes much longer than the removal of all ASCII characters, which most texts consist of.
    others = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if not re.search(_INVISIBLE, others):
        return text
    return re.sub(f"{_FLAG}|{_INVISIBLE}", _kept, text)


def visible_value(value: object) -> object:
    """Return a copy of a JSON value with `visible` applied to every text. Keys are not changed."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: visible_value(one) for key, one in value.items()}
    return [visible_value(one) for one in value] if isinstance(value, list | tuple) else value


def hides_something(text: str) -> bool:
    """Return whether `text` has invisible characters that `visible` would remove."""
    return visible(text) != text


def _kept(match: re.Match[str]) -> str:
    run, text = match[0], match.string
    if run[0] == "\U0001f3f4":
        return run
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    foreign = bool(before) and not before.isascii()
    joins = foreign and bool(after) and not after.isascii()
    if run in {_EMOJI_STYLE, _TEXT_STYLE}:
        return run if foreign or before in _KEYCAPS else ""
    if run in {_ZWJ, _ZWNJ, f"{_EMOJI_STYLE}{_ZWJ}"}:
        return run if joins else ""
    if len(run) == 1 and "\U000e0100" <= run <= "\U000e01ef":
        return run if "\u3400" <= before <= "\U0003ffff" else ""  # the variant of an ideograph
    return ""
