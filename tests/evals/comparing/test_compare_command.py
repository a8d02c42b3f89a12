"""`prowess eval compare` with a judge on loopback: what is paid, what is kept, and what is printed."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.evals.campaigns.provider import JUDGE, ScriptedProvider
from tests.evals.comparing.test_blind_judge import by_text, iteration
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.evals.campaigns.provider import Answer, Request


def judging(request: Request) -> Answer:
    return by_text(json.loads(request["messages"][-1]["content"]))


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(judging) as serving:
        yield serving


@pytest.fixture
def place(tmp_path: Path) -> Path:
    iteration(tmp_path / "iteration-1", {"sums": ["11", "12"], "talks": ["12"], "ends": ["1"]})
    iteration(tmp_path / "iteration-2", {"sums": ["12", "12"], "talks": ["11"]})
    return tmp_path


def compare(provider: ScriptedProvider, place: Path, *words: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [prowess(), "eval", "compare", "iteration-1", "iteration-2", "--judge", JUDGE, *words],
        cwd=place, env={**os.environ, **provider.environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.proves("evals.grading.blind")
def test_both_orders_are_asked_and_the_same_comparison_pays_nothing_twice(
    provider: ScriptedProvider, place: Path
) -> None:
    code, text, _ = compare(provider, place, "--price", "1/2", "--json")
    found: dict[str, Any] = json.loads(text)
    assert (code, found["complete"], len(provider.requests)) == (0, True, 6)
    assert [(pair["eval"], pair["run"], pair["better"]) for pair in found["pairs"]] == [
        ("sums", 1, "b"), ("sums", 2, "equal"), ("talks", 1, "a"),
    ]  # fmt: skip
    assert (found["alone"], found["not_judged"]) == (["ends/run-1"], [])
    assert (found["summary"]["a"], found["summary"]["b"], found["summary"]["equal"]) == (1, 1, 1)
    assert found["spent"]["usd"] == pytest.approx(6 * 120 / 1e6)
    assert not any("iteration" in json.dumps(request) for request in provider.requests)
    again = json.loads(compare(provider, place, "--price", "1/2", "--json")[1])
    assert (again["pairs"], len(provider.requests)) == (found["pairs"], 6)
    compare(provider, place, "--seed", "1")
    assert len(provider.requests) == 12


def test_a_cap_leaves_pairs_and_the_same_command_goes_on(provider: ScriptedProvider, place: Path) -> None:
    code, text, _ = compare(provider, place, "--max-calls", "3", "--jobs", "1", "--json")
    found = json.loads(text)
    assert (code, found["stopped"], len(found["pairs"]), len(provider.requests)) == (5, "call_cap", 1, 3)
    code, text, _ = compare(provider, place, "--max-calls", "3", "--jobs", "1")
    assert (code, len(provider.requests)) == (5, 3)
    assert "not judged: 2 pairs; raise the cap to continue\n" in text
    code, text, _ = compare(provider, place, "--max-calls", "9")
    assert (code, len(provider.requests)) == (0, 6)
    assert text.splitlines()[:3] == [
        "sums run 1: b: it is right", "sums run 2: equal", "talks run 1: a: it is right",
    ]  # fmt: skip
    assert "a 1, b 1, equal 1, of which by place 0\n" in text


def test_a_failing_judge_makes_errors(place: Path) -> None:
    with ScriptedProvider(lambda _: 400) as broken:
        code, text, _ = compare(broken, place, "--json")
    assert (code, json.loads(text)["summary"]["errors"]) == (0, 3)


def test_an_answer_that_cannot_be_read_is_asked_for_again_at_once_and_by_the_next_command(place: Path) -> None:
    bad: list[str] = ["I cannot say."]

    def rule(request: Request) -> Answer:
        return bad.pop() if bad else judging(request)

    with ScriptedProvider(rule) as provider:
        found = json.loads(compare(provider, place, "--jobs", "1", "--json")[1])
        assert (found["summary"]["errors"], found["spent"]["calls"], len(provider.requests)) == (0, 7, 7)

        bad += ["I cannot say."] * 6  # for the first order of each pair, twice
        found = json.loads(compare(provider, place, "--jobs", "1", "--seed", "1", "--json")[1])
        assert (found["summary"]["errors"], found["spent"]["calls"]) == (3, 6)
        again = json.loads(compare(provider, place, "--jobs", "1", "--seed", "1", "--json")[1])
        assert (again["summary"]["errors"], again["spent"]["calls"]) == (0, 6 + 6)
        whole = json.loads(compare(provider, place, "--jobs", "1", "--seed", "1", "--json")[1])
        assert (whole["pairs"], whole["spent"]["calls"]) == (again["pairs"], 12)


def test_faults_are_one_sentence(provider: ScriptedProvider, place: Path) -> None:
    (place / "iteration-2" / "sums").rename(place / "iteration-2" / "other")
    (place / "iteration-2" / "talks").rename(place / "iteration-2" / "more")
    for words, reason in (((), "have no eval in common"), (("--max-calls", "0"), "above 0")):
        code, text, errors = compare(provider, place, *words)
        assert (code, text, errors.count("\n")) == (2, "", 1)
        assert reason in errors
    assert not list(place.glob("comparison-*"))
