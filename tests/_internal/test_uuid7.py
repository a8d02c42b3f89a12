from __future__ import annotations

import os
import threading
import time
import uuid

import pytest

from prowess._internal import uuid7 as module
from prowess._internal.uuid7 import uuid7
from tests import forked


def test_an_identifier_is_a_uuid_of_version_7_that_carries_the_time() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7())
    after = time.time_ns() // 1_000_000

    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert before <= made.int >> 80 <= after + 1


def test_later_identifiers_sort_behind_earlier_ones_also_in_one_millisecond() -> None:
    made = [uuid7() for _ in range(2000)]

    assert made == sorted(set(made))


def test_a_clock_that_steps_back_does_not_disturb_the_order() -> None:
    first = uuid7()
    ahead = module._last + (10_000 << 12)
    module._last = ahead
    try:
        second, third = uuid7(), uuid7()
    finally:
        module._last = int(time.time() * 1000) << 12
    assert first < second < third


def test_threads_never_draw_the_same_identifier() -> None:
    drawn: list[str] = []
    threads = [threading.Thread(target=lambda: drawn.extend(uuid7() for _ in range(500))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert len(drawn) == len(set(drawn)) == 2000


def test_one_identifier_does_not_tell_the_next() -> None:
    made = [uuid.UUID(uuid7()).int & ((1 << 62) - 1) for _ in range(200)]

    assert len(set(made)) == 200
    for bit in range(62):
        assert 0 < sum(number >> bit & 1 for number in made) < 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_makes_no_identifier_that_its_parent_makes() -> None:
    uuid7()  # so that random bits are drawn in advance
    reads, writes = os.pipe()
    child = os.fork()
    if not child:  # pragma: no cover -- nothing but this, and no way out into the tests
        os.write(writes, "\n".join(uuid7()[19:] for _ in range(40)).encode())
        forked.end(0)
    os.close(writes)
    with open(reads, encoding="ascii") as said:
        theirs = said.read().split()
    os.waitpid(child, 0)
    ours = [uuid7()[19:] for _ in range(40)]
    assert len({*ours, *theirs}) == len(ours) + len(theirs) == 80
