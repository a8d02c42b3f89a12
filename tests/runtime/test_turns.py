"""Tasks take turns in the order in which they come; whoever gives up waiting holds nobody up."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from prowess.runtime.turns import Turns

pytestmark = pytest.mark.anyio


async def test_one_at_a_time_in_the_order_of_coming() -> None:
    turns, seen = Turns(), []

    async def work(number: int) -> None:
        async with turns:
            seen.append(number)
            await anyio.lowlevel.checkpoint()
            seen.append(number)

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(work, number)
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3]


async def test_whoever_is_cancelled_while_waiting_leaves_its_turn_to_the_next() -> None:
    turns, seen = Turns(), []

    async def work(name: str, scope: anyio.CancelScope) -> None:
        with scope:
            async with turns:
                seen.append(name)

    async with anyio.create_task_group() as group, turns:
        first, second = anyio.CancelScope(), anyio.CancelScope()
        group.start_soon(work, "first", first)
        group.start_soon(work, "second", second)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
        await anyio.wait_all_tasks_blocked()
    assert seen == ["second"]


async def test_a_task_that_has_its_turn_is_told_so_and_does_not_wait_for_itself() -> None:
    turns = Turns()
    async with turns:
        with pytest.raises(RuntimeError), anyio.fail_after(1):
            async with turns:
                pass
    async with turns:
        pass
