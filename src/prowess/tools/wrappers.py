"""Tools around tools: each wrapper adds one thing and passes everything else on."""

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
    """Forwards every part of the `Tool` protocol to `wrapped`.

    A subclass overrides `spec` to be offered differently, or `around` to act before and after a run. `run` stays as it
    is, so that no wrapper can forget the check; the call is passed on as the very object that the executor made.
    """

    def __init__(self, wrapped: Tool) -> None:
        self.wrapped = wrapped

    @property
    def spec(self) -> ToolSpec:
        """What is offered."""
        return self.wrapped.spec

    @final
    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the wrapped tool, with what this wrapper adds."""
        require_executor(self, call)
        return await self.around(arguments, call)

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the wrapped tool; an override awaits `self.wrapped.run(arguments, call)`, or not."""
        return await self.wrapped.run(arguments, call)


class NeedsApproval(ToolWrapper):
    """The same tool, with `spec.needs_approval` set to `reason`: one clause that the person will read."""

    def __init__(self, wrapped: Tool, reason: str) -> None:
        super().__init__(wrapped)
        self.reason = reason

    @property
    def spec(self) -> ToolSpec:
        """What is offered, marked."""
        return replace(self.wrapped.spec, needs_approval=self.reason)


class Renamed(ToolWrapper):
    """The same tool under `name`; policy, audit and models see that name. Aliases are dropped: they are the other's.

    Raises:
        ValueError: no tool can have this name.
    """

    def __init__(self, wrapped: Tool, name: str, description: str | None = None) -> None:
        super().__init__(wrapped)
        self.name, self.description = name, description
        _ = self.spec  # a name that cannot be is told here, not at the first call

    @property
    def spec(self) -> ToolSpec:
        """What is offered, under the other name."""
        spec = self.wrapped.spec
        description = spec.description if self.description is None else self.description
        return replace(spec, name=self.name, description=description, aliases=())


def prefixed(tools: Iterable[Tool], prefix: str) -> tuple[Renamed, ...]:
    """Return the tools with `prefix` and a dot before their names: `search` of `docs` is `docs.search`."""
    return tuple(Renamed(tool, f"{prefix}.{tool.spec.name}") for tool in tools)


Keep = Callable[[Mapping[str, object]], bool]


class Filtered(ToolWrapper):
    """Runs the tool where `keep(arguments)` is true, and otherwise fails with `policy_denied` and `reason`.

    `keep` is called once per run, with arguments that fit the schema. It is a second fence and no replacement for a
    policy: a refusal here is recorded as a run that failed.
    """

    def __init__(self, wrapped: Tool, keep: Keep, reason: str) -> None:
        super().__init__(wrapped)
        self.keep, self.reason = keep, reason

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run it or refuse.

        Raises:
            PolicyDeniedError: the filter does not let these arguments through.
        """
        if not self.keep(arguments):
            raise PolicyDeniedError(f"the filter of {self.spec.name}", self.reason)
        return await super().around(arguments, call)


class Audited(ToolWrapper):
    """Writes `tool.answered` after each success: `tool`, and `result_bytes` and `result_sha256` of the canonical JSON.

    An answer that cannot be recorded is withheld: the call fails with `unavailable`, as it does if the executor
    itself cannot record.
    """

    def __init__(self, wrapped: Tool, log: AuditLog, *, session_id: str | None = None) -> None:
        super().__init__(wrapped)
        self._recorder = AuditRecorder(log, session_id)

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool and record its answer.

        Raises:
            AuditError: the answer is not recorded.
        """
        result = await super().around(arguments, call)
        text = canonical_json(result)
        data = {"tool": self.spec.name, "result_bytes": len(text), "result_sha256": sha256_of(text)}
        with anyio.CancelScope(shield=True):
            await self._recorder.record("tool.answered", call.id, data)
        return result


TRANSIENT: tuple[type[Exception], ...] = (UnavailableError, StoreError, ConnectionError)


class Retrying(ToolWrapper):
    """Runs a tool up to `attempts` times while it fails with one of `transient`; the last error is raised.

    Between two attempts it waits `pause` seconds, twice as long each time, or what the error asks for
    (`retry_after`); where that is more than `longest_pause`, the error is raised at once. `retry_count` of the result
    counts the attempts after the first. The executor, the audit log included, sees one call.

    Raises:
        ValueError: the tool is neither `read_only` nor `idempotent`, so that a second run might do the thing twice.
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
        """Run the tool, again where that may help."""
        for number in range(1, self._attempts):
            try:
                # A copy, because a tool may change what it is given.
                return await super().around(dict(arguments), call)
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
