"""Tools and results in the forms of other systems: pure translation of data, without their libraries.

Every shape is a module with the same three functions; `SHAPES` has them by name. Blocks of a provider may be given as
dictionaries or as the objects of its library.
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
    """What each of the modules offers."""

    def definitions(self, specs: Sequence[ToolSpec], *, strict: bool = False) -> list[dict[str, object]]:
        """Return the `tools` of a request; `strict` where the provider can hold a model to the schema."""

    def read_call(self, block: object, specs: Sequence[ToolSpec] = ()) -> ToolCall:
        """Return the call that a model made. What cannot be read is for the executor to refuse, so nothing raises.

        `specs` are those of the definitions; they undo what a strict schema had to say differently.
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
