"""Pages of enrolled machines: which there are, when they were last seen, and whether the present bundle holds there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prowess.governance.service.inventory import InventoryQuery, InventoryService
from prowess.governance.service.machines import MachineQuery, MachineService
from prowess.http_server.pages.rendering.page_request import redirect

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.http_server.pages.rendering.page_request import PageRequest

_FILTERS = ("name", "team", "environment")
_LIMIT = 100


def machines_page(page: PageRequest) -> Response:
    """Show the machines that match."""
    chosen = page.queries((*_FILTERS, "behind"))
    values = {**chosen, "behind": True if "behind" in chosen else None, "cursor": page.query("cursor")}
    found = MachineService(page.call).list(msgspec.convert({**values, "limit": _LIMIT}, MachineQuery))
    return page.render(
        "machines.html",
        chosen=chosen,
        filters=_FILTERS,
        machines=found.items,
        next=found.next,
        first=page.query("cursor") is not None,
    )


def machine_page(page: PageRequest) -> Response:
    """Show one machine, the findings about its log, and its copies of skills."""
    machine = MachineService(page.call).get(page.path_part("id"))
    query = InventoryQuery(machine=machine.id, cursor=page.query("cursor"), limit=_LIMIT)
    copies = InventoryService(page.call).list(query)
    return page.render(
        "machine.html",
        machine=machine,
        copies=copies.items,
        next=copies.next,
        first=page.query("cursor") is not None,
    )


def remove_machine(page: PageRequest) -> Response:
    """Forget a machine."""
    MachineService(page.call).remove(page.path_part("id"))
    return redirect("/machines", "machine-removed")
