"""The page of blocks: the blocks, and the form that blocks. A block wins over everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import ConfigurationError
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
from prowess.governance.service.listing import ListQuery
from prowess.http_server.pages.rendering.page_request import Fields, redirect
from prowess.policy.blocks.block_file import BLOCK_KINDS

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.http_server.pages.rendering.page_request import PageRequest

_SAID = {
    "name": "Name of a skill",
    "digest": "Digest of a skill",
    "file": "SHA-256 of a file",
    "source": "Source",
    "publisher": "Publisher",
}


def blocks_page(page: PageRequest) -> Response:
    """Show the blocks that hold here. The query may fill in the form, so that other pages can link to it."""
    return _blocks(page, page.queries(("kind", "value")))


def add_block(page: PageRequest) -> Response:
    """Block every skill with a fact."""
    kind, value = page.form.get("kind", ""), page.field("value") or ""
    try:
        match = BlockMatch(**{kind: value}) if kind in BLOCK_KINDS else BlockMatch()
        BlockService(page.call).add(NewBlock(match=match, reason=page.field("reason") or ""))
    except ConfigurationError as fault:
        return _blocks(page, page.form, problem="; ".join(fault.problems), status=400)
    return redirect("/blocks", "blocked")


def remove_block(page: PageRequest) -> Response:
    """Lift a block."""
    BlockService(page.call).remove(page.path_part("id"))
    return redirect("/blocks", "unblocked")


def _blocks(page: PageRequest, form: Fields, *, problem: str | None = None, status: int = 200) -> Response:
    found = BlockService(page.call).list(ListQuery(cursor=page.query("cursor")))
    rows = [
        (one, next((kind, getattr(one.match, kind)) for kind in BLOCK_KINDS if getattr(one.match, kind) is not None))
        for one in found.items
    ]
    return page.render(
        "blocks.html",
        status=status,
        problem=problem,
        form=form,
        rows=rows,
        kinds=tuple(_SAID.items()),
        said=_SAID,
        next=found.next,
        first=page.query("cursor") is not None,
    )
