"""The order of names by JavaScript's `localeCompare`, for the hash of the npm client `skills`.

`localeCompare` compares by the Unicode Collation Algorithm with the root table of CLDR: first by the characters without
accents and case, then by accents, then by case. Here are the characters that occur in names of files: ASCII, Latin with
accents, Greek, Cyrillic, kana, Han and punctuation. A name with another character has no order here, and neither
have two names that `localeCompare` takes for equal: their order, and so the hash, depends on the machine.

Sources: Unicode Technical Standard 10; CLDR 48 root collation, as ICU 78 has it.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Each word is one place in the order. Its characters differ in case or form alone, in this order.
_PLACES = """
_ - – — , 、 ; : ! ¡ ? ¿ . 。 ' ‹ › " « » ( ) [ ] { } 〈 〉 《 》 「 」 『 』 【 】 § ¶ @ * / \\ & # % ‰ † ‡ • ′
` ´ ^ ¯ ¨ ¸ ° © ® + ± ÷ × < = > ¬ | ¦ ~ ー ¤ ¢ $ £ ¥ € 0 1 2 3 4 5 6 7 8 9 aA bB cC dD eE fF gG hH iI ı jJ kK lL
mM nN ŋŊ oO pP qQ rR sS tT ŧŦ uU vV wW xX yY zZ þÞ αΑ βΒ γΓ δΔ εΕ ζΖ ηΗ θΘ ιΙ κΚ λΛ μΜ νΝ ξΞ οΟ πΠ ρΡ σΣς τΤ υΥ
φΦ χΧ ψΨ ωΩ аА бБ вВ гГ дД ђЂ еЕ єЄ жЖ зЗ ѕЅ иИ іІ йЙ јЈ кК лЛ љЉ мМ нН њЊ оО пП рР сС тТ ћЋ уУ фФ хХ цЦ чЧ џЏ
шШ щЩ ъЪ ыЫ ьЬ эЭ юЮ яЯ
"""
_KANA = """
ぁあァア ぃいィイ ぅうゥウ ぇえェエ ぉおォオ かカ きキ くク けケ こコ さサ しシ すス せセ そソ たタ ちチ
っつッツ てテ とト なナ にニ ぬヌ ねネ のノ はハ ひヒ ふフ へヘ ほホ まマ みミ むム めメ もモ ゃやャヤ ゅゆュユ
ょよョヨ らラ りリ るル れレ ろロ わワ をヲ んン
"""
_ACCENTS = (
    "\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0338\u0327\u0328\u0304\u0335"
    "\u3099\u309a\u0309\u031b\u0323\ue000"
)
_HAN = ("\u4e00", "\u9fff")
_KANA_AT, _HAN_AT = 20_000, 30_000
# Letters that the order takes apart or keeps together, other than Unicode's decomposition.
_LETTERS = {"ø": "o\u0338", "Ø": "O\u0338", "ł": "l\u0335", "Ł": "L\u0335", "đ": "d\u0335", "Đ": "D\u0335"}
_LETTERS |= {"ħ": "h\u0335", "Ħ": "H\u0335"}
_LAST_ACCENT = "\ue000"
# As an accent that comes after all others, which Unicode does not have.
_LETTERS |= {"æ": "a\ue000e", "Æ": "A\ue000E", "œ": "o\ue000e", "Œ": "O\ue000E", "ß": "s\ue000s", "ẞ": "S\ue000S"}
_LETTERS |= {"ð": "d\ue000", "Ð": "D\ue000", "ґ": "г\ue000", "Ґ": "Г\ue000"}
_TOGETHER = {"и\u0306": "й", "И\u0306": "Й"}

_SPACE = 0  # in front of all other places
_PLACE = {" ": (_SPACE, 0), "\u00a0": (_SPACE, 1)} | {
    sign: (at, form)
    for first, places in ((1, _PLACES), (_KANA_AT, _KANA))
    for at, place in enumerate(places.split(), first)
    for form, sign in enumerate(place)
}
_ACCENT = {sign: at for at, sign in enumerate(_ACCENTS, 1)}

LocaleKey = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class UnknownOrderError(ValueError):
    """Names cannot be put into the order of `localeCompare`. `args` has a sentence without the end."""


def in_locale_order(names: Iterable[str]) -> list[str]:
    """Return distinct names in the order of `localeCompare`.

    Raises:
        UnknownOrderError: a name has a character without a known place, or two names are equal for `localeCompare`.
    """
    found = sorted((locale_key(name), name) for name in names)
    for (key, name), (other_key, other) in pairwise(found):
        if key == other_key:
            raise UnknownOrderError(f"{name!r} and {other!r} are equal for it")
    return [name for _, name in found]


@lru_cache(maxsize=4096)
def locale_key(name: str) -> LocaleKey:
    """Return the sort key of a name: places, accents, forms. Raises UnknownOrderError."""
    places: list[int] = []
    accents: list[int] = []
    forms: list[int] = []
    for sign in _signs(name):
        if (accent := _ACCENT.get(sign)) is not None and places:
            accents.append(accent)
            forms.append(0)
            continue
        place, form = _placed(sign)
        places.append(place)
        accents.append(0)
        forms.append(form)
    return tuple(places), tuple(accents), tuple(forms)


def _signs(name: str) -> str:
    if name.isascii():
        return name
    if _LAST_ACCENT in name:
        raise UnknownOrderError(f"the character {_LAST_ACCENT!r} has no known place in it")
    text = unicodedata.normalize("NFD", "".join(_LETTERS.get(sign, sign) for sign in name))
    for apart, together in _TOGETHER.items():
        text = text.replace(apart, together)
    return text


def _placed(sign: str) -> tuple[int, int]:
    if (known := _PLACE.get(sign)) is not None:
        return known
    if _HAN[0] <= sign <= _HAN[1]:
        return _HAN_AT + ord(sign), 0
    raise UnknownOrderError(f"the character {sign!r} has no known place in it")
