"""The words of a text, folded so that spellings of one word are equal.

Case, compatibility forms and accents are removed. Names such as `csv-report` and `csv_report` are two words. Chinese,
Japanese, Korean, Thai, Lao, Khmer and Burmese texts, most of which have no blanks, are cut into pairs of neighbouring
characters.
"""

from __future__ import annotations

import re
import unicodedata

from prowess.catalog.matching.common_words import COMMON

_ASCII_WORD = re.compile(r"[a-z0-9]+(?:\+\+|#(?![a-z0-9]))?")
_WORD = re.compile(r"[^\W_]+(?:\+\+|#(?!\w))?")
_JOINED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Japanese, Chinese
    "\uac00-\ud7a3\U00020000-\U0003134f"  # Korean, rare Chinese characters
)
_HAN = re.compile("[\u4e00-\u9fff]+")
_RUN = re.compile(f"[{_JOINED}]+")


class _Folded(dict[int, "int | str | None"]):
    """What each character becomes: marks such as accents go. Computed when a character is first met."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.category(chr(code)) == "Mn" else code
        self[code] = kept
        return kept


_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "\u0131": "i", "þ": "th"}
_FOLDED = _Folded({ord(letter): plain for letter, plain in _LETTERS.items()})


def spelled_words(text: str) -> list[str]:
    """Return the folded words of a text in their order, without common words."""
    if text.isascii():
        return [word for word in _ASCII_WORD.findall(text.lower()) if word not in COMMON]
    if _HAN.fullmatch(text):  # folding changes none of these characters
        return _pairs_of(text)
    folded = folded_text(text)
    found: list[str] = []
    for word in _WORD.findall(folded):
        if word.isascii() or not _RUN.search(word):
            if word not in COMMON:
                found.append(word)
        else:
            found += _pairs(word)
    return found


def asked_words(text: str) -> dict[str, str]:
    """Return the folded words of a task in their order, each with the word as it is written there first."""
    found: dict[str, str] = {}
    for written in _WORD.findall(unicodedata.normalize("NFC", text)):
        if written.isascii():
            if (word := written.lower()) not in COMMON and word not in found:
                found[word] = written
            continue
        folded = spelled_words(written)
        for word in folded:
            found.setdefault(word, written if len(folded) == 1 else word)
    return found


def is_pair(word: str) -> bool:
    """Whether a folded word is a pair of neighbouring characters, which may belong to two words."""
    return not word.isascii() and _RUN.match(word) is not None


def folded_text(text: str) -> str:
    """Return a text in lower case, without accents and compatibility forms."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text.casefold()).translate(_FOLDED))


def _pairs(word: str) -> list[str]:
    """Cut a word with characters of scripts without blanks: such runs become pairs, the rest stays whole."""
    found: list[str] = []
    at = 0
    for run in _RUN.finditer(word):
        if run.start() > at:
            found.append(word[at : run.start()])
        found += _pairs_of(run.group())
        at = run.end()
    if at < len(word):
        found.append(word[at:])
    return [part for part in found if part not in COMMON]


def _pairs_of(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(max(len(run) - 1, 1))]
