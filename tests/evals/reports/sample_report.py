"""Reports of runs for tests and pictures: made up, and reproducible."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from prowess.agent import Usage
from prowess.evals.campaigns.report import (
    WITH_SKILL,
    WITHOUT_SKILL,
    ConfigurationSummary,
    EvalRunReport,
    EvalRunSummary,
    GateResult,
    GradedAssertion,
    RateDelta,
    UnitResult,
    WeakAssertion,
)
from prowess.evals.ledger.caps import Spent
from prowess.evals.statistics.intervals import bootstrap_mean, rate_of
from prowess.evals.transcripts.transcript import RunTranscript, TranscriptCall, TranscriptMessage

EVALS = {
    "two-vat-rates": (0.2, 1.0),
    "credit-note": (0.2, 1.0),
    "scanned-table": (0.4, 0.6),
    "currency-without-symbol": (0.4, 0.8),
    "rounding-at-half": (0.4, 1.0),
    "empty-invoice": (1.0, 1.0),
    "bill-in-german": (0.6, 0.8),
    "forty-lines-one-wrong": (0.0, 1.0),
    "no-vat-number": (0.4, 0.6),
    "duplicate-number": (0.6, 0.8),
}


def sample(runs: int = 5, evals: int = 10, *, seed: int = 7) -> EvalRunReport:
    """Return a report in which the skill helps, with three errors and a contaminated run."""
    random = Random(seed)
    units = []
    for number in range(evals):
        name, shares = list(EVALS.items())[number % len(EVALS)]
        name = name if number < len(EVALS) else f"{name}-{number // len(EVALS) + 1}"
        for configuration, share in zip((WITHOUT_SKILL, WITH_SKILL), shares, strict=True):
            units += [_unit(name, configuration, run, share, random) for run in range(1, runs + 1)]
    for place in (3, 17, 41):
        units[place % len(units)] = replace(
            units[place % len(units)], outcome="error", reason="the host ended with 1: 529 overloaded", assertions=()
        )
    spoilt = next(place for place, unit in enumerate(units) if unit.configuration == WITHOUT_SKILL and unit.counted)
    units[spoilt] = replace(units[spoilt], contaminated="it read /home/me/.claude/skills/invoice-check/SKILL.md")
    return reported(units)


def reported(units: list[UnitResult], *, skill: str = "invoice-check") -> EvalRunReport:
    """Return the report of some units."""
    configurations = {name: _summary([one for one in units if one.configuration == name]) for name in _names(units)}
    delta = None
    if len(configurations) > 1:
        differences = [_rate(units, name, WITH_SKILL) - _rate(units, name, WITHOUT_SKILL) for name in _evals(units)]
        found = bootstrap_mean(differences)
        if found.mean is not None and found.low is not None and found.high is not None:
            delta = RateDelta(mean=found.mean, low=found.low, high=found.high)
    summary = EvalRunSummary(
        configurations=configurations,
        delta=delta,
        weak=(WeakAssertion(eval="empty-invoice", text="The answer is polite", kind="uninformative"),),
        flaky=("no-vat-number",),
    )
    usd = sum(unit.usd or 0.0 for unit in units)
    return EvalRunReport(
        complete=True,
        stopped=None,
        skill=skill,
        model="anthropic:claude-sonnet-4-5",
        host="prowess",
        seed=7,
        spent=Spent(
            usd=usd,
            in_doubt_usd=0.06,
            calls=4 * len(units),
            input_tokens=8000 * len(units),
            output_tokens=600 * len(units),
        ),
        units=tuple(units),
        summary=summary,
        iteration="invoice-check-workspace/iteration-1",
    )


def transcript(number: int, words: int = 30) -> RunTranscript:
    """Return a short transcript with one call."""
    call = TranscriptCall(
        id="1",
        name="Read",
        arguments={"file_path": f"invoices/{number}.csv"},
        result="line,net,vat\n1,10.00,19\n",
        at=2,
    )
    answer = f"The sum of invoice {number} is 119.00, and line 4 has the wrong rate. " + "It is so. " * words
    return RunTranscript(
        host="prowess",
        form="session",
        ended="completed",
        messages=(
            TranscriptMessage(role="user", text=f"Check invoice {number}.", at=1),
            TranscriptMessage(role="assistant", text=answer, at=3),
        ),
        calls=(call,),
        usage=Usage(),
    )


def _unit(name: str, configuration: str, run: int, share: float, random: Random) -> UnitResult:
    passed = random.random() < share
    return UnitResult(
        id=f"{name}/{configuration}/run-{run}",
        eval=name,
        configuration=configuration,
        run=run,
        outcome="passed" if passed else "failed",
        assertions=(
            GradedAssertion(
                text="The sum is 119.00",
                type="text",
                passed=passed,
                evidence="the answer has 119.00" if passed else "the answer has 118.99",
            ),
            GradedAssertion(text="The answer is polite", type="judge", passed=True, evidence="'Here is the sum'"),
        ),
        seconds=round(3 + 4 * random.random(), 2),
        tokens=8600,
        usd=0.0178,
        activated=configuration == WITH_SKILL,
        directory=f"{name}/{configuration}/run-{run}",
        transcript="transcript.jsonl",
    )


def _names(units: list[UnitResult]) -> list[str]:
    return list(dict.fromkeys(unit.configuration for unit in units))


def _evals(units: list[UnitResult]) -> list[str]:
    return list(dict.fromkeys(unit.eval for unit in units))


def _rate(units: list[UnitResult], name: str, configuration: str) -> float:
    chosen = [
        one.outcome == "passed"
        for one in units
        if one.counted and (one.eval, one.configuration) == (name, configuration)
    ]
    return sum(chosen) / max(1, len(chosen))


def _summary(units: list[UnitResult]) -> ConfigurationSummary:
    counted = [unit for unit in units if unit.counted]
    passed = sum(unit.outcome == "passed" for unit in counted)
    rate = rate_of(passed, len(counted))
    return ConfigurationSummary(
        runs=len(units),
        passed=passed,
        failed=len(counted) - passed,
        errors=sum(unit.outcome == "error" for unit in units),
        not_run=sum(unit.outcome == "not_run" for unit in units),
        contaminated=sum(unit.contaminated is not None for unit in units),
        rate=rate.rate,
        low=rate.low,
        high=rate.high,
        assertions_passed=rate.rate,
    )


HOSTILE = (
    "\"'><script>alert(1)</script></style></title></details><img src=//x.test onerror=alert(1)>"
    "{{7*7}}\0\x1b[31m\u202e\ud800"
)


def hostile(runs: int = 500, *, evals: int = 500, long: int = 40) -> EvalRunReport:
    """Return a report in which every text is markup, control characters and long."""
    text = HOSTILE * long
    units = [
        UnitResult(
            id=f"{text}{number}",
            eval=f"{number % evals}{text}",
            configuration=(WITHOUT_SKILL, WITH_SKILL, text)[number % 3],
            run=number,
            outcome=("failed", "error", "passed")[number % 3],
            reason=text,
            assertions=tuple(
                GradedAssertion(text=text, type=text, passed=bool(place), evidence=text) for place in (0, 1)
            ),
            contaminated=text if number % 7 == 0 else None,
            transcript=text,
        )
        for number in range(runs)
    ]
    weak = tuple(WeakAssertion(eval=text, text=text, kind="suspect") for _ in range(200))
    report = replace(reported(units, skill=text), model=text, host=text, iteration=text)
    gates = tuple(GateResult(name=text, wanted=0.5, value=None, passed=False) for _ in range(3))
    return replace(report, summary=replace(report.summary, weak=weak, faults=(text,) * 50, gates=gates))


def hostile_transcript() -> RunTranscript:
    """Return a transcript of the same kind."""
    text = HOSTILE * 40
    call = TranscriptCall(id=text, name=text, arguments={text: text}, result=text, failed=True, agent=text, at=1)
    message = TranscriptMessage(role="assistant", text=text, at=2)
    return RunTranscript(host=None, form=None, ended="cut", messages=(message,) * 50, calls=(call,) * 50)
