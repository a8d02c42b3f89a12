"""The estimate of tokens is held against counts that a real vocabulary gave of the same texts."""

from __future__ import annotations

import re
import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.format.tokens import PIECES, Method, count_tokens, tokens_above

# The number behind each is what o200k_base counts (`count_tokens(text, "tokenizer")`).
PROSE = """\
Fill in a PDF form, read the fields that a form has, and check what was written. Use this skill when somebody asks for
a filled form, for the names of its fields or for a list of what's missing. It doesn't sign documents; that's done by
the signing service, and only after a person has looked at the result. When a field can't be found, say which one, and
don't guess another: the reader's own words are worth more than a similar name.
"""
CODE = """\
```python
from pathlib import Path

def read_fields(path: Path, *, limit: int = 100) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[:limit]:
        name, _, value = line.partition("=")
        fields[name.strip()] = value.strip()
    return fields
```

```bash
python scripts/fill.py --input form.pdf --fields answers.json > filled.pdf
```
"""
TABLE = """\
| Step | Command | What it writes |
|------|---------|----------------|
| 1 | `scripts/read.py` | `fields.json`, the names and kinds of 12 fields |
| 2 | `scripts/fill.py` | `filled.pdf`, at most 3.5 MB |
| 3 | `scripts/check.py` | **nothing**: exit code 0 or 1 |

- See [the reference](references/fields.md) for date formats (`2024-01-31`), and [the example](assets/form-2024.pdf).
- **Never** write into `assets/`.
"""
TREE = """\
pdf-forms/
├── SKILL.md
├── scripts/
│   ├── read.py
│   └── fill.py
└── references/
    └── fields.md → what each field means
"""
SAMPLES = {"prose": (PROSE, 100), "code": (CODE, 106), "table": (TABLE, 129), "tree": (TREE, 47)}


@pytest.mark.parametrize("kind", ["prose", "code", "table"])  # a tree alone is wrong by a fifth, and rarely long
def test_the_estimate_of_a_text_is_near_the_real_count(kind: str) -> None:
    text, real = SAMPLES[kind]
    assert count_tokens(text).tokens == pytest.approx(real, rel=0.06)


def test_errors_of_different_kinds_of_text_even_out() -> None:
    texts, reals = zip(*SAMPLES.values(), strict=True)
    assert count_tokens("\n".join(texts)).tokens == pytest.approx(sum(reals), rel=0.02)


def test_a_count_says_how_it_was_found() -> None:
    assert str(count_tokens("one two")) == "about 2 tokens (pieces of text)"
    assert str(count_tokens("x", "characters")) == "about 1 token (characters / 4)"


def test_a_short_text_is_never_above_a_limit_and_a_long_one_is_counted() -> None:
    assert tokens_above("word " * 100, 200) is None
    above = tokens_above("word " * 100, 50)
    assert above is not None
    assert above.tokens > 50


@pytest.mark.parametrize("text", ["a.b,c;d!" * 100, "漢字" * 300, "x"])
@pytest.mark.parametrize("method", [method for method in get_args(Method) if method != "tokenizer"])
def test_the_short_way_gives_the_same_answer_as_counting(text: str, method: Method) -> None:
    real = count_tokens(text, method).tokens
    for limit in (real - 1, real, real + 1):
        above = tokens_above(text, limit, method)
        assert (above is not None) == (real > limit)


@given(st.lists(st.sampled_from(["a" * 9, "b" * 21, *"az Z \n\n  \t.,-_=*`'/19é漢─\r"]), max_size=60).map("".join))
def test_no_text_of_many_pieces_passes_for_one_that_need_not_be_counted(text: str) -> None:
    real = count_tokens(text).tokens
    assert (tokens_above(text, max(real - 1, 0)) is None) == (real == 0)


@pytest.mark.unmeasured  # coverage makes it several times slower
@pytest.mark.parametrize(
    "text",
    [" ", "\n", "-", "=", ".a", "_" * 9 + "a", "/a", "'a", " \n", "\r", "a", "A", "`", "*", "é", "漢", "─"],
)
def test_a_text_of_one_thing_alone_takes_time_in_proportion_to_its_length(text: str) -> None:
    long = text * (200_000 // len(text))
    started = time.process_time()
    re.findall(PIECES, long)
    assert time.process_time() - started < 2  # seconds; in proportion to the square it would be minutes
