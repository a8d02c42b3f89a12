"""Helpers for all formats: read a call block, and return the text and image of a result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess.tools.prompt_escaping import json_for_model
from prowess.tools.shapes.strict_schema import from_strict
from prowess.tools.spec import ToolCall, spellings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools.result import ToolResult
    from prowess.tools.spec import ToolSpec


def member(block: object, name: str) -> object:
    """Return a member of a block, or None if it has no such member."""
    return block.get(name) if isinstance(block, Mapping) else getattr(block, name, None)


def call_of(call_id: object, name: object, arguments: object, specs: Sequence[ToolSpec]) -> ToolCall:
    """Return the call. Arguments that come as JSON text are parsed; `unreadable` is set if they cannot be."""
    unreadable = None
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as fault:
            why = f"{fault.msg} at position {fault.pos}" if isinstance(fault, json.JSONDecodeError) else "too deep"
            unreadable = f"Arguments are not valid JSON: {why}; send one JSON object"
            arguments = {}
    called = name if isinstance(name, str) else ""
    if arguments is None:  # some providers send None for no arguments
        arguments = {}
    for spec in specs:
        if any(called in spellings(known) for known in (spec.name, *spec.aliases)):
            arguments = from_strict(arguments, spec.input_schema)
    given = cast("Mapping[str, object]", arguments)  # the executor refuses anything but an object
    return ToolCall(id=call_id if isinstance(call_id, str) else "", name=called, arguments=given, unreadable=unreadable)


IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DATA = "data_base64"


class Image(Struct, frozen=True, kw_only=True):
    """A complete image. `data` is base64."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The image as a data URL."""
        return f"data:{self.media_type};base64,{self.data}"


def image_of(result: ToolResult) -> Image | None:
    """Return the image of a result, if the result is a complete image of a type that models can view; else None."""
    value = result.result or {}
    kind, data = value.get("media_type"), value.get(_DATA)
    whole = not value.get("truncated") and not value.get("offset")
    if isinstance(kind, str) and isinstance(data, str) and kind in IMAGE_TYPES and whole:
        return Image(media_type=kind, data=data)
    return None


def text_of(result: ToolResult, *, instead_of_image: str | None = None) -> str:
    """Return the result as JSON without `<` and without image bytes, or the error message of a failure.

    `instead_of_image` is a notice for an image that cannot be shown with the text.
    """
    if not result.success:
        return result.error or ""
    value: Mapping[str, object] = result.result or {}
    if image_of(result) is not None:
        value = {name: item for name, item in value.items() if name != _DATA}
        if instead_of_image is not None:
            value = {**value, "notice": instead_of_image}
    return json_for_model(value)
