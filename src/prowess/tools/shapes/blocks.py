"""Blocks of providers, as dictionaries or objects, and the arguments inside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from prowess.tools.call import ToolCall
from prowess.tools.names import spellings
from prowess.tools.shapes.strict_schema import from_strict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools.spec import ToolSpec


def member(block: object, name: str) -> object:
    """Return a member of a block; None where it has none."""
    return block.get(name) if isinstance(block, Mapping) else getattr(block, name, None)


def call_of(call_id: object, name: object, arguments: object, specs: Sequence[ToolSpec]) -> ToolCall:
    """Return the call; arguments that come as text are read, and what cannot be read stands in `unreadable`."""
    unreadable = None
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as fault:
            why = f"{fault.msg} at position {fault.pos}" if isinstance(fault, json.JSONDecodeError) else "too deep"
            unreadable = f"Arguments are not valid JSON: {why}; send one JSON object"
            arguments = {}
    called = name if isinstance(name, str) else ""
    if arguments is None:  # how some providers say that there are none
        arguments = {}
    for spec in specs:
        if any(called in spellings(known) for known in (spec.name, *spec.aliases)):
            arguments = from_strict(arguments, spec.input_schema)
    # Not checked here: the executor refuses what is no object.
    given = cast("Mapping[str, object]", arguments)
    return ToolCall(id=call_id if isinstance(call_id, str) else "", name=called, arguments=given, unreadable=unreadable)
