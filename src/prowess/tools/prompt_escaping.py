"""Escape foreign text inside Prowess's tags, so that the text cannot close a section or open another section.

Short texts (names, descriptions, paths) are escaped as XML. A body stays as its author wrote it: HTML, code and
placeholders are unchanged, and only a `<` that would begin a tag of Prowess becomes `&lt;`. A tag is also found if it
is disguised by white space, invisible characters (before or inside the name), case, or similar-looking characters. Tags
are searched in a copy of the text, its shadow, in which each character is replaced by the plain character that it looks
like. Shadow and text have the same length, so a position in the shadow is also the position in the text. The time of
every search is linear in the length of the text.

An unpaired surrogate (from a file name that is not UTF-8) becomes U+FFFD, because it cannot be sent to any host.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping

from prowess._internal.text.terminal_text import printable_line

SECTION_TAGS = ("available_skills", "active_skills", "skill_content", "skill_resources", "skill")

_NOTHING = "\0"  # stands for an invisible character in the shadow
_BLANK = " \t\n\v\f\r"
# Unicode categories of characters that are invisible or have no glyph of their own. Unassigned characters, private ones
# and surrogates may be invisible.
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"})
# Letters (category Lo) with Default_Ignorable_Code_Point in Unicode, and the braille cell without dots.
_UNSEEN_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"
# U+226E is a struck-through `<`: another spelling of `<` with a combining mark.
_OPENERS = "<\u226e\ufe64\uff1c\u02c2\u1438\u16b2\u2039\u2329\u276c\u276e\u27e8\u29fc\u3008\ufe3f\U0001d236"
_SLASHES = "/\u2044\u2215\u2571\u29f8\uff0f\u3033\u4e3f\U0001d23a"
# Letters of other alphabets that look like those in our tags; most are from Unicode's confusables.
_LOOKALIKES = {
    "a": "\u0251\u03b1\u0430\u0410\u0391",
    "b": "\u0432\u0412\u0392\u042c\u044c",
    "c": "\u0441\u0421\u03f2\u1d04",
    "e": "\u0435\u0415\u0395\u212e\u1d07",
    "i": "\u0131\u0269\u026a\u03b9\u0456\u0406\u0399\u04cf",
    "k": "\u03ba\u043a\u041a\u039a\u1d0b",
    "l": "\u01c0\u04c0\u05c0\u0196\u029f",
    "n": "\u0274\u039d\u0578\u057c",
    "o": "\u03bf\u043e\u041e\u039f\u0585\u1d0f",
    "r": "\u0433\u1d26\u0280",
    "s": "\u0455\u0405\ua731",
    "t": "\u03c4\u0442\u0422\u03a4\u1d1b",
    "u": "\u03c5\u057d\u1d1c",
    "v": "\u03bd\u0475\u0474\u2228\u22c1\u1d20",
    "_": "\u02cd\u2017",
}
_FIXED = {
    **{ord(char): " " for char in _BLANK},
    **{ord(char): "<" for char in _OPENERS},
    **{ord(char): "/" for char in _SLASHES},
    **{ord(char): _NOTHING for char in _UNSEEN_LETTERS},
    **{ord(char): letter for letter, chars in _LOOKALIKES.items() for char in chars},
}
_ROMAN_FOUR = "\u2173"  # the only character that looks like two letters of our tags
_MAX_KNOWN = 1 << 16

# `&` is replaced first, because the other references contain it.
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;"))
_HALF = "[\ud800-\udfff]"
_OPENER = f"[{_OPENERS}]"
_UNICODE_ESCAPES = {char: f"\\u{ord(char):04x}" if char == "<" else json.dumps(char)[1:-1] for char in _OPENERS}


class _Shadows(dict[int, str]):
    """Maps each character to its shadow (see the module docstring): one character, computed on first use."""

    def __missing__(self, point: int) -> str:
        shadow = _shadow(chr(point))
        if len(self) < _MAX_KNOWN:
            self[point] = shadow
        return shadow


def _shadow(char: str) -> str:
    if char in "\u2163\u2173":
        return _ROMAN_FOUR
    if unicodedata.category(char) in _UNSEEN:
        return _NOTHING
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    seen = "".join(part for part in folded if unicodedata.category(part) not in _UNSEEN)
    return _FIXED.get(ord(seen), seen) if len(seen) == 1 else char


def _spelled(tag: str) -> str:
    """Return the pattern of a tag that allows invisible characters between its letters."""
    pattern = f"{_NOTHING}*+".join(re.escape(letter) for letter in tag)
    pair = f"i{_NOTHING}*+v"
    return pattern.replace(pair, f"(?:{pair}|{_ROMAN_FOUR})")


# Frequent characters are preloaded: a text of very many different characters may fill the cache.
_SHADOWS = _Shadows({point: chr(point).lower() for point in range(0x21, 0x7F)} | _FIXED)
# No part matches the first character of the next part, and `*+` does not backtrack, so each character is examined a
# bounded number of times.
_OURS = rf"<(?=[ /{_NOTHING}]*+(?:{'|'.join(map(_spelled, SECTION_TAGS))})(?![\w.:-]))"


def escaped(text: str) -> str:
    """Return `text` on one line, escaped for the content or a quoted attribute of an element."""
    line = one_line(text)
    for char, reference in _ESCAPES:  # faster than `translate`, which lists of skills would spend most time in
        if char in line:
            line = line.replace(char, reference)
    return neutral(line)


def one_line(text: str) -> str:
    """Return `text` with each run of white space replaced by one space."""
    return " ".join(text.split())


def neutral(body: str) -> str:
    """Return `body` with each tag of Prowess in it turned into plain text."""
    if body.isascii() and "<" not in body:  # fast path for nearly every message: no pattern is searched
        return body
    whole = re.sub(_HALF, "\ufffd", body)
    if re.search(_OPENER, whole) is None:
        return whole
    parts: list[str] = []
    done = 0
    for found in re.finditer(_OURS, body.translate(_SHADOWS)):
        parts += (whole[done : found.start()], "&lt;")
        done = found.end()
    return "".join((*parts, whole[done:]))


def sentence(text: str) -> str:
    """Return a sentence with quoted names or arguments as one line, without Prowess's tags and invisible characters."""
    return neutral(printable_line(text))


def json_for_model(value: object) -> str:
    r"""Return `value` as JSON without tags.

    Each `<`, and each character that looks like one, is written as an escape such as `\u003c`. The value is
    unchanged, except that unpaired surrogates become U+FFFD.

    Raises:
        ValueError: the value contains infinity or NaN, which JSON cannot express.
    """
    text = re.sub(_HALF, "\ufffd", json.dumps(value, ensure_ascii=False, allow_nan=False))
    # Outside strings, JSON is ASCII without these characters, so every match is inside a string.
    return re.sub(_OPENER, lambda found: _UNICODE_ESCAPES[found[0]], text)


def encodable(value: object) -> object:
    """Return JSON data with unpaired surrogates replaced by U+FFFD. Raise ValueError for infinity and NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the number {value} has no JSON form")
    if isinstance(value, str):
        return value if value.isascii() else re.sub(_HALF, "\ufffd", value)
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value
