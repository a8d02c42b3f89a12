"""Pages of lists: at most 500 items, and a cursor for the next page."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

MOST_ITEMS = 500
_Item = TypeVar("_Item")


class ListQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a list is wanted. `cursor` is the `next` of the part before."""

    limit: Annotated[int, Meta(ge=1, le=MOST_ITEMS)] = 100
    cursor: str | None = None


class ListPage(Struct, Generic[_Item], frozen=True, kw_only=True):
    """A part of a list. `next` is the cursor of the following part, None at the end."""

    items: tuple[_Item, ...]
    next: str | None = None
