"""Wrap the prose of docs/ at 120 characters. Tables, code and headings are left as they are.

    python -m tools.wrap_pages              rewrite the paragraphs that have a longer line
    python -m tools.wrap_pages --check      exit 1 if there is one

A link and a code span are never broken, because searches and our own tests look for them in one line.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH = 120

_FENCE = re.compile(r" *(`{3,}|~{3,})")
_ITEM = re.compile(r"(?P<indent> *)(?P<marker>(?:[-*+]|\d+[.)]) +)?")
_KEPT = re.compile(r"\s*([|#>]|<!--|:::|$)")  # tables, headings, quotes, comments, directives, empty lines
_UNBROKEN = re.compile(r"(`+).+?\1|!?\[[^\]]*\]\([^)]*\)|<[^<> ]+ [^<>]*>")
# What would begin a list, a heading, a quote or a table at the start of a line stays behind the word before it.
_MARKER = re.compile(r" (?=(?:[-+*#>|=~]|\d+[.)])(?: |$))")
_JOINED = "\N{WORD JOINER}"  # in place of a blank that is no place for a break


def wrapped(page: str) -> str:
    """Return the page with each paragraph and list item wrapped that has a line longer than `WIDTH`."""
    return "\n".join(
        line for block, is_prose in _blocks(page.split("\n")) for line in (_wrapped_block(block) if is_prose else block)
    )


def _blocks(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield each paragraph and list item as prose, and every other line by itself."""
    fence, block = "", list[str]()
    for line in lines:
        marks = _FENCE.match(line)
        item = _ITEM.match(line)
        is_kept = bool(fence or marks or _KEPT.match(line))
        if block and (is_kept or (item and item["marker"])):
            yield block, True
            block = []
        if not is_kept:
            block.append(line)
            continue
        yield [line], False
        if marks and not fence:
            fence = marks[1]
        elif fence and line.strip().startswith(fence):
            fence = ""
    if block:
        yield block, True


def _wrapped_block(block: list[str]) -> list[str]:
    if max(map(len, block)) <= WIDTH or any(line.endswith(("  ", "\\")) for line in block):  # a forced break
        return block
    item = _ITEM.match(block[0])
    assert item is not None
    text = " ".join(line.strip() for line in block).removeprefix(item["marker"] or "")
    text = _UNBROKEN.sub(lambda match: match[0].replace(" ", _JOINED), text)
    text = _MARKER.sub(_JOINED, text)
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=item[0],
        subsequent_indent=" " * len(item[0]),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_JOINED, " ") for line in lines]


def long_lines(page: str) -> list[int]:
    """Return the 1-based numbers of the lines of prose that are too long and can be wrapped."""
    kept = set(wrapped(page).split("\n"))
    return [number for number, line in enumerate(page.split("\n"), 1) if len(line) > WIDTH and line not in kept]


def main(arguments: list[str]) -> int:
    """Wrap the pages, or name the lines that are too long."""
    found = 0
    for path in sorted(DOCS.rglob("*.md")):
        page = path.read_text(encoding="utf-8")
        name = path.relative_to(DOCS.parent).as_posix()
        if "--check" in arguments:
            numbers = long_lines(page)
            found += len(numbers)
            sys.stderr.writelines(f"{name}:{number} is longer than {WIDTH}: run make docs\n" for number in numbers)
        elif (text := wrapped(page)) != page:
            path.write_text(text, encoding="utf-8")
            print(f"wrapped {name}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
