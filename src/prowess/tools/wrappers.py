"""Tool wrappers: each wrapper adds one behaviour to a tool and forwards all other calls."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, final

import anyio
from msgspec.structs import replace

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.errors import PolicyDeniedError, StoreError, UnavailableError
from prowess.tools.call_audit import AuditRecorder
from prowess.tools.functions.json_values import require_finite
from prowess.tools.running_call import current_usage, require_executor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.audit.record import AuditLog
    from prowess.tools.spec import Tool, ToolCall, ToolSpec


class ToolWrapper:
    """Forwards every part of the `Tool` protocol to `wrapped`, with the call object that the executor created.

    A subclass overrides `spec` to change the specification, or `around` to act before and after a run. `run` is final,
    so that no subclass can omit `require_executor`.
    """

    def __init__(self, wrapped: Tool) -> None:
        self.wrapped = wrapped

    @property
    def spec(self) -> ToolSpec:
        """The specification of the wrapped tool."""
        return self.wrapped.spec

    @final
    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the wrapped tool with the behaviour of this wrapper."""
        require_executor(self, call)
        return await self.around(arguments, call)

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the wrapped tool. An override may await `self.wrapped.run(arguments, call)`, or not run the tool."""
        return await self.wrapped.run(arguments, call)


class NeedsApproval(ToolWrapper):
    """Marks the wrapped tool: `spec.needs_approval` is `reason`, a clause that is shown to the person who is asked."""

    def __init__(self, wrapped: Tool, reason: str) -> None:
        super().__init__(wrapped)
        self.reason = reason

    @property
    def spec(self) -> ToolSpec:
        """The specification with `needs_approval`."""
        return replace(self.wrapped.spec, needs_approval=self.reason)


class Renamed(ToolWrapper):
    """Renames the wrapped tool for policy, audit and models, without aliases. ValueError if `name` is invalid."""

    def __init__(self, wrapped: Tool, name: str, description: str | None = None) -> None:
        super().__init__(wrapped)
        self.name, self.description = name, description
        _ = self.spec  # check the name now instead of at the first call

    @property
    def spec(self) -> ToolSpec:
        """The specification with the new name."""
        spec = self.wrapped.spec
        description = spec.description if self.description is None else self.description
        return replace(spec, name=self.name, description=description, aliases=())


def prefixed(tools: Iterable[Tool], prefix: str) -> tuple[Renamed, ...]:
    """Return the tools with `prefix` and a dot before their names. For example, `search` becomes `docs.search`."""
    return tuple(Renamed(tool, f"{prefix}.{tool.spec.name}") for tool in tools)


Keep = Callable[[Mapping[str, object]], bool]


class Filtered(ToolWrapper):
    """Runs the tool if `keep(arguments)` is true; otherwise fails with `policy_denied` and `reason`.

    The filter is an additional check and does not replace a policy: its refusal is recorded as a failed run.
    """

    def __init__(self, wrapped: Tool, keep: Keep, reason: str) -> None:
        super().__init__(wrapped)
        self.keep, self.reason = keep, reason

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool, or raise PolicyDeniedError if the filter refuses these arguments."""
        if not self.keep(arguments):
            raise PolicyDeniedError(f"the filter of {self.spec.name}", self.reason)
        return await super().around(arguments, call)


class Audited(ToolWrapper):
    """Records `tool.answered` after each success: `tool`, and size and digest of the result's canonical JSON.

    If the record cannot be written, the result is withheld and the call fails with `unavailable`.
    """

    def __init__(self, wrapped: Tool, log: AuditLog, *, session_id: str | None = None) -> None:
        super().__init__(wrapped)
        self._recorder = AuditRecorder(log, session_id)

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool and record its answer. Raise AuditError if recording fails."""
        result = await super().around(arguments, call)
        text = canonical_json(result)
        data = {"tool": self.spec.name, "result_bytes": len(text), "result_sha256": sha256_of(text)}
        with anyio.CancelScope(shield=True):
            await self._recorder.record("tool.answered", call.id, data)
        return result


TRANSIENT: tuple[type[Exception], ...] = (UnavailableError, StoreError, ConnectionError)


class Retrying(ToolWrapper):
    """Runs a tool up to `attempts` times while it fails with an error in `transient`; then raises the last error.

    The first pause lasts `pause` seconds, and each later pause is twice as long as the one before. `retry_after` of the
    error overrides the pause. If the pause would exceed `longest_pause`, the error is raised at once. `retry_count` of
    the result counts the attempts after the first. The executor and the audit log see one call.

    Raises:
        ValueError: the tool is neither `read_only` nor `idempotent`, so a second run might repeat an effect.
    """

    def __init__(
        self,
        wrapped: Tool,
        *,
        attempts: int = 3,
        pause: float = 0.2,
        longest_pause: float = 5.0,
        transient: tuple[type[Exception], ...] = TRANSIENT,
    ) -> None:
        super().__init__(wrapped)
        if not (wrapped.spec.read_only or wrapped.spec.idempotent):
            message = f"{wrapped.spec.name} is neither read-only nor idempotent, so it must not be repeated"
            raise ValueError(message)
        if attempts < 1:
            raise ValueError("there must be at least one attempt")
        self._attempts, self._pause, self._longest = attempts, pause, longest_pause
        self._transient = transient

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool, and repeat it after transient errors."""
        for number in range(1, self._attempts):
            try:
                return await super().around(dict(arguments), call)  # copied: a tool may change its arguments
            except self._transient as error:
                asked = error.retry_after if isinstance(error, UnavailableError) else None
                pause = self._pause * 2 ** (number - 1) if asked is None else asked
                if pause > self._longest:
                    raise
            await anyio.sleep(pause)
            if (usage := current_usage()) is not None:
                usage.add(retries=1)
        return await super().around(dict(arguments), call)


class Caching(ToolWrapper):
    """Caches the results of a tool by its canonical arguments, with defaults filled in. Failures are not cached.

    At most `entries` results and `total_bytes` of JSON are kept, the most recently used ones, each for `seconds`. A
    cached result has `cached` true and no token usage. Every user of this object shares its results, so a tool that
    answers differently for different sessions needs one object for each session. The cache does not notice changes of
    the underlying data.

    Raises:
        ValueError: the tool is not `read_only`, so a cached result would skip its effect.
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
        """Return the cached result, or run the tool and cache its result."""
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
        """Remove all cached results."""
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
            if key in self._kept:  # two concurrent calls with the same arguments
                self._drop(key)
            self._kept[key] = self._clock(), text
            self._size += len(text)
            while len(self._kept) > self._most or self._size > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: bytes) -> None:
        self._size -= len(self._kept.pop(key)[1])
