"""Counts of the words that make docstrings and comments of src hard to read, per 1000 words.

`python -m tools.word_counts` prints the counts; `--places` also prints each sentence with such a word. Text in
backticks, URLs, doctest lines and literal blocks (after a line that ends with `::` or `Example:`) are not counted.

The limits are the highest values of twelve codebases that are easy to read: httpx, packaging, mcp, starlette, rich,
anyio, click, attrs, pytest, hypothesis, inspect_ai and pydantic-ai.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[1] / "src" / "prowess"

# Each group of words, and how often it may occur in 1000 words.
AT_MOST: dict[str, tuple[frozenset[str], float]] = {
    "where": (frozenset({"where"}), 1.5),
    "what": (frozenset({"what"}), 2.0),
    "say": (frozenset({"say", "says", "said"}), 0.9),
    "nothing": (frozenset({"nothing"}), 1.3),
    "stands": (frozenset({"stands", "lies", "nobody", "whoever"}), 0.2),
}
# A condition is written with "if". A text that rarely uses it writes "where" or "when" for a condition.
AT_LEAST_IF = 3.5
# Phrases that replace "if", "where" and "what" without being clearer.
PHRASES = {"in which": 0.7, "that which": 0.1, "of which": 0.2, "wherever": 0.1, "whatever": 0.4}

_CODE = re.compile(r"``[^`]*``|`[^`\n]*`|https?://\S+")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.DOTALL | re.MULTILINE)
_PRAGMA = re.compile(r"(noqa|type:|fmt:|pragma|mypy|ruff)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n\s*\n")


class WordCounts(Struct, frozen=True, kw_only=True):
    """Numbers of words in the prose of some modules."""

    words: int
    per_thousand: dict[str, float]

    def faults(self) -> list[str]:
        """Return a sentence for each count outside its limit."""
        limits = {name: limit for name, (_, limit) in AT_MOST.items()} | PHRASES
        found = [
            f"{name!r}: {self.per_thousand[name]:.2f} in 1000 words, at most {limit:g} are allowed"
            for name, limit in limits.items()
            if self.per_thousand[name] > limit
        ]
        if self.per_thousand["if"] < AT_LEAST_IF:
            found.append(f"'if': {self.per_thousand['if']:.2f} in 1000 words, at least {AT_LEAST_IF:g} are expected")
        return found


def count(texts: list[str]) -> WordCounts:
    """Return the counts over texts of docstrings and comments."""
    plain = [" ".join(_CODE.sub(" x ", text).split()).lower() for text in texts]
    words = [word for text in plain for word in _WORD.findall(text)]
    numbers = {name: sum(word in group for word in words) for name, (group, _) in AT_MOST.items()}
    numbers["if"] = words.count("if")
    numbers |= {phrase: sum(len(re.findall(rf"\b{phrase}\b", text)) for text in plain) for phrase in PHRASES}
    return WordCounts(
        words=len(words), per_thousand={name: 1000 * number / max(len(words), 1) for name, number in numbers.items()}
    )


def prose_of(source: str) -> Iterator[str]:
    """Yield each docstring and each block of comments of a module's source."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for child in body if isinstance(body, list) else ():
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield _without_examples(child.value.value)
    block: list[str] = []
    last_line = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        text = token.string.lstrip("#: ")
        if _PRAGMA.match(text):
            # The reason of an exception is prose, its codes are not.
            text = text.partition("--")[2]
        if token.start[0] != last_line + 1 and block:
            yield " ".join(block)
            block = []
        block.append(text)
        last_line = token.start[0]
    if block:
        yield " ".join(block)


def _without_examples(docstring: str) -> str:
    kept: list[str] = []
    literal_below: int | None = None  # the indentation of the line that begins a literal block
    for line in _FENCE.sub(" ", docstring).split("\n"):
        indentation = len(line) - len(line.lstrip())
        if line.lstrip().startswith((">>>", "...", "$ ")):
            continue
        if literal_below is not None and line.strip():
            if indentation > literal_below:
                continue
            literal_below = None
        if re.search(r"(::|Examples?:|Usage:)\s*$", line):
            literal_below = indentation
        kept.append(line)
    return "\n".join(kept)


def prose_of_source(root: Path = SOURCE) -> dict[Path, list[str]]:
    """Return the texts of each module below `root`."""
    return {path: list(prose_of(path.read_text(encoding="utf-8"))) for path in sorted(root.rglob("*.py"))}


def _places(prose: dict[Path, list[str]]) -> Iterator[str]:
    marked = frozenset().union(*(group for group, _ in AT_MOST.values()))
    for path, texts in prose.items():
        for text in texts:
            for sentence in _SENTENCE_END.split(_CODE.sub(" x ", text)):
                if found := marked.intersection(word.lower() for word in _WORD.findall(sentence)):
                    yield f"{path.relative_to(SOURCE)}: {', '.join(sorted(found))}: {' '.join(sentence.split())}"


def main() -> int:
    """Print the counts, and with `--places` the sentences; return 1 if a count is outside its limit."""
    prose = prose_of_source()
    if "--places" in sys.argv[1:]:
        print(*_places(prose), sep="\n")
    counts = count([text for texts in prose.values() for text in texts])
    print(f"{counts.words} words;", ", ".join(f"{name} {value:.2f}" for name, value in counts.per_thousand.items()))
    print(*counts.faults(), sep="\n")
    return bool(counts.faults())


if __name__ == "__main__":
    sys.exit(main())
