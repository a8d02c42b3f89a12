"""Asks a model for one answer without tools, and finds the JSON in it."""

from __future__ import annotations

import json
from contextlib import aclosing
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from prowess.agent import ModelError, ModelRequest, TextDelta, UserMessage
from prowess.evals.ledger.ledger_model import LedgerModel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from prowess.agent import Model
    from prowess.agent.model import ModelSettings

_Value = TypeVar("_Value")
_ATTEMPTS = 2
_SEEDS_APART = 1000  # of the votes of one judge there are three


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


async def asked_until_read(
    model: Model, instructions: str, question: str, settings: ModelSettings, read: Callable[[str], _Value]
) -> _Value:
    """Return the model's answer as `read` converts it. If it raises `ModelError`, the model is asked again, once.

    The further requests have other seeds. Kept answers that cannot be read do not count, so that a campaign that is
    resumed asks anew and is not given the same bad answer for ever.

    Raises:
        ModelError: the model gave no answer, or none that can be read.
    """
    made = 0
    for attempt in count():
        before = model.replayed_calls if isinstance(model, LedgerModel) else 0
        again = replace(settings, seed=(settings.seed or 0) + attempt * _SEEDS_APART) if attempt else settings
        text = await asked_once(model, instructions, question, again)
        try:
            return read(text)
        except ModelError:
            made += not isinstance(model, LedgerModel) or model.replayed_calls == before
            if made == _ATTEMPTS or (isinstance(model, LedgerModel) and not model.can_answer):
                raise
    raise AssertionError("the last attempt returns or raises")


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
