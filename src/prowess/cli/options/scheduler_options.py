"""The option `--on`: the workers of a Dask scheduler."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.adapters.dask import DaskBatch

_SCHEDULER = re.compile(r"tcp://[\w.\-]+:[0-9]{1,5}|tcp://\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}")


def scheduler_option(verb: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option `--on` of a command that does this."""
    text = f"{verb} on the workers of the Dask scheduler at tcp://HOST:PORT."
    return click.option("--on", metavar="ADDRESS", help=text, callback=_address)


@contextmanager
def scheduler_at(address: str | None) -> Iterator[DaskBatch | None]:
    """Open the scheduler if there is an address.

    Raises:
        MissingExtraError: the extra is not installed.
        UnavailableError: there is no scheduler, or it has no worker.
    """
    if address is None:
        yield None
        return
    from prowess.adapters.dask import DaskBatch  # Imported here because it needs an extra.

    with DaskBatch(address) as engine:
        yield engine


def _address(_context: click.Context, _option: click.Parameter, given: str | None) -> str | None:
    if given is not None and _SCHEDULER.fullmatch(given) is None:
        raise click.UsageError(f"--on must be tcp://HOST:PORT, not {given!r}")
    return given
