"""Where a list goes on: a cursor means something to the server that made it, and nothing to anybody else.

It holds the last name of a page, or a position. What is no cursor of ours is an error, never the first page again: a
client that follows cursors would turn in a circle.
"""

from __future__ import annotations

import base64
import binascii

from prowess.errors import InvalidArgumentsError

_MARK = b"after:"
_MAX_LENGTH = 8192
_NO_CURSOR = "Invalid parameter value: cursor: give the cursor of the answer before as it is, or none"


def cursor_after(last: str | int) -> str:
    """Return the cursor for what follows `last`."""
    return base64.urlsafe_b64encode(_MARK + str(last).encode()).decode("ascii").rstrip("=")


def last_before(cursor: str | None) -> str:
    """Return what a cursor was made from; empty without one.

    Raises:
        InvalidArgumentsError: it is no cursor of this server.
    """
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
    """Return the position that a cursor was made from; 0 without one.

    Raises:
        InvalidArgumentsError: as `last_before`, or it is a cursor of another list.
    """
    last = last_before(cursor) or "0"
    if not (last.isascii() and last.isdigit() and len(last) < len("1000000000")):
        raise InvalidArgumentsError((_NO_CURSOR,))
    return int(last)
