"""Tools and results in the formats of providers and protocols: pure data conversion, without their libraries.

Each format is a module with the same three functions; `SHAPES` maps format names to modules. Blocks from a provider may
be dictionaries or objects of its library.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from prowess.tools.shapes import anthropic, gemini, mcp, openai_chat, openai_responses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolCall, ToolSpec


class Shape(Protocol):
    """The functions of each format module."""

    def definitions(self, specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
        """Return the `tools` of a request. `strict` requests strict schemas, if the provider can enforce them."""

    def read_call(self, block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
        """Return the call that a model made. This never raises: the executor refuses calls that cannot be read.

        `specs`, of the offered tools, are needed to convert arguments back from strict schemas.
        """

    def result_message(self, result: ToolResult, call: ToolCall) -> dict[str, object]:
        """Return the message or item that answers `call`."""


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "anthropic": anthropic,
        "openai-chat": openai_chat,
        "openai-responses": openai_responses,
        "gemini": gemini,
        "mcp": mcp,
    }
)

__all__ = ["SHAPES", "Shape"]
