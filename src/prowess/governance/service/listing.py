"""Pages of lists: at most 500 items, and a cursor for the next page; and the error for an item that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from prowess.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MOST_ITEMS = 500
Cursor = Annotated[str, Meta(max_length=1000, pattern=r"^[^\x00]*$")]  # TEXT of PostgreSQL cannot hold NUL
_Item = TypeVar("_Item")


class ListQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a list is wanted. `cursor` is the `next` of the part before."""

    limit: Annotated[int, Meta(ge=1, le=MOST_ITEMS)] = 100
    cursor: Cursor | None = None


class ListPage(Struct, Generic[_Item], frozen=True, kw_only=True):
    """A part of a list. `next` is the cursor of the following part, None at the end."""

    items: tuple[_Item, ...]
    next: str | None = None


_Query = TypeVar("_Query", bound=ListQuery)


class NoSuchItemError(SkillError, LookupError):
    """The tenant has no item of this kind with this id. Also raised for an item of another tenant."""

    code = "resource_not_found"
    kind: str
    id: str

    def __str__(self) -> str:
        return f"there is no {self.kind} {self.id[:80]!r}"


def page_of(items: Iterable[_Item], query: ListQuery, key: Callable[[_Item], str]) -> ListPage[_Item]:
    """Return the part of `items` that a query wants. The order is that of `key`, which is unique and the cursor."""
    after = query.cursor
    left = sorted(((key(item), item) for item in items), key=lambda pair: pair[0])
    wanted = [pair for pair in left if after is None or pair[0] > after]
    shown = wanted[: query.limit]
    return ListPage(items=tuple(item for _, item in shown), next=shown[-1][0] if len(wanted) > query.limit else None)


def every_item(list_of: Callable[[_Query], ListPage[_Item]], query: _Query) -> Iterator[_Item]:
    """Yield the items of all parts of a list from the part that `query` names. Raises as `list_of`."""
    query = replace(query, limit=MOST_ITEMS)
    while True:
        part = list_of(query)
        yield from part.items
        if part.next is None:
            return
        query = replace(query, cursor=part.next)
