"""A model with scripted answers, for tests of agents and demonstrations without a provider.

It implements `Model`; the session, tools and sandbox of the agent are real. `requests` keeps all requests, so that a
test can check the instructions of each turn.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from prowess.agent.model import ModelError, ModelRequest, Part, TextDelta, ToolUse, Usage
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from typing import Self

_PIECE = 16  # characters of one text delta
_FREE = Usage(cost_usd=0.0)
_KINDS: dict[type, str] = {list: "a list", dict: "an object", str: "a text"}
_T = TypeVar("_T")


class ScriptedTurn(Struct, frozen=True, kw_only=True):
    """One answer: a text, calls as (name, arguments), and the usage to report."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()
    usage: Usage = _FREE


class ScriptedModel:
    """Answers the n-th request with the n-th turn. Raises ModelError when there are no more turns.

    A turn is a text (the answer), a `ScriptedTurn`, or a function that receives the request and returns a text or a
    `ScriptedTurn`. A function lets a test examine the request.

        model = ScriptedModel([
            ScriptedTurn(text="I load it.", calls=(("skills_load", {"names": ["csv-report"]}),)),
            "Done.",
        ])
    """

    def __init__(
        self,
        turns: Sequence[str | ScriptedTurn | Callable[[ModelRequest], str | ScriptedTurn]],
        *,
        name: str = "scripted",
    ) -> None:
        self._turns, self._name = tuple(turns), name
        self.requests: list[ModelRequest] = []

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read the turns from a JSON file: a list of objects with `text`, `calls` and `usage`, all optional.

        A call has `name` and `arguments`. `usage` may have `input_tokens`, `output_tokens` and `cost_usd`.

        Raises:
            InvalidArgumentsError: the file cannot be read, or its content is not a list of turns.
        """
        shown = str(path)
        try:
            with open(path, encoding="utf-8-sig") as file:
                listed = json.load(file)
            return cls([_turn(item) for item in _of(list, listed, "the script")], name=f"scripted:{shown}")
        except (OSError, ValueError, RecursionError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else str(fault)
            raise InvalidArgumentsError((f"{shown} is not a script of turns: {reason}",)) from None

    @property
    def name(self) -> str:
        """The name given to the constructor; `scripted` by default."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Yield the next turn, its text in small pieces."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._turns):
            raise ModelError(self._name, f"its script has only {len(self._turns)} turns")
        step = self._turns[number]
        turn = step if isinstance(step, str | ScriptedTurn) else step(request)
        turn = ScriptedTurn(text=turn) if isinstance(turn, str) else turn
        for start in range(0, len(turn.text), _PIECE):
            yield TextDelta(text=turn.text[start : start + _PIECE])
        for position, (name, arguments) in enumerate(turn.calls):
            yield ToolUse(id=f"call-{number + 1}-{position + 1}", name=name, arguments=arguments)
        yield turn.usage


def _turn(value: object) -> ScriptedTurn:
    turn = _of(dict, value, "a turn")
    if unknown := sorted(set(turn) - {"text", "calls", "usage"}):
        raise ValueError(f"a turn has text, calls and usage, not {unknown[0]!r}")
    calls = []
    for item in _of(list, turn.get("calls", []), "calls"):
        call = _of(dict, item, "a call")
        arguments = _of(dict, call.get("arguments", {}), "the arguments of a call")
        calls.append((_of(str, call.get("name"), "the name of a call"), arguments))
    usage = _of(dict, turn.get("usage", {}), "usage")
    return ScriptedTurn(
        text=_of(str, turn.get("text", ""), "text"),
        calls=tuple(calls),
        usage=Usage(
            input_tokens=int(_number(usage.get("input_tokens", 0), "input_tokens")),
            output_tokens=int(_number(usage.get("output_tokens", 0), "output_tokens")),
            cost_usd=_number(usage.get("cost_usd", 0.0), "cost_usd"),
        ),
    )


def _of(kind: type[_T], value: object, what: str) -> _T:
    if not isinstance(value, kind):
        raise _wrong(what, _KINDS[kind])
    return value


def _number(value: object, what: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
        raise _wrong(what, "a number of at least 0")
    return value


def _wrong(what: str, kind: str) -> ValueError:
    return ValueError(f"{what} must be {kind}")
