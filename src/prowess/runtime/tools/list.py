"""`skills.list`: the catalog in pages, and a search in it, for models that do not see every skill in a list.

A page has at most `PAGE` skills and about `DEFAULT_BUDGET` tokens. A cursor marks the position of the next page. It
contains the last name of the previous page, or a number, and is valid only for the list that it came from. An unknown
cursor is an error. If it returned the first page again, a client that follows cursors would loop forever.
"""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from prowess.errors import InvalidArgumentsError
from prowess.format.limits import MAX_DESCRIPTION_LENGTH
from prowess.runtime.activation.freshness import look_again
from prowess.runtime.disclosure.model_texts import CHARACTERS_PER_TOKEN, DEFAULT_BUDGET
from prowess.tools import ToolSpec, require_executor
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog import SkillEntry
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.session_state import StoredState
    from prowess.tools import ToolCall

PAGE = 50
MOST_MATCHES = 200  # of one query, on all pages
_MARK, _OF_MATCHES = b"after:", b"match:"
_MAX_LENGTH = 8192
NO_CURSOR = "Invalid parameter value: cursor: pass the cursor of the previous page unchanged, or none"

SPEC = ToolSpec(
    name="skills.list",
    title="List skills",
    description=(
        "List the skills that can be loaded, sorted by name, with their descriptions and whether they are loaded. "
        "With query, find the skills that match it, the best first. "
        "To get the next page, pass next_cursor as cursor."
    ),
    input_schema=object_schema(
        query={"type": "string", "description": "What the skills are to do, in a few words."},
        cursor={"type": "string", "description": "next_cursor of the previous page."},
        limit={"type": "integer", "minimum": 1, "maximum": PAGE, "default": PAGE, "description": "Skills per page."},
    ),
    output_schema=object_schema(
        "skills next_cursor left_out",
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
        left_out={"type": "integer", "minimum": 0},
    ),
    read_only=True,
    idempotent=True,
)


class SkillsListTool:
    """Lists the skills that the catalog offers now. A cursor is a name, so pages stay correct if skills come or go.

    With a query, a cursor is a position among the matches.
    """

    spec = SPEC

    def __init__(self, offered: Visibility, stored: StoredState, *, expose_location: bool) -> None:
        self._offered, self._stored, self._expose_location = offered, stored, expose_location

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return one page. `left_out` is the number of skills that follow the page.

        Raise InvalidArgumentsError if the cursor was not made by this server, or for a list of another kind.
        """
        require_executor(self, call)
        query, limit = cast("str", arguments.get("query", "")).strip(), cast("int", arguments["limit"])
        cursor = cast("str", arguments.get("cursor", ""))
        return await to_thread.run_sync(self._matches if query else self._by_name, query, cursor, limit)

    def _by_name(self, query: str, cursor: str, limit: int) -> dict[str, object]:
        del query
        after = last_before(cursor)
        for _ in range(2):
            offers = self._offered.offers("model")
            begin = bisect_right(offers, after, key=attrgetter("name"))
            page = self._page(offers[begin : begin + limit])
            if not look_again(self._offered.catalog, offers[begin : begin + len(page)]):
                break
        rest = len(offers) - begin - len(page)
        return _answer(page, rest, cursor_after(cast("str", page[-1]["name"])) if rest else None)

    def _matches(self, query: str, cursor: str, limit: int) -> dict[str, object]:
        begin = position_of(cursor, _OF_MATCHES)
        for _ in range(2):
            found = self._offered.matching(query, "model", MOST_MATCHES)
            page = self._page(found[begin : begin + limit])
            if not look_again(self._offered.catalog, found[begin : begin + len(page)]):
                break
        end = begin + len(page)
        rest = max(0, len(found) - end)
        return _answer(page, rest, cursor_after(end, _OF_MATCHES) if rest else None)

    def _page(self, entries: Sequence[SkillEntry]) -> list[dict[str, object]]:
        """Return the first entries that fit into the budget, at least one if there is one."""
        active = {(skill.key, skill.location) for skill in self._stored.state.active}
        left = DEFAULT_BUDGET * CHARACTERS_PER_TOKEN - _FRAME
        page: list[dict[str, object]] = []
        for entry in entries:
            item: dict[str, object] = {
                "name": entry.name,
                "description": _shown(entry.description),
                "location": entry.location if self._expose_location else None,
                "origin": None if entry.origin is None else entry.source,
                "active": (entry.key, entry.location) in active,
            }
            left -= len(json.dumps(item, ensure_ascii=False)) + 2
            if left < 0 and page:
                break
            page.append(item)
        return page


_FRAME = 300  # characters around the skills: keys, cursor, number


def _answer(page: list[dict[str, object]], rest: int, cursor: str | None) -> dict[str, object]:
    return {"skills": page, "next_cursor": cursor, "left_out": rest}


def _shown(description: str) -> str:
    return (
        description if len(description) <= MAX_DESCRIPTION_LENGTH else f"{description[: MAX_DESCRIPTION_LENGTH - 1]}…"
    )


def cursor_after(last: str | int, mark: bytes = _MARK) -> str:
    """Return the cursor of the page that follows `last`, a name or a position. `mark` is the kind of the list."""
    return base64.urlsafe_b64encode(mark + str(last).encode()).decode("ascii").rstrip("=")


def last_before(cursor: str | None, mark: bytes = _MARK) -> str:
    """Return the last name of the previous page, or "". Raise InvalidArgumentsError for an unknown cursor."""
    if not cursor:
        return ""
    try:
        data = base64.b64decode(
            cursor[:_MAX_LENGTH].encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
        )
        last = data.removeprefix(mark).decode()
    except (ValueError, binascii.Error):
        raise InvalidArgumentsError((NO_CURSOR,)) from None
    if not last or cursor_after(last, mark) != cursor:
        raise InvalidArgumentsError((NO_CURSOR,))
    return last


def position_of(cursor: str | None, mark: bytes = _MARK) -> int:
    """Return the position inside a cursor, or 0. Raise InvalidArgumentsError for an unknown or other list's cursor."""
    last = last_before(cursor, mark) or "0"
    if not (last.isascii() and last.isdigit() and len(last) < len("1000000000")):
        raise InvalidArgumentsError((NO_CURSOR,))
    return int(last)
