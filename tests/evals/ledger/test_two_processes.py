"""Two processes with one journal: one cap, and no call booked twice."""

from __future__ import annotations

import multiprocessing
import os
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.agent import Usage
from prowess.evals.ledger.calls import CallAnswer, CallBound
from prowess.evals.ledger.caps import CapReachedError, Caps
from prowess.evals.ledger.journal import JOURNAL
from prowess.evals.ledger.ledger import Ledger
from tests.evals.ledger.asking import DOLLAR, HEADER

if TYPE_CHECKING:
    from pathlib import Path

CAPS = Caps(usd=0.002)
BOUND = CallBound(input_tokens=60, output_tokens=40)  # 100 microdollars


def _work(directory: Path, name: str) -> None:
    paid = os.open(directory / "paid", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def ask() -> CallAnswer:
        os.write(paid, b".")
        await anyio.sleep(0.002)
        return CallAnswer(content=b"x", usage=Usage(input_tokens=30, output_tokens=20))  # 50 microdollars

    async def task(ledger: Ledger, unit: str) -> None:
        for number in range(40):
            try:
                await ledger.call(unit, f"{number}".encode(), BOUND, ask, price=DOLLAR)
            except CapReachedError:
                return

    async def run() -> None:
        with Ledger(directory / JOURNAL, HEADER, CAPS) as ledger:
            async with anyio.create_task_group() as tasks:
                for number in range(3):
                    tasks.start_soon(task, ledger, f"{name}-{number}")

    anyio.run(run)


@pytest.mark.unmeasured
def test_two_processes_with_several_tasks_each_keep_one_cap(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_work, args=(tmp_path, name)) for name in ("left", "right")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    paid = len((tmp_path / "paid").read_bytes())
    with Ledger(tmp_path / JOURNAL, HEADER, CAPS) as ledger:
        assert ledger.spent.calls == paid
        assert ledger.spent.usd == pytest.approx(paid * 50e-6)
        assert ledger.spent.in_doubt_usd == 0.0
    assert 34 <= paid <= 40  # the cap is worth 40 calls, and up to 6 of them were in flight at the end
