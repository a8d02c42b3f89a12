"""Pages of lists: at most 500 items, and a cursor for the next page; and the error for an item that is not there."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from prowess.errors import SkillError

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


class NoSuchItemError(SkillError, LookupError):
    """The tenant has no item of this kind with this id. Also raised for an item of another tenant."""

    code = "resource_not_found"
    kind: str
    id: str

    def __str__(self) -> str:
        return f"there is no {self.kind} {self.id[:80]!r}"
