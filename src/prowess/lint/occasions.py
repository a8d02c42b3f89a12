"""Whether a description says when to use a skill, in the languages that people write skills in.

A clause of occasion is known by its words. Text in a script of which no words are known here counts as saying it: a
finding that is a guess is worse than none.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_BY_LANGUAGE = {
    "English": "when whenever while trigger triggers triggered triggering upon",
    "Portuguese, Spanish, Italian": "quando sempre caso cuando siempre ogniqualvolta",
    "French": "lorsque quand lorsqu",
    "German, Dutch": "wenn sobald falls immer wanneer zodra",
    "Polish, Danish, Swedish, Turkish": "gdy kiedy n\u00e5r n\u00e4r zaman durumunda",
    "Russian": "\u043a\u043e\u0433\u0434\u0430 \u0435\u0441\u043b\u0438 \u043f\u0440\u0438",
}
_OCCASIONS = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split())
_USES = frozenset(
    {"use", "used", "uses", "using", "useful", "invoke", "invoked", "activate", "apply", "ideal", "suitable", "run"}
    | {"call", "load", "consult", "read", "intended"}
)
_PURPOSES = frozenset({"for", "if", "before", "after", "during", "as"})
_OTHER_OFFERS = ("use ao ", "use para ", "usar para ", "utilizar para ", "usare per ", "utiliser pour ", "if the user")
_EAST_ASIAN = (
    "当",
    "當",
    "时",
    "時",
    "用于",
    "用於",
    "触发",
    "觸發",
    "适用",
    "適用",
    "场景",
    "とき",
    "際",
    "場合",
    "때",
    "경우",
    "사용",
    "使用",
)


def says_when(description: str) -> bool:
    """Whether a clause of the description names an occasion."""
    text = description.lower()
    words = _WORD.findall(text)
    if not _OCCASIONS.isdisjoint(words) or any(offer in text for offer in _OTHER_OFFERS):
        return True
    if not text.isascii() and (
        any(word in text for word in _EAST_ASIAN) or not any("a" <= char <= "z" for char in text)
    ):
        return True
    return any(_offers(sentence) for sentence in re.split(r"[.;!?\n]", text))


def _offers(sentence: str) -> bool:
    """Whether a word of use is followed by one of purpose."""
    used = False
    for word in _WORD.findall(sentence):
        if used and word in _PURPOSES:
            return True
        used = used or word in _USES
    return False
