"""Literal and folded blocks of YAML without anything unusual in them, line by line."""

from __future__ import annotations

# What opens a block: the sign between two lines of it, and what stands behind the last.
BLOCKS = {"|": ("\n", "\n"), "|-": ("\n", ""), ">": (" ", "\n"), ">-": (" ", "")}


def read_block(lines: list[str], at: int, joint: str, end: str) -> tuple[str, int] | None:
    """Read the block that begins at line `at`; its text and the line behind it, or None where it is not plain."""
    first = lines[at] if at < len(lines) else ""
    indent = len(first) - len(first.lstrip(" "))
    if not indent or indent == len(first):
        return None
    prefix = " " * indent
    text = first[indent:]
    gap = 0
    at += 1
    while at < len(lines):
        line = lines[at]
        if not line:
            gap += 1
        elif line.startswith(prefix):
            part = line[indent:]
            if not part.strip(" ") or (joint == " " and part[0] == " "):
                return None  # blanks alone, and deeper lines in a folded block, have rules of their own
            text += ("\n" * gap if gap and joint == " " else joint + "\n" * gap) + part
            gap = 0
        elif line[0] == " ":
            return None
        else:
            break
        at += 1
    return text + end, at
