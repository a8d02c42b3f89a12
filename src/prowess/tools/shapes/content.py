"""What a model reads of a result: one text, and the images that stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.tools.prompt_escaping import json_for_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.tools.result import ToolResult

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DATA = "data_base64"


class Image(Struct, frozen=True, kw_only=True):
    """A whole image; `data` is base64."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """The image as a data URL."""
        return f"data:{self.media_type};base64,{self.data}"


def image_of(result: ToolResult) -> Image | None:
    """Return the image that a result is, where it is a whole one of a kind that models look at."""
    value = result.result or {}
    kind, data = value.get("media_type"), value.get(_DATA)
    whole = not value.get("truncated") and not value.get("offset")
    if isinstance(kind, str) and isinstance(data, str) and kind in IMAGE_TYPES and whole:
        return Image(media_type=kind, data=data)
    return None


def text_of(result: ToolResult, *, instead_of_image: str | None = None) -> str:
    """Return the result as JSON without a `<` or the bytes of an image, or the sentence of the error.

    `instead_of_image` is what the text says of an image that cannot be shown beside it.
    """
    if not result.success:
        return result.error or ""
    value: Mapping[str, object] = result.result or {}
    if image_of(result) is not None:
        value = {name: item for name, item in value.items() if name != _DATA}
        if instead_of_image is not None:
            value = {**value, "notice": instead_of_image}
    return json_for_model(value)
