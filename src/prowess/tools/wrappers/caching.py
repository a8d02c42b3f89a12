"""Answer a question that was answered before."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from prowess._internal.text.canonical_json import canonical_json
from prowess.tools.functions.json_values import require_finite
from prowess.tools.running_call import current_usage
from prowess.tools.wrappers.wrapper import ToolWrapper

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.tools.call import ToolCall
    from prowess.tools.spec import Tool


class Caching(ToolWrapper):
    """Keeps the results of a tool by its canonical arguments, defaults filled in; failures are not kept.

    At most `entries` results and `total_bytes` of JSON are kept, the most recently used ones, each for `seconds`.
    A result from here has `cached` true and used no tokens. Whoever shares this object shares its answers, so a tool
    that answers differently for different sessions needs one for each. What changed meanwhile is not noticed.

    Raises:
        ValueError: the tool is not `read_only`, so that not running it would leave something undone.
    """

    def __init__(
        self,
        wrapped: Tool,
        *,
        seconds: float = 300.0,
        entries: int = 256,
        total_bytes: int = 4 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(wrapped)
        if not wrapped.spec.read_only:
            message = f"{wrapped.spec.name} is not read-only, so its results must not be kept"
            raise ValueError(message)
        self._seconds, self._most, self._most_bytes, self._clock = seconds, entries, total_bytes, clock
        self._kept: OrderedDict[bytes, tuple[float, str]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return what is kept, or run the tool and keep its result."""
        key = canonical_json(arguments)
        text = self._find(key)
        if text is None:
            result = await super().around(arguments, call)
            require_finite(result, "the result")
            self._keep(key, json.dumps(result, allow_nan=False))
            return result
        if (usage := current_usage()) is not None:
            usage.cached = True
        answer: dict[str, object] = json.loads(text)
        return answer

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._size = 0

    def _find(self, key: bytes) -> str | None:
        with self._lock:
            if key not in self._kept:
                return None
            since, text = self._kept[key]
            if self._clock() - since >= self._seconds:
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return text

    def _keep(self, key: bytes, text: str) -> None:
        with self._lock:
            if key in self._kept:  # two calls asked at the same time
                self._drop(key)
            self._kept[key] = self._clock(), text
            self._size += len(text)
            while len(self._kept) > self._most or self._size > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: bytes) -> None:
        self._size -= len(self._kept.pop(key)[1])
