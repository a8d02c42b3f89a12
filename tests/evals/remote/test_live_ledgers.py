"""Ledgers of several workers in one journal: a call that does not fit waits for the others, unless they are dead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from prowess._internal.files.file_lock import locked
from prowess.agent import Usage
from prowess.evals.iterations.fence import LOCKS, Fence, alone_in
from prowess.evals.ledger.calls import CallAnswer, CallBound
from prowess.evals.ledger.caps import CapReachedError, Caps
from prowess.evals.ledger.journal import JOURNAL, JournalError
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.remote.live_ledgers import is_live, shared_ledger
from tests.evals.ledger.asking import DOLLAR, HEADER, Asking, failing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOUND = CallBound(input_tokens=1000, output_tokens=1000)  # 2000 microdollars
CAPS = Caps(usd=0.0035)


@pytest.fixture
def fence(tmp_path: Path) -> Iterator[Fence]:
    (tmp_path / LOCKS).mkdir()
    with alone_in(str(tmp_path)) as found:
        yield found


@pytest.mark.anyio
async def test_a_call_waits_for_a_reservation_that_another_worker_may_give_back(fence: Fence) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    async def slow() -> CallAnswer:
        begun.set()
        await go_on.wait()
        return CallAnswer(content=b"slow", usage=Usage(input_tokens=1, output_tokens=1))

    with shared_ledger(fence, HEADER, CAPS) as left, shared_ledger(fence, HEADER, CAPS) as right:
        ask = Asking(right)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: left.call("one", b"a", BOUND, slow, price=DOLLAR))
            await begun.wait()
            tasks.start_soon(lambda: right.call("two", b"b", BOUND, ask.answer, price=DOLLAR))
            with pytest.raises(CapReachedError):  # this one would never fit
                await ask("three", "c", most=10_000)
            await anyio.sleep(0.5)
            assert ask.count == 0
            go_on.set()
        assert ask.count == 1
        right.refresh()
        assert right.spent.calls == 2


@pytest.mark.anyio
async def test_a_call_of_a_worker_that_died_is_not_waited_for(fence: Fence, tmp_path: Path) -> None:
    begun = anyio.Event()

    async def endless() -> CallAnswer:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    with Ledger(tmp_path / JOURNAL, HEADER, CAPS) as died, shared_ledger(fence, HEADER, CAPS) as ledger:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: died.call("one", b"a", BOUND, endless, price=DOLLAR))
            await begun.wait()
            with pytest.raises(CapReachedError):
                await ledger.call("two", b"b", BOUND, Asking(ledger).answer, price=DOLLAR)
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_call_of_a_worker_that_is_stopped_is_not_waited_for_without_end(
    fence: Fence, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("prowess.evals.ledger.ledger._SECONDS_BEFORE_A_NOTE", 0.3)
    monkeypatch.setattr("prowess.evals.ledger.ledger.LONGEST_WAIT", 1.0)
    begun = anyio.Event()

    async def endless() -> CallAnswer:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    with shared_ledger(fence, HEADER, CAPS) as stopped, shared_ledger(fence, HEADER, CAPS) as ledger:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: stopped.call("one", b"a", BOUND, endless, price=DOLLAR))
            await begun.wait()
            with pytest.raises(JournalError, match="has calls of one that another worker does not end; end that"):
                await ledger.call("two", b"b", BOUND, Asking(ledger).answer, price=DOLLAR)
            tasks.cancel_scope.cancel()
    assert caplog.text.count("a cap leaves no room until other workers end calls of one") == 1


@pytest.mark.anyio
async def test_a_call_of_a_live_worker_that_failed_is_not_waited_for(fence: Fence) -> None:
    with shared_ledger(fence, HEADER, CAPS) as other, shared_ledger(fence, HEADER, CAPS) as ledger:
        with pytest.raises(ConnectionError):
            await other.call("one", b"a", BOUND, failing(ConnectionError("broken")), price=DOLLAR)
        with pytest.raises(CapReachedError):
            await ledger.call("two", b"b", BOUND, Asking(ledger).answer, price=DOLLAR)


def test_a_ledger_is_live_until_it_is_closed(fence: Fence, tmp_path: Path) -> None:
    with shared_ledger(fence, HEADER, CAPS) as ledger:
        assert is_live(fence.iteration, ledger.mark)
        (tmp_path / LOCKS / "0a.ledger").touch()
        assert not is_live(fence.iteration, "0a")  # of a worker that was killed
        with locked(str(tmp_path.parent / "0a.ledger")):
            assert not is_live(fence.iteration, "../../0a")  # a journal of somebody else cannot name a file elsewhere
    assert not is_live(fence.iteration, ledger.mark)
    assert [path.name for path in (tmp_path / LOCKS).iterdir()] == ["0a.ledger"]


@pytest.mark.anyio
async def test_a_worker_that_outlived_its_command_makes_no_call_and_keeps_the_answer_of_the_last(
    tmp_path: Path, fence: Fence
) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    async def slow() -> CallAnswer:
        begun.set()
        await go_on.wait()
        return CallAnswer(content=b"slow", usage=Usage(input_tokens=1, output_tokens=1))

    orphan = Fence(iteration=fence.iteration, mark=fence.mark)
    with shared_ledger(orphan, HEADER, Caps(calls=100)) as ledger:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: ledger.call("one", b"a", BOUND, slow, price=DOLLAR))
            await begun.wait()
            (tmp_path / ".lock").write_text("0" * 32)  # the next command begins
            go_on.set()
        ask = Asking(ledger)
        with pytest.raises(JournalError, match="belongs to another command now"):
            await ledger.call("one", b"b", BOUND, ask.answer, price=DOLLAR)
        assert ask.count == 0
        assert ledger.spent.calls == 1
        assert ledger.spent.in_doubt_usd == 0
    with pytest.raises(JournalError, match="resume it"), shared_ledger(orphan, HEADER, CAPS):
        pass
