"""The option `--wait`: a command returns when the enrolled machines follow what it has changed."""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.organisation_options import opened_organisation
from prowess.cli.options.package_options import wait_option
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.governance.service.machines import Machine

_SEEN_SECONDS = 90.0  # a machine that was not in contact for longer is not waited for
_WAIT_SECONDS = 30.0
_PAUSE = 0.2


def waits_for_machines(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command with `organisation_options` the option `--wait`. If the command succeeds, it waits."""

    @wraps(command)
    def waiting(*, wait: bool, of: OrganisationOptions, **given: Any) -> int:  # noqa: ANN401 -- the command's options
        if wait and not of.given:
            raise click.UsageError("--wait needs --store or --server")
        code = command(of=of, **given)
        if not wait or code != exit_codes.OK:
            return code
        skills = given.get("skills")  # of commands with `catalog_options`, which have the tenant
        return wait_for_machines(of if skills is None else of.in_tenant(skills.tenant))

    return wait_option(waiting)


def wait_for_machines(of: OrganisationOptions) -> int:
    """Wait until each enrolled machine that was in contact just now follows the present state; 1 if one does not."""
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        since = time.time() - _SEEN_SECONDS
        behind = [one for one in enrolled_machines(of) if not one.current and one.seen_at >= since]
        if not behind:
            return exit_codes.OK
        if time.monotonic() >= until:
            names = ", ".join(one.name for one in behind[:10])
            told = f"it holds in the store, and {counted(len(behind), 'machine')} did not take it in time: {names}"
            output.error(printable_line(told))
            return exit_codes.FAILED
        time.sleep(_PAUSE)


def enrolled_machines(of: OrganisationOptions) -> list[Machine]:
    """Return all enrolled machines of the organisation, or of one tenant. Raises as `opened_organisation`."""
    with opened_organisation(of, "audit", tenant=EVERY) as organisation:
        from prowess.governance.service.listing import every_item  # Imported here because SQLAlchemy is slow.
        from prowess.governance.service.machines import MachineQuery  # as above

        return list(every_item(organisation.machines.list, MachineQuery()))
