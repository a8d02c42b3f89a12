"""The code blocks of a page of documentation, and what running them needs.

A page is Markdown. A fenced block counts by the word after its fence: `python` is run, `console` is run where a line
starts with `$ prowess`, everything else is only read. A comment just before the block can change that:

    <!-- not run: reason -->     the block is not run
    <!-- needs: bwrap git -->    the block is run where these programs are installed
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_NOT_RUN = re.compile(r"^<!-- not run: \S.*-->$")
_NEEDS = re.compile(r"^<!-- needs: (?P<programs>[\w .+-]+?) *-->$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block; `line` is the 1-based line of its first line of code."""

    language: str
    code: str
    line: int
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a console block and what it prints."""

    command: str
    output: tuple[str, ...]
    line: int


def runnable_blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that are to be run, in order."""
    lines = text.split("\n")
    remark = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        match = _FENCE.match(line)
        if match is None:
            remark = line.strip() or remark
            continue
        start = number
        closing = re.compile(rf"^ *{match['fence'][0]}{{{len(match['fence'])},}} *$")
        while number < len(lines) and not closing.match(lines[number]):
            number += 1
        code = "\n".join(inner.removeprefix(match["indent"]) for inner in lines[start:number])
        number += 1
        language = (match["info"].split() or [""])[0]
        needs = _NEEDS.match(remark)
        runs = language == "python" or (language == "console" and re.search(r"^\$ prowess\b", code, re.MULTILINE))
        if runs and not _NOT_RUN.match(remark):
            yield Block(
                language=language,
                code=code,
                line=start + 1,
                needs=tuple(needs["programs"].split()) if needs else (),
            )
        remark = ""


def steps(block: Block) -> list[Step]:
    """The commands of a console block; `> ` at the start of a line continues a command, as a shell shows it."""
    found: list[Step] = []
    lines = block.code.rstrip("\n").split("\n")
    index = 0
    while index < len(lines):
        line = block.line + index
        command = lines[index].removeprefix("$ ")
        index += 1
        while index < len(lines) and f"{lines[index]} ".startswith("> "):
            command += "\n" + lines[index][2:]
            index += 1
        start = index
        while index < len(lines) and not lines[index].startswith("$ "):
            index += 1
        output = [text.rstrip() for text in lines[start:index]]
        while output and not output[-1]:
            output.pop()
        found.append(Step(command=command, output=tuple(output), line=line))
    return found


def output_matches(expected: tuple[str, ...], actual: str) -> bool:
    """Whether `actual` is what the page shows: `…` is any text in a line, a line `…` is any number of lines."""
    pattern = "".join("(?:[^\n]*\n)*?" if line.strip() == "…" else _line_pattern(line) + "\n" for line in expected)
    lines = [line.rstrip() for line in actual.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def _line_pattern(line: str) -> str:
    return "[^\n]*".join(re.escape(part) for part in line.split("…"))
