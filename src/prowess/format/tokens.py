"""How many tokens a text costs a model: three ways to count, and each count says which.

`characters`: one for four characters, rounded up; free, right on average and wrong by 12 % in the median. `pieces`: a
text is cut into words, numbers, punctuation and runs of blanks, and the pieces are weighed by a factor fitted to a real
vocabulary (`tools/fit_tokens.py` fits it and prints the error). `tokenizer`: a real one, where the extra `tokens` is
installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from prowess.errors import InvalidArgumentsError

Method = Literal["characters", "pieces", "tokenizer"]
CHARACTERS_A_TOKEN = 4  # boxxy guide, progressive disclosure
VOCABULARY = "o200k_base"
# Every branch eats characters of one class, and their first characters differ: no text makes this go back.
PIECES = re.compile(r"[A-Z]?[a-z]{1,10}|[A-Z]{1,4}|[0-9]{1,3}|[^\x00-\x7f]{1,2}|[!-/:-@\[-`{-~]{1,3}|\s{2,}")
FACTOR = 0.997  # median of real tokens to pieces over public skills
_NAMES: dict[Method, str] = {
    "characters": f"characters / {CHARACTERS_A_TOKEN}",
    "pieces": "pieces of text",
    "tokenizer": VOCABULARY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
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
            tokens = round(len(PIECES.findall(text)) * FACTOR)
        case "tokenizer":
            tokens = _really(text)
    return TokenCount(tokens=tokens, method=method)


def tokens_above(text: str, limit: int, method: Method = "pieces") -> TokenCount | None:
    """Return the count where it is above a limit; a short text is not counted at all."""
    if len(text) <= limit:  # no piece is shorter than a character
        return None
    count = count_tokens(text, method)
    return count if count.tokens > limit else None


def _really(text: str) -> int:
    try:
        import bpe_openai  # imported here, not at the top: an extra that takes two seconds to load
    except ImportError:
        raise InvalidArgumentsError(
            ("no tokenizer is installed: pip install 'prowess[tokens]', or count by pieces",)
        ) from None
    return len(bpe_openai.get_encoding(VOCABULARY).encode(text))
