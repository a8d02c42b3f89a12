"""The difference between two texts of a file as a unified diff, whatever their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONTEXT = 3
_MOST_COMPARED = 2000  # lines; comparing takes the square of them where somebody wants it to
_NO_BREAK = "\\ No newline at end of file"


def difference(path: str, before: str, after: str) -> Iterator[str]:
    r"""Yield the lines of the diff without their line feeds; nothing where the texts are equal.

    A carriage return is part of its line, so a changed line break is a changed line. Only LF separates lines, as for
    `diff`. The lines are what the texts hold: whoever prints them escapes them.
    """
    old, new = _lines(before), _lines(after)
    head = common_length(old, new)
    tail = common_length(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old_middle and not new_middle:
        return
    yield f"--- {path}"
    yield f"+++ {path}"
    lead, end = max(head - _CONTEXT, 0), min(tail, _CONTEXT)
    old, new = old[lead : len(old) - tail + end], new[lead : len(new) - tail + end]
    for codes in _groups(old, new, max(len(old_middle), len(new_middle)) <= _MOST_COMPARED):
        start, stop = codes[0], codes[-1]
        yield f"@@ -{_range(lead + start[1], lead + stop[2])} +{_range(lead + start[3], lead + stop[4])} @@"
        for tag, a, b, c, d in codes:
            if tag == "equal":
                yield from _marked(" ", old[a:b])
            else:
                yield from _marked("-", old[a:b])
                yield from _marked("+", new[c:d])


_Code = tuple[str, int, int, int, int]


def _groups(old: list[str], new: list[str], is_small: bool) -> Iterator[Sequence[_Code]]:  # noqa: FBT001 -- the one question
    if not is_small:
        yield [("replace", 0, len(old), 0, len(new))]
        return
    # Imported here, not at the top: most checks show no difference.
    from difflib import SequenceMatcher

    yield from SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT)


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two texts or lists of lines begin with alike."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))


def _marked(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line.removesuffix(chr(10))}"
        if not line.endswith("\n"):
            yield _NO_BREAK
