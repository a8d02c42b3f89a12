"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Command = TypeVar("_Command", bound="Callable[..., object]")


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return one decorator for several options; `--help` lists them in this order."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
