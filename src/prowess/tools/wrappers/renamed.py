"""Offer a tool under another name, alone or with a prefix for all that come from one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.tools.wrappers.wrapper import ToolWrapper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.tools.spec import Tool, ToolSpec


class Renamed(ToolWrapper):
    """The same tool under `name`; policy, audit and models see that name. Aliases are dropped: they are the other's.

    Raises:
        ValueError: no tool can have this name.
    """

    def __init__(self, wrapped: Tool, name: str, description: str | None = None) -> None:
        super().__init__(wrapped)
        self.name, self.description = name, description
        _ = self.spec  # a name that cannot be is told here, not at the first call

    @property
    def spec(self) -> ToolSpec:
        """What is offered, under the other name."""
        spec = self.wrapped.spec
        description = spec.description if self.description is None else self.description
        return replace(spec, name=self.name, description=description, aliases=())


def prefixed(tools: Iterable[Tool], prefix: str) -> tuple[Renamed, ...]:
    """Return the tools with `prefix` and a dot before their names: `search` of `docs` is `docs.search`."""
    return tuple(Renamed(tool, f"{prefix}.{tool.spec.name}") for tool in tools)
