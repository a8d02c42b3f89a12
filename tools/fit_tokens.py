"""Fit the factor of the estimate of tokens to a real vocabulary, and print how far the estimate is off.

    python tools/fit_tokens.py FOLDER...     every SKILL.md below; needs the extra `tokens`

The folders right below each FOLDER (owners, say) are dealt out by turns, so that no file is judged by a factor which
its neighbours helped to fit: the factor is the median of real tokens to pieces over one half, the errors are those of
single files of the other half, as parts of the real count. `characters` is the plain division by four, for comparison.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from statistics import median

from prowess.format.tokens import FACTOR, PIECES, VOCABULARY, count_tokens

_LEAST = 200  # tokens: what is shorter never nears a budget
_Counted = list[tuple[str, int]]  # texts and their real tokens


def main(folders: list[str]) -> int:
    """Print factor and errors over the files of some folders."""
    fitted_on, judged_on = (_counted(texts) for texts in _halves(folders))
    if not fitted_on or not judged_on:
        sys.stderr.write("these folders need two folders below them with SKILL.md files of 200 tokens or more\n")
        return 1
    fitted = median(real / len(re.findall(PIECES, text)) for text, real in fitted_on)
    print(f"{VOCABULARY}; fitted on {len(fitted_on)} files: factor {fitted:.4f}, in use {FACTOR}")
    print(f"errors on {len(judged_on)} other files of {sum(len(text) for text, _ in judged_on)} characters")
    for method in ("pieces", "characters"):
        started = time.process_time()
        estimates = [count_tokens(text, method).tokens for text, _ in judged_on]
        took = time.process_time() - started
        errors = sorted(abs(told - real) / real for told, (_, real) in zip(estimates, judged_on, strict=True))
        places = ", ".join(f"{part} % below {errors[len(errors) * part // 100]:.2%}" for part in (50, 75, 90, 95, 99))
        print(f"{method}: {places}, greatest {errors[-1]:.0%}; {took / len(errors) * 1e6:.0f} us a file")
    return 0


def _halves(folders: list[str]) -> tuple[list[str], list[str]]:
    halves: tuple[list[str], list[str]] = ([], [])
    seen = set[str]()
    owners = sorted(owner for folder in folders for owner in Path(folder).iterdir() if owner.is_dir())
    with_skills = (sorted(owner.rglob("SKILL.md")) for owner in owners)
    for turn, paths in enumerate(paths for paths in with_skills if paths):
        for path in paths:
            text = path.read_text(encoding="utf-8", errors="replace")
            if text not in seen:
                seen.add(text)
                halves[turn % 2].append(text)
    return halves


def _counted(texts: list[str]) -> _Counted:
    return [(text, real) for text in texts if (real := count_tokens(text, "tokenizer").tokens) >= _LEAST]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
