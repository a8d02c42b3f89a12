"""Tasks take turns in the order in which they come; whoever gives up waiting holds nobody up."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType

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


async def test_whoever_is_cancelled_as_the_turn_comes_hands_it_on() -> None:
    turns, seen = Turns(), []

    async def work(name: str) -> None:
        async with turns:
            seen.append(name)

    async with turns:
        first, second = (asyncio.create_task(work(name)) for name in ("first", "second"))
        await anyio.wait_all_tasks_blocked()
    first.cancel()  # it has the turn already, and has not been told yet
    await asyncio.wait((first, second), timeout=10)
    assert (first.cancelled(), seen) == (True, ["second"])
    async with turns:
        pass


async def test_a_turn_that_has_been_handed_on_cannot_be_taken_before_it_begins() -> None:
    turns, seen = Turns(), []

    async def work(name: str) -> None:
        async with turns:
            seen.append(name)

    async with anyio.create_task_group() as group:
        async with turns:
            group.start_soon(work, "waits")
            await anyio.wait_all_tasks_blocked()
        async with turns:
            seen.append("comes later")
    assert seen == ["waits", "comes later"]


async def test_whoever_loads_trio_meanwhile_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns()
    async with turns:
        monkeypatch.setitem(sys.modules, "trio", ModuleType("trio"))
        with pytest.raises(RuntimeError), anyio.fail_after(1):
            async with turns:
                pass


async def test_a_task_that_has_its_turn_is_told_so_and_does_not_wait_for_itself() -> None:
    turns = Turns()
    async with turns:
        with pytest.raises(RuntimeError), anyio.fail_after(1):
            async with turns:
                pass
    async with turns:
        pass
