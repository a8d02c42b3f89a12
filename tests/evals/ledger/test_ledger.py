"""Calls that are booked before they are made, and kept before they are handed on."""

from __future__ import annotations

import json
import math
import os
import stat
from fractions import Fraction
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.agent import ModelError, Usage
from prowess.errors import InvalidArgumentsError
from prowess.evals.ledger.accounts import exceeds
from prowess.evals.ledger.calls import HIDDEN_TOKENS, CallAnswer, CallBound
from prowess.evals.ledger.caps import CapReachedError, Caps
from prowess.evals.ledger.journal import JOURNAL, Amount, JournalError, JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.prices import NANO, Price, nano_within
from tests.evals.ledger.asking import DOLLAR, HEADER, Asking, failing

if TYPE_CHECKING:
    from pathlib import Path

BOUND = CallBound(input_tokens=1000, output_tokens=1000)  # 2000 microdollars at `DOLLAR`


def _lines(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (directory / JOURNAL).read_text(encoding="utf-8").splitlines()]


@pytest.mark.anyio
async def test_a_call_is_in_the_journal_before_it_is_made_and_its_answer_before_it_is_handed_on(tmp_path: Path) -> None:
    seen: list[object] = []

    async def ask() -> CallAnswer:
        seen.append(_lines(tmp_path)[-1])
        return CallAnswer(content=b"hello", usage=Usage(input_tokens=3, output_tokens=2))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        answer = await ledger.call("one", b"question", BOUND, ask, price=DOLLAR)
        kept = _lines(tmp_path)[-1]
    started = seen[0]
    assert isinstance(started, dict)
    assert (started["kind"], started["unit"]) == ("started", "one")
    assert started["reserved"] == {"input_tokens": 1000, "output_tokens": 1000, "nano_usd": 2_000_000}
    assert (kept["kind"], kept["id"], kept["text"]) == ("answered", started["id"], "hello")
    assert kept["charged"] == {"input_tokens": 3, "output_tokens": 2, "nano_usd": 5000}
    assert answer.content == b"hello"
    assert stat.S_IMODE(os.stat(tmp_path / JOURNAL).st_mode) == 0o600


