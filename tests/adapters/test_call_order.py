"""Threads that come in the wrong order run in the right one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from prowess.adapters.hosted import CallOrder


def test_calls_end_in_the_order_of_the_message_whoever_comes_first() -> None:
    order = CallOrder(seconds_to_begin=20)
    ran: list[str] = []

    def call(number: int) -> None:
        with order.turn(str(number), [str(before) for before in range(number)]):
            ran.append(str(number))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, reversed(range(8))))
    assert ran == [str(number) for number in range(8)]


def test_a_call_that_never_begins_holds_nobody_up() -> None:
    order = CallOrder(seconds_to_begin=0.01)
    with order.turn("b", ["a"]):
        pass


def test_a_call_that_fails_lets_the_next_one_run() -> None:
    order = CallOrder(seconds_to_begin=20)
    with pytest.raises(ValueError, match="broken"), order.turn("a", []):
        raise ValueError("broken")
    done = threading.Event()

    def second() -> None:
        with order.turn("b", ["a"]):
            done.set()

    thread = threading.Thread(target=second, daemon=True)
    thread.start()
    assert done.wait(20)
    thread.join()
