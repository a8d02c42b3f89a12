"""Remembers failed calls: the second time the same call fails, the result states that it failed before.

A model that gets the same sentence twice tends to try a third time. The same call means the same tool and the same
canonical arguments; a success in between clears it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.text.canonical_json import sha256_of
from prowess.tools.result import followed_by

if TYPE_CHECKING:
    from prowess.tools.result import ToolResult

REMARK = "This same call failed before; do not repeat it unchanged."
_MAX_REMEMBERED = 256


class RepeatedFailure:
    """Remembers the last failed calls of one executor."""

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str | None], None] = {}  # a dict, because it keeps the order of arrival

    @property
    def is_empty(self) -> bool:
        """Whether no failed call is remembered, so that a success needs no remark."""
        return not self._failed

    def remark(self, tool: str, arguments: bytes | None, result: ToolResult) -> ToolResult:
        """Return `result`, with the remark where this call, with these canonical arguments, has failed before."""
        key = (tool, None if arguments is None else sha256_of(arguments))
        known = key in self._failed
        self._failed.pop(key, None)
        if result.success:
            return result
        self._failed[key] = None
        if len(self._failed) > _MAX_REMEMBERED:
            del self._failed[next(iter(self._failed))]
        if not known:
            return result
        text = followed_by(result.error or "", REMARK)
        return replace(result, error=text, error_detail={**(result.error_detail or {}), "message": text})
