"""Apply a fix as an editor would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.diagnostics import Fix


def _apply(text: str, fix: Fix) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    spots = [
        (starts[edit.line - 1] + edit.column - 1, starts[edit.end_line - 1] + edit.end_column - 1, edit.text)
        for edit in fix.edits
    ]
    for start, end, new in sorted(spots, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@pytest.fixture
def applied() -> Callable[[str, Fix], str]:
    """Return a function (text, fix) -> text."""
    return _apply
