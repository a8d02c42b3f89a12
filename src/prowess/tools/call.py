"""One request to run one tool, as a model or a program made it; nothing in it has been checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping


class ToolCall(Struct, frozen=True, kw_only=True):
    """`id` is the caller's and comes back in the audit log; `name` may be any accepted spelling.

    A tool and a gate receive the call with the canonical name and with arguments that fit the schema. `unreadable` is
    one sentence where the arguments came as a text that could not be read; such a call is refused and recorded.
    """

    id: str
    name: str
    arguments: Mapping[str, object]
    unreadable: str | None = None
