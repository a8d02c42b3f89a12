"""How many tokens a text costs a model: three ways to count, and each count says which.

`characters`: one for four characters, rounded up; free, right on average and wrong by 7 % in the median. `pieces`: a
text is cut into words, numbers, punctuation and runs of blanks, and the pieces are weighed by a factor fitted to a real
vocabulary; wrong by 1.6 % in the median (`tools/fit_tokens.py` fits it to one half of some files, and prints the errors
on the other). `tokenizer`: a real one, where the extra `tokens` is installed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from prowess.errors import InvalidArgumentsError

Method = Literal["characters", "pieces", "tokenizer"]
CHARACTERS_A_TOKEN = 4  # boxxy guide, progressive disclosure
VOCABULARY = "o200k_base"
# A piece is what a vocabulary has whole: a word with the blank before it, an ending such as `.md`, `-based` or `'s`, a
# fence, a rule of dashes, punctuation with the line ends behind it. A blank before a digit is a token of its own. Every
# branch eats characters of one class and looks ahead at most once, over few of them: no text takes more than one pass.
PIECES = (  # compiled by `re` when first used: it takes 5 ms
    r" [a-z]{1,14}|[a-z]{1,10}|[._][a-z]{1,8}(?![a-z])|[-/][a-z]{1,3}(?![a-z])|'[a-z]{1,2}(?![a-z])"
    r"|[A-Z][a-z]{1,9}|[A-Z]{1,4}|```|\*\*|[-=]{2,64}|[!-/:-@\[-`{-~]{1,3}[\r\n]*|[0-9]{1,3}"
    r"|[\r\n]+|\s+(?=[0-9])|\s{2,}|[\u2500-\u259f]{1,4}|[\u0080-\u33ff]{1,2}|[^\x00-\x7f]"
)
_SMALL_LETTERS = bytes(range(0x61, 0x7B))
_CONTINUATION = bytes(range(0x80, 0xC0))  # what goes on with a character of UTF-8
# A byte stands for its kind: a small letter, a capital, a digit, punctuation, or itself.
_KINDS = bytes.maketrans(
    _SMALL_LETTERS
    + _SMALL_LETTERS.upper()
    + b"0123456789"
    + bytes((*range(0x21, 0x30), *range(0x3A, 0x41), *range(0x5B, 0x61), *range(0x7B, 0x7F))),
    b"a" * 26 + b"A" * 26 + b"0" * 10 + b"!" * 32,
)
_SMALL_OR_NOT = bytes(byte if byte in _SMALL_LETTERS else 0x20 for byte in range(256))
_TAKES_LINE_ENDS = (b".\n", b":\n", b")\n", b"|\n")
_SHORTEST_CUT = 9  # small letters that a piece takes before the next one goes on with the word
FACTOR = 1.014  # median of real tokens to pieces over the public skills of every second owner
_NAMES: dict[Method, str] = {
    "characters": f"characters / {CHARACTERS_A_TOKEN}",
    "pieces": "pieces of text",
    "tokenizer": VOCABULARY,
}
_AT_MOST: dict[Method, float] = {  # tokens a character
    "characters": 1 / CHARACTERS_A_TOKEN,
    "pieces": FACTOR,
    "tokenizer": 4,  # every byte of its UTF-8 has a token
}


class TokenCount(Struct, frozen=True, kw_only=True):
    """A number of tokens, and how it was found; as a text it names both."""

    tokens: int
    method: Method

    def __str__(self) -> str:
        """`about 5001 tokens (characters / 4)`; without `about` where they were counted."""
        about = "" if self.method == "tokenizer" else "about "
        return f"{about}{self.tokens} token{'s' * (self.tokens != 1)} ({_NAMES[self.method]})"


def count_tokens(text: str, method: Method = "pieces") -> TokenCount:
    """Count the tokens of a text.

        assert str(count_tokens("x" * 20_000, "characters")) == "about 5000 tokens (characters / 4)"

    Raises:
        InvalidArgumentsError: `tokenizer` is asked for, and the extra `tokens` is not installed.
    """
    match method:
        case "characters":
            tokens = -(-len(text) // CHARACTERS_A_TOKEN)
        case "pieces":
            tokens = round(_pieces(text) * FACTOR)
        case "tokenizer":
            tokens = _really(text)
    return TokenCount(tokens=tokens, method=method)


def tokens_above(text: str, limit: int, method: Method = "pieces") -> TokenCount | None:
    """Return the count where it is above a limit; a text that cannot be is not counted at all."""
    if len(text) * _AT_MOST[method] <= limit or (method == "pieces" and _most_pieces(text, limit) * FACTOR <= limit):
        return None
    count = count_tokens(text, method)
    return count if count.tokens > limit else None


@lru_cache(maxsize=4)  # several rules ask about one body
def _pieces(text: str) -> int:
    return re.subn(PIECES, "", text)[1]  # a list of two million pieces would take 176 MB


def _most_pieces(text: str, limit: int) -> int:
    """Return a number that `PIECES` does not exceed, from counts of characters alone: a tenth of the time.

    A run of small letters is one piece, with the blank or the capital before it, and one more for each nine letters.
    Any other character is at most one, but punctuation, digits and line breaks only by twos, blanks by twos or before a
    digit, and no line break behind most punctuation.
    """
    data = text.encode("utf-8", "surrogatepass")
    length, blanks = len(data), data.count(b" ")
    small = length - len(data.translate(None, _SMALL_LETTERS))
    others = length - small - blanks
    crude = 1 + blanks + 3 * others + blanks // 2 + small // _SHORTEST_CUT
    if crude * FACTOR <= limit:
        return crude  # the usual case, from less than half of the counts
    kinds = data.translate(_KINDS, _CONTINUATION)
    runs = 1 + kinds.translate(_SMALL_OR_NOT).count(b" a") + kinds.count(b"a" * _SHORTEST_CUT) - kinds.count(b"Aa")
    others = len(kinds) - small - blanks - sum(map(kinds.count, (b"!!", b"00", b"\n\n")))
    return runs + others - sum(map(data.count, _TAKES_LINE_ENDS)) + kinds.count(b"  ") + kinds.count(b" 0")


def _really(text: str) -> int:
    try:
        import bpe_openai  # imported here, not at the top: an extra that takes two seconds to load
    except ImportError:
        raise InvalidArgumentsError(
            ("no tokenizer is installed: pip install 'prowess[tokens]', or count by pieces",)
        ) from None
    return len(bpe_openai.get_encoding(VOCABULARY).encode(text))
