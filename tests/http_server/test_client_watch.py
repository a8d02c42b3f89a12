"""The work of a request ends when its client has gone, in the interface and in pages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.errors import UnavailableError
from prowess.governance.service.call_limit import CallLimit
from prowess.http_server.client_watch import run_for_client

if TYPE_CHECKING:
    from collections.abc import MutableMapping

pytestmark = pytest.mark.anyio
_SECONDS = 30


async def _gone() -> MutableMapping[str, Any]:
    await anyio.sleep(0.05)
    return {"type": "http.disconnect"}


async def _never() -> MutableMapping[str, Any]:
    await anyio.sleep_forever()
    raise AssertionError


async def test_work_ends_when_the_client_has_gone() -> None:
    limit, begun = CallLimit(_SECONDS), time.monotonic()

    def work() -> None:
        while True:
            limit.check()
            time.sleep(0.01)

    with pytest.raises(UnavailableError):
        await run_for_client(work, _gone, limit)
    assert time.monotonic() - begun < _SECONDS


async def test_the_result_or_the_error_of_the_work_is_that_of_the_request() -> None:
    def fails() -> None:
        raise KeyError("x")

    assert await run_for_client(lambda: 5, _never, CallLimit()) == 5
    with pytest.raises(KeyError, match="x"):
        await run_for_client(fails, _never, CallLimit())
