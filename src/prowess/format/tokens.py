"""Count the tokens that a text costs a model, by one of three methods. A count names its method.

`characters`: one token for four characters, rounded up. This method is free and right on average; the median error is 7
%. `pieces`: the text is cut into words, numbers, punctuation and runs of spaces, and the number of pieces is multiplied
by a factor fitted to a real vocabulary. The median error is 1.6 %. (`tools/fit_tokens.py` fits the factor to one half
of some files, and prints the errors on the other half.) `tokenizer`: a real tokenizer; this method needs the extra
`tokens`.
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
# A piece is a string that a vocabulary usually has as one token: a word with the space before it, an ending such as
# `.md`, `-based` or `'s`, a code fence, a line of dashes, punctuation with the line ends after it. A space before a
# digit is a token of its own. Each alternative of the pattern matches characters of one class and looks ahead at most
# once, over few characters. So the time is linear in the length of the text.
PIECES = (  # `re` compiles it when first used, because that takes 5 ms
    r" [a-z]{1,14}|[a-z]{1,10}|[._][a-z]{1,8}(?![a-z])|[-/][a-z]{1,3}(?![a-z])|'[a-z]{1,2}(?![a-z])"
    r"|[A-Z][a-z]{1,9}|[A-Z]{1,4}|```|\*\*|[-=]{2,64}|[!-/:-@\[-`{-~]{1,3}[\r\n]*|[0-9]{1,3}"
    r"|[\r\n]+|\s+(?=[0-9])|\s{2,}|[\u2500-\u259f]{1,4}|[\u0080-\u33ff]{1,2}|[^\x00-\x7f]"
)
_SMALL_LETTERS = bytes(range(0x61, 0x7B))
_CONTINUATION = bytes(range(0x80, 0xC0))  # continuation bytes of UTF-8
_KINDS = bytes.maketrans(  # Each byte maps to its class: a small letter, a capital, a digit, punctuation, or itself.
    _SMALL_LETTERS
    + _SMALL_LETTERS.upper()
    + b"0123456789"
    + bytes((*range(0x21, 0x30), *range(0x3A, 0x41), *range(0x5B, 0x61), *range(0x7B, 0x7F))),
    b"a" * 26 + b"A" * 26 + b"0" * 10 + b"!" * 32,
)
_SMALL_OR_NOT = bytes(byte if byte in _SMALL_LETTERS else 0x20 for byte in range(256))
_TAKES_LINE_ENDS = (b".\n", b":\n", b")\n", b"|\n")
_SHORTEST_CUT = 9  # a word is cut into further pieces only after this many small letters
FACTOR = 1.014  # median ratio of real tokens to pieces, over the public skills of every second owner
_NAMES: dict[Method, str] = {
    "characters": f"characters / {CHARACTERS_A_TOKEN}",
    "pieces": "pieces of text",
    "tokenizer": VOCABULARY,
}
_AT_MOST: dict[Method, float] = {  # upper limits of tokens per character
    "characters": 1 / CHARACTERS_A_TOKEN,
    "pieces": FACTOR,
    "tokenizer": 4,  # a token for each byte of UTF-8
}


class TokenCount(Struct, frozen=True, kw_only=True):
    """A number of tokens and the counting method. `str` shows both."""

    tokens: int
    method: Method

    def __str__(self) -> str:
        """Return, for example, `about 5001 tokens (characters / 4)`; without `about` for a real tokenizer."""
        about = "" if self.method == "tokenizer" else "about "
        return f"{about}{self.tokens} token{'s' * (self.tokens != 1)} ({_NAMES[self.method]})"


def count_tokens(text: str, method: Method = "pieces") -> TokenCount:
    """Count the tokens of a text.

        assert str(count_tokens("x" * 20_000, "characters")) == "about 5000 tokens (characters / 4)"

    Raises:
        InvalidArgumentsError: `method` is `tokenizer`, and the extra `tokens` is not installed.
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
    """Return the count if it is above a limit, otherwise `None`. A text too short to exceed it is not counted."""
    if len(text) * _AT_MOST[method] <= limit or (method == "pieces" and _most_pieces(text, limit) * FACTOR <= limit):
        return None
    count = count_tokens(text, method)
    return count if count.tokens > limit else None


@lru_cache(maxsize=4)  # several rules ask about the same body
def _pieces(text: str) -> int:
    return re.subn(PIECES, "", text)[1]  # a list of two million pieces would take 176 MB


def _most_pieces(text: str, limit: int) -> int:
    """Return an upper bound on the number of pieces, from counts of characters, in a tenth of the time of a full count.

    A run of small letters is one piece, together with the space or capital before it, and one more for each nine
    letters. Any other character is at most one piece. Exceptions: punctuation, digits and line breaks count only in
    pairs, spaces only in pairs or before a digit, and a line break after most punctuation does not count.
    """
    data = text.encode("utf-8", "surrogatepass")
    length, blanks = len(data), data.count(b" ")
    small = length - len(data.translate(None, _SMALL_LETTERS))
    others = length - small - blanks
    crude = 1 + blanks + 3 * others + blanks // 2 + small // _SHORTEST_CUT
    if crude * FACTOR <= limit:
        return crude  # the usual case; needs less than half of the counts
    kinds = data.translate(_KINDS, _CONTINUATION)
    runs = 1 + kinds.translate(_SMALL_OR_NOT).count(b" a") + kinds.count(b"a" * _SHORTEST_CUT) - kinds.count(b"Aa")
    others = len(kinds) - small - blanks - sum(map(kinds.count, (b"!!", b"00", b"\n\n")))
    return runs + others - sum(map(data.count, _TAKES_LINE_ENDS)) + kinds.count(b"  ") + kinds.count(b" 0")


def _really(text: str) -> int:
    try:
        import bpe_openai  # imported here, not at the top: an optional package that takes two seconds to load
    except ImportError:
        raise InvalidArgumentsError(
            ("no tokenizer is installed: pip install 'prowess[tokens]', or count by pieces",)
        ) from None
    return len(bpe_openai.get_encoding(VOCABULARY).encode(text))
