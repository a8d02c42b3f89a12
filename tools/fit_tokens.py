"""Fit the factor of the estimate of tokens to a real vocabulary, and print how far the estimate is off.

    python tools/fit_tokens.py FOLDER...     every SKILL.md below; needs the extra `tokens`

The factor is the median of real tokens to pieces; the errors are those of single files, as parts of the real count.
`characters` is the plain division by four, for comparison.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from prowess.format.tokens import FACTOR, PIECES, VOCABULARY, count_tokens

_LEAST = 200  # tokens: what is shorter never nears a budget


def main(folders: list[str]) -> int:
    """Print factor and errors over the files of some folders."""
    paths = sorted({path for folder in folders for path in Path(folder).rglob("SKILL.md") if path.is_file()})
    texts = list(dict.fromkeys(path.read_text(encoding="utf-8", errors="replace") for path in paths))
    counted = [(text, real) for text in texts if (real := count_tokens(text, "tokenizer").tokens) >= _LEAST]
    if not counted:
        sys.stderr.write("no SKILL.md of 200 tokens or more below these folders\n")
        return 1
    fitted = median(real / len(PIECES.findall(text)) for text, real in counted)
    print(f"{len(counted)} files, {VOCABULARY}; fitted factor {fitted:.4f}, in use {FACTOR}")
    for method in ("pieces", "characters"):
        errors = sorted(abs(count_tokens(text, method).tokens - real) / real for text, real in counted)
        print(
            f"{method}: median error {errors[len(errors) // 2]:.2%}, 95 % below {errors[len(errors) * 95 // 100]:.2%}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