@pytest.mark.anyio
async def test_the_disk_has_the_reservation_before_the_call_and_the_answer_before_it_is_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss of power cannot be made here, so this looks at what was brought to the disk, and when."""
    order: list[str] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        sync(descriptor)
        if os.path.samestat(os.fstat(descriptor), os.stat(tmp_path / JOURNAL)):
            order.append(f"disk: {_lines(tmp_path)[-1]['kind']}")

    async def ask() -> CallAnswer:
        order.append("asked")
        return CallAnswer(content=b"hello", usage=Usage(input_tokens=3, output_tokens=2))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        monkeypatch.setattr(os, "fsync", noted)
        await ledger.call("one", b"question", BOUND, ask, price=DOLLAR)
        order.append("handed on")
    assert order == ["disk: started", "asked", "disk: answered", "handed on"]


@pytest.mark.anyio
async def test_a_resumed_unit_gets_the_kept_answers_and_equal_requests_get_theirs_in_order(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        ask = Asking(ledger)
        first = [
            await ask("one", "vote"),
            await ask("one", "vote"),
            await ask("one", "other"),
            await ask("two", "vote"),
        ]
    assert ask.count == 4
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        ask = Asking(ledger)
        again = [
            await ask("one", "vote"),
            await ask("one", "vote"),
            await ask("one", "other"),
            await ask("two", "vote"),
        ]
        assert (again, ask.count) == (first, 0)
        assert ledger.unit_spent("one").replayed_calls == 3
        await ask("one", "vote")  # a third vote was never given
        assert ask.count == 1
        ledger.begin("one")  # the unit runs once more in this process
        assert (await ask("one", "vote"), ask.count) == (first[0], 1)
        assert ledger.spent.calls == 5


@pytest.mark.anyio
async def test_a_call_in_flight_at_a_kill_is_asked_again_and_stays_charged_also_at_the_second_resume(
    tmp_path: Path,
) -> None:
    class Killed(BaseException):
        pass

    for _ in range(2):
        with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
            with pytest.raises(Killed):
                await ledger.call("one", b"question", BOUND, failing(Killed()), price=DOLLAR)
            # what a kill leaves: no line after `started`
            text = (tmp_path / JOURNAL).read_text(encoding="utf-8").splitlines(keepends=True)
            (tmp_path / JOURNAL).write_text("".join(text[:-1]), encoding="utf-8")
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        ask = Asking(ledger)
        await ask("one", "question")
        spent = ledger.spent
    assert (ask.count, spent.calls, spent.in_doubt_usd) == (1, 3, 0.004)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        assert ledger.spent == spent


@pytest.mark.anyio
async def test_a_call_that_could_pass_the_cap_is_not_made_and_neither_are_later_ones_of_its_unit(
    tmp_path: Path,
) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=0.002)) as ledger:
        ask = Asking(ledger)
        await ask("one", "a")
        with pytest.raises(CapReachedError) as caught:
            await ask("one", "b", most=100_000)
        with pytest.raises(CapReachedError):
            await ask("one", "c")  # it would fit, but the unit has lost a call
        assert (ask.count, caught.value.cap) == (1, "cost_cap")
        assert "0.001985 US dollars is left" in str(caught.value)
        await ask("two", "c")
        assert ask.count == 2
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=1.0)) as ledger:  # a resume with a higher cap
        ask = Asking(ledger)
        await ask("one", "a")
        await ask("one", "b", most=100_000)
        assert ask.count == 1


@pytest.mark.parametrize(
    ("caps", "stopped"), [(Caps(calls=2), "call_cap"), (Caps(tokens=HIDDEN_TOKENS + 150), "token_cap")]
)
@pytest.mark.anyio
async def test_caps_on_calls_and_tokens_need_no_price(tmp_path: Path, caps: Caps, stopped: str) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, caps) as ledger:
        ask = Asking(ledger, price=None)
        await ask("one", "a")
        await ask("one", "b")
        with pytest.raises(CapReachedError) as caught:
            await ask("one", "c" * 100)
        assert (caught.value.cap, ask.count, ledger.spent.usd) == (stopped, 2, None)


def test_a_bound_is_a_token_a_byte_and_the_longest_answer() -> None:
    bound = CallBound.of(b"x" * 100, 7)
    assert (bound.input_tokens, bound.output_tokens) == (100 + 1024, 7)


@pytest.mark.parametrize(
    ("exact", "less"),
    [(Caps(tokens=2006), Caps(tokens=2005)), (Caps(usd=0.002006), Caps(usd=0.002005999))],
)
@pytest.mark.anyio
async def test_a_call_that_needs_exactly_what_is_left_is_made_and_one_that_needs_more_is_not(
    tmp_path: Path, exact: Caps, less: Caps
) -> None:
    for caps, made in ((less, 1), (exact, 2)):
        (tmp_path / f"{made}").mkdir()
        with Ledger(tmp_path / f"{made}" / JOURNAL, HEADER, caps) as ledger:
            ask = Asking(ledger, usage=Usage(input_tokens=1, output_tokens=5, cost_usd=None))
            await ledger.call("one", b"a", BOUND, ask.answer, price=DOLLAR)
            if made == 1:
                with pytest.raises(CapReachedError):
                    await ledger.call("one", b"b", BOUND, ask.answer, price=DOLLAR)
            else:
                await ledger.call("one", b"b", BOUND, ask.answer, price=DOLLAR)
            assert ask.count == made


@pytest.mark.parametrize("usd", [1.001, 0.3, 0.1 + 0.2, 2.009, 0.000000003, 1e-9, 123456.789012345])
def test_a_cap_is_the_number_that_was_written(usd: float) -> None:
    assert nano_within(usd) == math.floor(Fraction(repr(usd)) * NANO)


@pytest.mark.anyio
async def test_a_cap_that_equals_the_bound_allows_the_call(tmp_path: Path) -> None:
    # 1.001 * 1e9 is 1000999999.9999999 as a product of floats.
    bound, price = CallBound(input_tokens=1_001_000, output_tokens=0), Price(input=1.0, output=1.0, given=True)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=1.001)) as ledger:
        ask = Asking(ledger, usage=Usage(input_tokens=1_001_000, output_tokens=0))
        await ledger.call("one", b"a", bound, ask.answer, price=price)
        with pytest.raises(CapReachedError, match=r"may need 0.000000001 US dollars, and 0.000000 US dollars is left"):
            await ledger.call(
                "two",
                b"a",
                CallBound(input_tokens=1, output_tokens=0),
                ask.answer,
                price=Price(input=0.001, output=0.0, given=True),
            )
    assert ask.count == 1


@pytest.mark.anyio
async def test_a_call_waits_for_a_reservation_that_another_may_give_back(tmp_path: Path) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    async def slow() -> CallAnswer:
        begun.set()
        await go_on.wait()
        return CallAnswer(content=b"slow", usage=Usage(input_tokens=1, output_tokens=1))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=0.0035)) as ledger:
        ask = Asking(ledger)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: ledger.call("one", b"a", BOUND, slow, price=DOLLAR))
            await begun.wait()
            assert ledger.spent.in_doubt_usd == 0.0  # it is only in flight
            tasks.start_soon(lambda: ledger.call("two", b"b", BOUND, ask.answer, price=DOLLAR))
            with pytest.raises(CapReachedError):  # this one would never fit
                await ask("three", "c", most=10_000)
            await anyio.sleep(0.05)
            assert ask.count == 0
            go_on.set()
        assert ask.count == 1


@pytest.mark.anyio
async def test_a_rejected_request_costs_nothing_and_any_other_failure_stays_in_doubt(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        for status in (400, 429, 500, None):
            fault = ModelError("m", "password=hunter2hunter2 is wrong", status)
            with pytest.raises(ModelError):
                await ledger.call("one", b"a", BOUND, failing(fault), price=DOLLAR)
        assert (ledger.spent.calls, ledger.spent.in_doubt_usd, ledger.spent.usd) == (4, 0.004, 0.0)
    assert "hunter2" not in (tmp_path / JOURNAL).read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_a_call_in_doubt_without_a_price_has_an_unknown_cost(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        with pytest.raises(ModelError):
            await ledger.call("one", b"1", BOUND, failing(ModelError("m", "busy", 500)))
        assert (ledger.spent.calls, ledger.spent.usd) == (1, None)


@pytest.mark.anyio
async def test_a_cancelled_call_stays_in_doubt(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        with anyio.CancelScope() as scope:

            async def forever() -> CallAnswer:
                scope.cancel()
                await anyio.sleep_forever()
                raise AssertionError("it never ends")

            await ledger.call("one", b"a", BOUND, forever, price=DOLLAR)
        assert ledger.spent.in_doubt_usd == 0.002
        assert (_lines(tmp_path)[-1]["kind"], _lines(tmp_path)[-1]["reason"]) == ("failed", "cancelled")


@pytest.mark.anyio
async def test_an_answer_that_came_is_kept_though_the_run_is_cancelled(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        with anyio.CancelScope() as scope:

            async def ask() -> CallAnswer:
                scope.cancel()  # met at the next pause, which is the write of this answer
                return CallAnswer(content=b"paid", usage=Usage(input_tokens=3, output_tokens=2))

            await ledger.call("one", b"a", BOUND, ask, price=DOLLAR)
        assert (ledger.spent.in_doubt_usd, ledger.spent.usd) == (0.0, 0.000005)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        again = await ledger.call("one", b"a", BOUND, failing(AssertionError("asked again")), price=DOLLAR)
        assert again.content == b"paid"


@pytest.mark.anyio
async def test_an_answer_without_usage_is_charged_as_reserved(tmp_path: Path) -> None:
    async def silent() -> CallAnswer:
        return CallAnswer(content=b"x")

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await ledger.call("one", b"a", BOUND, silent, price=DOLLAR)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        assert (ledger.spent.usd, ledger.spent.in_doubt_usd) == (0.0, 0.002)
        await ledger.call("one", b"a", BOUND, failing(AssertionError("asked again")), price=DOLLAR)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=0.003)) as ledger, pytest.raises(CapReachedError) as caught:
        await ledger.call("two", b"a", BOUND, silent, price=DOLLAR)
    assert caught.value.left == "0.001000 US dollars"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "usage",
    [
        Usage(input_tokens=-(10**9), output_tokens=1),
        Usage(input_tokens=1, output_tokens=-1),
        Usage(input_tokens=1, output_tokens=10**400),
        *(Usage(input_tokens=1, output_tokens=1, cost_usd=cost) for cost in (-5.0, math.nan, math.inf, 1e308)),
    ],
)
@pytest.mark.parametrize("price", [DOLLAR, Price(input=1.0, output=1.0)])
async def test_usage_that_cannot_be_gives_nothing_back(usage: Usage, price: Price, tmp_path: Path) -> None:
    async def answer() -> CallAnswer:
        return CallAnswer(content=b"x", usage=usage)

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await ledger.call("one", b"a", BOUND, answer, price=price)
        assert (ledger.spent.usd, ledger.spent.in_doubt_usd) == (0.0, 0.002)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:  # the journal can be read again
        await ledger.call("one", b"a", BOUND, failing(AssertionError("asked again")), price=price)


@pytest.mark.anyio
async def test_usage_beyond_the_bound_is_charged_in_full_and_stated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=1.0)) as ledger:
        ask = Asking(ledger, usage=Usage(input_tokens=10, output_tokens=5000, cost_usd=None))
        await ask("one", "a", most=100)
        assert (ledger.spent.output_tokens, ledger.spent.usd) == (5000, 0.00501)
        await Asking(ledger)("two", "b")  # within its bound, so nothing is said
    assert caplog.messages == ["one: a call used more than its bound, so it may have passed a cap"]


@pytest.mark.anyio
async def test_the_model_s_own_account_decides_unless_the_price_was_stated(tmp_path: Path) -> None:
    usage = Usage(input_tokens=1000, output_tokens=0, cost_usd=0.0001)  # most of it came from a cache
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await Asking(ledger, usage=usage, price=Price(input=1.0, output=1.0))("one", "a")
        assert ledger.spent.usd == 0.0001
        await Asking(ledger, usage=usage, price=DOLLAR)("one", "b")
        assert ledger.spent.usd == pytest.approx(0.0011)


@pytest.mark.anyio
async def test_a_cap_on_cost_needs_a_price_for_every_call(tmp_path: Path) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        await Asking(ledger, price=None)("one", "a")
    with Ledger(tmp_path / JOURNAL, HEADER, Caps(usd=1.0)) as ledger:
        with pytest.raises(InvalidArgumentsError, match="--price IN/OUT"):
            await Asking(ledger, price=None)("two", "b")
        with pytest.raises(CapReachedError, match="an unknown amount"):  # what the first call cost is not known
            await Asking(ledger)("three", "b")


@pytest.mark.anyio
async def test_secrets_are_neither_in_the_journal_nor_in_kept_requests(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9

    async def ask() -> CallAnswer:
        answer = [{"text": f"I found {token}."}, {"call": {"arguments": {"password": "hunter2hunter2"}}}]
        return CallAnswer(content=json.dumps(answer).encode(), usage=Usage(input_tokens=1))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        live = await ledger.call("one", f'{{"text": "{token}"}}'.encode(), BOUND, ask)
    assert token in live.content.decode()
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        kept = await ledger.call("one", f'{{"text": "{token}"}}'.encode(), BOUND, ask)
        form = ledger.recorded_forms("one")
    assert json.loads(kept.content) == [
        {"text": "I found [redacted]."},
        {"call": {"arguments": {"password": "[redacted]"}}},
    ]
    assert form == ('{\n "text": "[redacted]"\n}',)
    assert token not in (tmp_path / JOURNAL).read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_paths_of_an_execution_are_recorded_by_name(tmp_path: Path) -> None:
    async def ask() -> CallAnswer:
        return CallAnswer(content=b'[{"path": "/runs/1/work/a.csv"}]', usage=Usage(input_tokens=1))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        ledger.begin("one", {"/runs/1/work": "workspace"})
        await ledger.call("one", b'{"in": "/runs/1/work"}', BOUND, ask)
        ledger.begin("one", {"/elsewhere/work": "workspace"})
        kept = await ledger.call("one", b'{"in": "/elsewhere/work"}', BOUND, ask)
        assert ledger.unit_spent("one").replayed_calls == 1
    assert kept.content == b'[{"path": "/elsewhere/work/a.csv"}]'


@pytest.mark.anyio
async def test_two_ledgers_on_one_journal_keep_one_cap_and_see_each_other_s_answers(tmp_path: Path) -> None:
    with (
        Ledger(tmp_path / JOURNAL, HEADER, Caps(calls=5)) as left,
        Ledger(tmp_path / JOURNAL, HEADER, Caps(calls=5)) as right,
    ):
        one, two = Asking(left), Asking(right)

        async def work(ask: Asking, unit: str) -> None:
            for number in range(5):
                try:
                    await ask(unit, f"{number}")
                except CapReachedError:
                    return

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, one, "one")
            tasks.start_soon(work, two, "two")
        assert one.count + two.count == 5
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        assert ledger.spent.calls == 5


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (JournalHeader(skill="other", files=HEADER.files, identity=HEADER.identity), "is of skill 'csv-report'"),
        (
            JournalHeader(skill="csv-report", identity=HEADER.identity),
            "before these files changed: csv-report/SKILL.md",
        ),
        (JournalHeader(skill="csv-report", files=HEADER.files, identity={"seed": 1}), "begun with seed 0, not 1"),
    ],
)
def test_only_the_same_campaign_continues_a_journal(tmp_path: Path, header: JournalHeader, why: str) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()):
        pass
    with pytest.raises(JournalError, match=why):
        Ledger(tmp_path / JOURNAL, header, Caps())


def _amount(input_tokens: int, output_tokens: int, nano_usd: int | None) -> Amount:
    return Amount(input_tokens=input_tokens, output_tokens=output_tokens, nano_usd=nano_usd)


@pytest.mark.parametrize(
    ("charged", "reserved", "is_above"),
    [
        ((10, 10, 10), (10, 10, 10), False),
        ((1, 1, 1), (10, 10, 10), False),
        ((11, 1, 1), (10, 10, 10), True),
        ((1, 11, 1), (10, 10, 10), True),
        ((1, 1, 11), (10, 10, 10), True),
        ((1, 1, 1), (10, 10, 0), True),
        ((1, 1, 11), (10, 10, None), False),  # without a price no cost is bound
        ((1, 1, None), (10, 10, 10), False),
    ],
)
def test_a_call_exceeds_its_bound_by_any_of_its_amounts(
    charged: tuple[int, int, int | None], reserved: tuple[int, int, int | None], *, is_above: bool
) -> None:
    assert exceeds(_amount(*charged), _amount(*reserved)) == is_above
