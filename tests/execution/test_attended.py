"""Blocking work that learns of a cancellation, and is waited for."""

from __future__ import annotations

import select
import time

import anyio
import pytest

from prowess.execution.attended import attended

pytestmark = pytest.mark.anyio


async def test_the_result_of_the_work_comes_back() -> None:
    assert await attended(lambda wake: wake >= 0, limiter=anyio.CapacityLimiter(1))


async def test_a_fault_of_the_work_is_raised_as_it_is() -> None:
    def fails(wake: int) -> None:
        raise ValueError(f"descriptor {wake > 0}")

    with pytest.raises(ValueError, match="descriptor True"):
        await attended(fails, limiter=anyio.CapacityLimiter(1))


async def test_nothing_wakes_work_that_nobody_cancels() -> None:
    def looks(wake: int) -> bool:
        return bool(select.select([wake], [], [], 0.02)[0])

    assert not await attended(looks, limiter=anyio.CapacityLimiter(1))


async def test_a_cancelled_caller_wakes_the_work_and_returns_only_after_it() -> None:
    steps: list[str] = []

    def works(wake: int) -> None:
        steps.append("begun")
        assert select.select([wake], [], [], 5.0)[0]
        steps.append("woken")
        time.sleep(0.05)  # what it takes to kill a process tree
        steps.append("over")

    with anyio.move_on_after(0.05) as scope:
        await attended(works, limiter=anyio.CapacityLimiter(1))
    assert scope.cancelled_caught
    assert steps == ["begun", "woken", "over"]


async def test_a_cancelled_caller_waits_for_the_work_also_where_no_descriptor_is_left() -> None:
    resource = pytest.importorskip("resource")
    known = resource.getrlimit(resource.RLIMIT_NOFILE)
    steps: list[str] = []

    def works(wake: int) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, known[1]))
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        assert poll.poll(5000)
        time.sleep(0.05)
        steps.append("over")

    try:
        with anyio.move_on_after(0.05) as scope:
            await attended(works, limiter=anyio.CapacityLimiter(1))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, known)
    assert scope.cancelled_caught
    assert steps == ["over"]


async def test_a_fault_of_cancelled_work_does_not_replace_the_cancellation() -> None:
    def fails(wake: int) -> None:
        select.select([wake], [], [], 5.0)
        raise ValueError

    with anyio.move_on_after(0.02) as scope:
        await attended(fails, limiter=anyio.CapacityLimiter(1))
    assert scope.cancelled_caught


async def test_work_that_is_cancelled_while_it_waits_for_a_thread_never_begins() -> None:
    limiter = anyio.CapacityLimiter(1)
    begun: list[int] = []
    await limiter.acquire_on_behalf_of(limiter)
    with anyio.move_on_after(0.02) as scope:
        await attended(begun.append, limiter=limiter)
    limiter.release_on_behalf_of(limiter)
    assert scope.cancelled_caught
    await anyio.sleep(0.02)
    assert begun == []


async def test_a_caller_that_is_already_cancelled_starts_nothing_and_leaves_no_descriptor() -> None:
    begun: list[int] = []
    for _ in range(3):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await attended(begun.append, limiter=anyio.CapacityLimiter(1))
        assert scope.cancelled_caught
    assert begun == []


async def test_many_callers_cancelled_at_any_moment_all_come_back() -> None:
    limiter = anyio.CapacityLimiter(8)

    def works(wake: int) -> None:
        select.select([wake], [], [], 0.002)

    async def one(seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await attended(works, limiter=limiter)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(one, number * 0.00005)
