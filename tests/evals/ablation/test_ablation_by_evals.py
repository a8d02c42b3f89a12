"""Ablation with a model on loopback that obeys, mostly."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli.dispatch import run
from tests.evals.campaigns.provider import MODEL, ScriptedProvider, text_of
from tests.evals.campaigns.skills import an_eval, skill_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.evals.campaigns.provider import Answer, Request

pytestmark = pytest.mark.unmeasured
FULL = bool(os.environ.get("PROWESS_ABLATION"))
SENTENCES, NEEDED, EVALS, RUNS = (30, 18, 6, 5) if FULL else (5, 3, 2, 3)


def _sentence(number: int) -> str:
    return f"In a task of kind {'abcdefghijklmnopqrstuvwxyzABCD'[number]}q say marker{number}z aloud."


def _obedient(noise: float, seed: int) -> Callable[[Request], Answer]:
    """Return a rule: load the skill, then say the markers of its sentences; noise forgets or invents some."""
    draw = random.Random(seed)

    def rule(request: Request) -> Answer:
        text = text_of(request)
        if "aloud" not in text:
            return [("skills_load", {"names": ["sums"]})]
        said = [f"marker{n}z" for n in range(SENTENCES) if (f"marker{n}z" in text) != (draw.random() < noise)]
        return " ".join(said)

    return rule


def _skill(place: Path, needed: list[int]) -> Path:
    """Return a skill of which the evals test the needed sentences, some in each."""
    evals = [
        an_eval(
            part + 1,
            *({"text": f"says {n}", "type": "contains_phrase", "phrase": f"marker{n}z"} for n in needed[part::EVALS]),
        )
        for part in range(EVALS)
    ]
    return skill_at(place, *evals, body="\n".join(f"- {_sentence(n)}" for n in range(SENTENCES)))


def _run(provider: ScriptedProvider, skill: Path, *words: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "prowess", "eval", "ablate", str(skill), "--model", MODEL, "--json", *words]
    done = subprocess.run(
        command, env={**os.environ, **provider.environment}, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def _found(document: dict[str, Any]) -> list[int]:
    return [at for at, unit in enumerate(document["units"]) if unit["verdict"] == "needed"]


@pytest.mark.parametrize("noise", [0.0, 0.1] if FULL else [0.0])
def test_the_needed_sentences_are_found_with_fewer_calls_than_the_plain_plan(tmp_path: Path, noise: float) -> None:
    needed = sorted(random.Random(7).sample(range(SENTENCES), NEEDED))
    skill = _skill(tmp_path, needed)
    with ScriptedProvider(_obedient(noise, 3)) as provider:
        code, document = _run(provider, skill, "--runs", str(RUNS), "--jobs", "2")
    assert code == 0, document
    found = _found(document)
    plain = (SENTENCES + 1) * EVALS * RUNS * 2  # two calls in each run
    print(f"noise {noise}: needed {len(set(found) & set(needed))} of {NEEDED}, false {len(set(found) - set(needed))},")  # noqa: T201 -- the figures of a full run
    print(f"calls {len(provider.requests)} of {plain}: {len(provider.requests) / plain:.2f}")  # noqa: T201 -- as above
    if noise:
        assert len(set(found) & set(needed)) >= NEEDED - 2
        assert len(set(found) - set(needed)) <= 1
    else:
        assert found == needed
    assert len(provider.requests) == document["spent"]["calls"]
    assert len(provider.requests) <= (0.6 if FULL else 0.85) * plain
    first = document["units"][needed[0]]
    assert first["failing"] == [f"1: says {needed[0]}"]
    assert first["high"] < 0 or not FULL


def test_a_reference_that_no_run_reads_is_not_paid_for(tmp_path: Path) -> None:
    skill = _skill(tmp_path, [0, 1])
    (skill / "references").mkdir()
    (skill / "references" / "more.md").write_text("This reference is never opened by anybody at all.\n")
    with ScriptedProvider(_obedient(0.0, 1)) as provider:
        _, document = _run(provider, skill, "--by", "section", "--runs", "2")
    last = document["units"][-1]
    assert (last["path"], last["verdict"], last["runs"]) == ("references/more.md", "no_effect", 0)
    assert document["units"][0]["verdict"] == "needed"


def test_a_reference_is_tried_if_not_all_requests_are_known(tmp_path: Path) -> None:
    skill = _skill(tmp_path, [0])
    (skill / "references").mkdir()
    (skill / "references" / "more.md").write_text("This reference is never opened by anybody at all.\n")
    with ScriptedProvider(_obedient(0.0, 1)) as provider:
        words = ("--by", "file", "--runs", "2")
        _, document = _run(provider, skill, *words, "--max-calls", "4")  # all of the whole skill
        min((tmp_path / "sums-ablation/iteration-1").rglob("requests/*.z")).unlink()
        _, document = _run(provider, skill, *words, "--resume")
    last = document["units"][-1]
    assert last["path"] == "references/more.md"
    assert last["runs"] > 0


def test_a_cap_ends_an_ablation_which_is_then_resumed(tmp_path: Path) -> None:
    skill = _skill(tmp_path, [0, 1])
    with ScriptedProvider(_obedient(0.0, 1)) as provider:
        code, document = _run(provider, skill, "--runs", "2", "--max-calls", "1")  # not even the whole skill
        assert (code, {unit["verdict"] for unit in document["units"]}, document["score"]) == (5, {"unsure"}, None)
        assert document["without_verdict"] == []
        provider.requests.clear()
        shutil.rmtree(tmp_path / "sums-ablation")
        code, document = _run(provider, skill, "--runs", "2", "--max-calls", "13")
        assert (code, document["stopped"], document["spent"]["calls"]) == (5, "call_cap", 13)
        assert {unit["verdict"] for unit in document["units"]} == {"unsure"}
        assert document["score"] is None
        before = len(provider.requests)
        code, document = _run(provider, skill, "--runs", "2", "--resume")
        assert code == 0
        assert before == 13
        assert len(provider.requests) == document["spent"]["calls"]
        assert _found(document) == [0, 1]


def test_an_unknown_price_and_assertions_without_a_judge_are_told(tmp_path: Path) -> None:
    found = an_eval(1, {"text": "says it", "type": "contains_phrase", "phrase": "marker0z"}, "It is polite.")
    skill = skill_at(tmp_path, found, body=_sentence(0))
    words = [sys.executable, "-m", "prowess", "eval", "ablate", str(skill), "--model", MODEL, "--runs", "1"]
    with ScriptedProvider(_obedient(0.0, 1)) as provider:
        environment = {**os.environ, **provider.environment}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    told = "not graded, and counted in no outcome: 1 assertion of eval 1 ('It is polite.'); it needs a judge"
    notes = done.stderr.splitlines()
    assert [line for line in (notes[0], notes[-1]) if told not in line] == []
    assert "1 run, an unknown amount spent: 1/with_skill/run-1: passed" in done.stderr
    assert "$0.00" not in done.stdout + done.stderr
    calls = len(provider.requests)
    assert done.stdout.splitlines()[-2] == f"{calls} calls of unknown price"
    assert done.stdout.splitlines()[0].startswith("needed    -100%  SKILL.md:5")
    document = json.loads((tmp_path / "sums-ablation/iteration-1/ablation.json").read_text())
    assert [(one["eval"], one["text"]) for one in document["ungraded"]] == [("1", "It is polite.")]


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, {"text": "x", "type": "contains_phrase", "phrase": "never"}), body="One.")
    with ScriptedProvider(lambda _request: "no") as provider:
        code, document = _run(provider, skill, "--runs", "1")
        assert code == 2
        assert re.search("no assertion passes reliably with the whole skill", document["error"])
        code, document = _run(provider, skill, "--tests")
        assert code == 2
        assert "without a model; leave out --model" in document["error"]


@pytest.mark.parametrize("option", ["--seed 0", "--jobs 2", "--with other", "--runs 3", "--resume", "--max-calls 1"])
def test_an_option_that_tests_do_not_use_is_named(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skill = skill_at(tmp_path, body="One.")
    assert run(["eval", "ablate", str(skill), "--tests", *option.split()]) == 2
    assert f"leave out {option.split(maxsplit=1)[0]}\n" in capsys.readouterr().err


def test_evals_that_would_not_notice_a_gutted_skill_are_named(tmp_path: Path) -> None:
    shared = "This line stands in both of the files of the skill."
    notices = an_eval("notices", {"text": "says it", "type": "contains_phrase", "phrase": "marker3z"})
    silent = an_eval("silent", {"text": "says done", "type": "contains_phrase", "phrase": "done"})
    skill = skill_at(tmp_path, notices, silent, body=f"{_sentence(3)}\n\n{shared}")
    (skill / "references").mkdir()
    (skill / "references" / "more.md").write_text(f"{shared}\n\nNobody reads this line of the reference.\n")

    def rule(request: Request) -> Answer:
        if not any(message["role"] == "assistant" for message in request["messages"]):
            return [("skills_load", {"names": ["sums"]})]
        return "It is done: marker3z." if "marker3z" in text_of(request) else "It is done."

    with ScriptedProvider(rule) as provider:
        code, document = _run(provider, skill, "--by", "file", "--runs", "3", "--jobs", "2")
    assert code == 0, document
    assert [(one["eval"], one["verdict"], one["removals"]) for one in document["evals"]] == [
        ("notices", "notices", 1),
        ("silent", "silent", 0),
    ]
    body, reference = document["units"]
    assert (body["verdict"], body["text"].startswith("In a task")) == ("needed", True)
    # What both files hold was sent, but nothing of the reference alone.
    assert (reference["path"], reference["verdict"], reference["runs"]) == ("references/more.md", "no_effect", 0)
