"""Asks a model for one answer without tools, and finds the JSON in it."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from prowess.agent import ModelRequest, TextDelta, UserMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from prowess.agent import Model
    from prowess.agent.model import ModelSettings


async def asked_once(model: Model, instructions: str, question: str, settings: ModelSettings) -> str:
    """Return the text of the model's answer to one message.

    Raises:
        ModelError: the model gave no answer.
    """
    request = ModelRequest(
        instructions=instructions, messages=(UserMessage(text=question),), tools=(), settings=settings
    )
    async with aclosing(cast("AsyncGenerator[Any, None]", model.stream(request))) as parts:
        return "".join([part.text async for part in parts if isinstance(part, TextDelta)])


def json_within(text: str, ends: str) -> Any:  # noqa: ANN401 -- JSON
    """Return the JSON value in a text that may have words or a code fence around it; None if there is none.

    `ends` are the brackets of the value: `{}` or `[]`.
    """
    start, end = text.find(ends[0]), text.rfind(ends[1])
    if start < 0:
        return None
    try:
        return json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
