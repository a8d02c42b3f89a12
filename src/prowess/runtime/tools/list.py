"""`skills.list`: the catalog in pages, for hosts that do not show the server's instructions to the model.

A cursor marks the position of the next page. It contains the last name of the previous page, or a number, and is valid
only for the server that made it. An unknown cursor is an error. If it returned the first page again, a client that
follows cursors would loop forever.
"""

from __future__ import annotations

import base64
import binascii
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from prowess.errors import InvalidArgumentsError
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.session_state import StoredState
    from prowess.tools import ToolCall

PAGE = 50
_MARK = b"after:"
_MAX_LENGTH = 8192
_NO_CURSOR = "Invalid parameter value: cursor: pass the cursor of the previous page unchanged, or none"

SPEC = ToolSpec(
    name="skills.list",
    title="List skills",
    description=(
        "List the skills that can be loaded, sorted by name, with their descriptions and whether they are loaded. "
        "With query, list only skills whose name or description contains all of its words. "
        "To get the next page, pass next_cursor as cursor."
    ),
    input_schema=object_schema(
        query={"type": "string", "description": "Words to search for, in any case and order."},
        cursor={"type": "string", "description": "next_cursor of the previous page."},
    ),
    output_schema=object_schema(
        "skills next_cursor",
        skills={
            "type": "array",
            "items": object_schema(
                "name description location origin active",
                name={"type": "string"},
                description={"type": "string"},
                location={"type": ["string", "null"]},
                origin={"type": ["string", "null"]},
                active={"type": "boolean"},
            ),
        },
        next_cursor={"type": ["string", "null"]},
    ),
    read_only=True,
    idempotent=True,
)


class SkillsListTool:
    """Lists the skills that the catalog offers now. A cursor is a name, so pages stay correct if skills come or go."""

    spec = SPEC

    def __init__(self, offered: Visibility, stored: StoredState, *, expose_location: bool) -> None:
        self._offered, self._stored, self._expose_location = offered, stored, expose_location

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return one page. Raise InvalidArgumentsError if the cursor was not made by this server."""
        require_executor(self, call)
        after = last_before(cast("str", arguments.get("cursor", "")))
        await to_thread.run_sync(self._offered.catalog.refresh)
        words = cast("str", arguments.get("query", "")).casefold().split()
        rest = [
            entry
            for entry in sorted(self._offered.offers("model"), key=attrgetter("name"))
            if entry.name > after and all(word in f"{entry.name} {entry.description}".casefold() for word in words)
        ]
        page = rest[:PAGE]
        active = {(skill.key, skill.location) for skill in self._stored.state.active}
        return {
            "skills": [
                {
                    "name": entry.name,
                    "description": entry.description,
                    "location": entry.location if self._expose_location else None,
                    "origin": None if entry.origin is None else entry.source,
                    "active": (entry.key, entry.location) in active,
                }
                for entry in page
            ],
            "next_cursor": cursor_after(page[-1].name) if len(rest) > len(page) else None,
        }


def cursor_after(last: str | int) -> str:
    """Return the cursor of the page that follows `last`, a name or a position."""
    return base64.urlsafe_b64encode(_MARK + str(last).encode()).decode("ascii").rstrip("=")


def last_before(cursor: str | None) -> str:
    """Return the last name of the previous page, or "". Raise InvalidArgumentsError for an unknown cursor."""
    if not cursor:
        return ""
    try:
        data = base64.b64decode(
            cursor[:_MAX_LENGTH].encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        )
        last = data.removeprefix(_MARK).decode()
    except (ValueError, binascii.Error):
        raise InvalidArgumentsError((_NO_CURSOR,)) from None
    if not last or cursor_after(last) != cursor:
        raise InvalidArgumentsError((_NO_CURSOR,))
    return last


def position_of(cursor: str | None) -> int:
    """Return the position inside a cursor, or 0. Raise InvalidArgumentsError for an unknown or other list's cursor."""
    last = last_before(cursor) or "0"
    if not (last.isascii() and last.isdigit() and len(last) < len("1000000000")):
        raise InvalidArgumentsError((_NO_CURSOR,))
    return int(last)
