"""Blind comparison of two iterations: what the judge sees, both orders, and what a biased judge cannot do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from prowess.agent.model import TextDelta
from prowess.errors import InvalidArgumentsError
from prowess.evals.comparing.blind_judge import BLIND_INSTRUCTIONS, BlindJudge, JudgedPair, blind_summary
from prowess.evals.comparing.run_pairs import RunsPlace, paired_runs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from prowess.agent import ModelRequest, Part
    from prowess.evals.comparing.run_pairs import RunPair


class AnsweringModel:
    """Answers each request by a function of the JSON document that it is asked with."""

    name = "scripted:judge"

    def __init__(self, answer: Callable[[dict[str, Any]], str]) -> None:
        self._answer = answer
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        self.requests.append(request)
        yield TextDelta(text=self._answer(json.loads(request.messages[0].text)))


def better(place: str) -> str:
    return f'The {place} one. {{"better": "{place}", "reason": "it is\\nright"}}'


def by_text(question: dict[str, Any]) -> str:
    right = ["12" in question[side]["files"]["answer.md"] for side in ("first", "second")]
    return better("equal" if right[0] == right[1] else "first" if right[0] else "second")


def iteration(folder: Path, answers: dict[str, list[str]], configuration: str = "with_skill") -> Path:
    for name, texts in answers.items():
        for number, text in enumerate(texts, 1):
            run = folder / name / configuration / (f"run-{number}" if len(texts) > 1 else "")
            (run / "outputs").mkdir(parents=True)
            (run / "outputs" / "answer.md").write_text(text)
            (run / "timing.json").write_text('{"total_tokens": 1}')
        (folder / name / "eval_metadata.json").write_text(json.dumps({"eval_id": 1, "prompt": f"Do {name}"}))
    return folder


def judged(a: Path, b: Path, model: AnsweringModel, seed: int = 0) -> list[JudgedPair]:
    async def ask() -> list[JudgedPair]:
        judge = BlindJudge(model, seed=seed)
        return [await judge.compare(pair) for pair in pairs_of(a, b)]

    return anyio.run(ask)


def pairs_of(a: Path, b: Path) -> tuple[RunPair, ...]:
    return paired_runs(RunsPlace.parse(str(a)), RunsPlace.parse(str(b))).pairs


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    first = iteration(tmp_path / "iteration-1", {"sums": ["11", "12"], "talks": ["12"], "ends": ["1"]})
    second = iteration(tmp_path / "iteration-2", {"sums": ["12", "12"], "talks": ["11"], "other": ["1"]})
    return first, second


def test_a_choice_is_that_of_both_orders(folders: tuple[Path, Path]) -> None:
    model = AnsweringModel(by_text)
    found = judged(*folders, model)
    assert [(pair.eval, pair.run, pair.better) for pair in found] == [
        ("sums", 1, "b"), ("sums", 2, "equal"), ("talks", 1, "a"),
    ]  # fmt: skip
    assert all({vote.order for vote in pair.votes} == {"ab", "ba"} for pair in found)
    assert not any(pair.biased for pair in found)
    assert found[0].votes[0].reason == "it is right"
    summary = blind_summary(found)
    assert (summary.a, summary.b, summary.equal, summary.errors, summary.biased) == (1, 1, 1, 0, 0)
    assert (summary.sign.better, summary.sign.worse) == (1, 1)


@pytest.mark.parametrize("place", ["first", "second"])
def test_a_judge_that_prefers_a_place_decides_nothing(folders: tuple[Path, Path], place: str) -> None:
    found = judged(*folders, AnsweringModel(lambda _: better(place)))
    assert [(pair.better, pair.biased) for pair in found] == [("equal", True)] * 3
    assert blind_summary(found).biased == 3


@pytest.mark.proves("evals.grading.blind")
def test_the_judge_cannot_tell_the_versions_apart(folders: tuple[Path, Path]) -> None:
    model = AnsweringModel(by_text)
    found = judged(*folders, model)
    assert {request.instructions for request in model.requests} == {BLIND_INSTRUCTIONS}
    for request in model.requests:
        text = f"{request.instructions}{request.messages}"
        assert not [word for word in ("iteration", "with_skill", "old", "new", "run-1", "baseline") if word in text]
    assert json.loads(model.requests[0].messages[0].text)["task"] == "Do sums"
    drawn = {judged(*folders, AnsweringModel(by_text), seed)[0].votes[0].order for seed in range(8)}
    assert drawn == {"ab", "ba"}
    again = judged(*folders, AnsweringModel(by_text))
    assert again == found


def test_the_sign_test_counts_evals_and_not_their_runs() -> None:
    """Runs of one eval are not independent: three equal choices are one observation."""
    three = [JudgedPair(eval="sums", run=run, better="b") for run in (1, 2, 3)]
    summary = blind_summary(three)
    assert (summary.b, summary.sign.better, summary.sign.worse, summary.sign.p) == (3, 1, 0, 1.0)
    mixed = [*three, JudgedPair(eval="talks", run=1, better="a"), JudgedPair(eval="talks", run=2, better="b")]
    sign = blind_summary(mixed).sign
    assert (sign.better, sign.worse, sign.equal) == (1, 0, 1)


@pytest.mark.parametrize("answer", ["", "first", "{", '{"better": "a"}', '{"better": ["first"]}', "[1]", "{}" * 3])
def test_an_unreadable_answer_is_an_error_of_its_pair(folders: tuple[Path, Path], answer: str) -> None:
    (first, *_) = judged(*folders, AnsweringModel(lambda _: answer))
    assert first.better is None
    assert "expected a JSON object with `better`" in (first.error or "")
    assert blind_summary([first]).errors == 1
    assert blind_summary([first]).sign.p == 1.0


def test_runs_are_paired_by_eval_and_number_and_the_others_are_named(folders: tuple[Path, Path]) -> None:
    found = paired_runs(*(RunsPlace.parse(str(folder)) for folder in folders))
    assert [(pair.eval, pair.run) for pair in found.pairs] == [("sums", 1), ("sums", 2), ("talks", 1)]
    assert found.alone == ("ends/run-1", "other/run-1")
    baseline = iteration(folders[0], {"sums": ["13", "13"]}, "without_skill")
    found = paired_runs(RunsPlace.parse(str(baseline)), RunsPlace.parse(f"{baseline}@without_skill"))
    assert [(pair.eval, pair.b.files["answer.md"]) for pair in found.pairs] == [("sums", "13"), ("sums", "13")]


def result(folder: Path, name: str, number: int, **changes: object) -> None:
    unit = {"id": "x", "eval": name, "configuration": "with_skill", "run": number, "outcome": "failed", **changes}
    (folder / name / "with_skill" / f"run-{number}" / "unit.json").write_text(json.dumps(unit))


def test_runs_without_a_result_are_named_and_not_compared(tmp_path: Path) -> None:
    first = iteration(tmp_path / "iteration-1", {"sums": ["1"] * 6})
    second = iteration(tmp_path / "iteration-2", {"sums": ["1"] * 6})
    result(first, "sums", 1, outcome="error", reason="the provider gave no answer")
    result(second, "sums", 2, outcome="passed", contaminated="it read SKILL.md")
    result(first, "sums", 3, outcome="passed")
    (second / "sums" / "with_skill" / "run-4" / "unit.json").write_text("{")
    for folder in (first, second):
        result(folder, "sums", 5, outcome="error")
    found = paired_runs(RunsPlace.parse(str(first)), RunsPlace.parse(str(second)))
    assert [pair.run for pair in found.pairs] == [3, 6]
    assert found.alone == tuple(f"sums/run-{number}" for number in (1, 2, 4, 5))

    (first / "campaign.json").write_text("{}")  # of `eval run`, which writes the result last
    found = paired_runs(RunsPlace.parse(str(first)), RunsPlace.parse(str(second)))
    assert [pair.run for pair in found.pairs] == [3]
    result(first, "sums", 3, outcome="error")
    with pytest.raises(InvalidArgumentsError, match="has no finished run"):
        paired_runs(RunsPlace.parse(str(first)), RunsPlace.parse(str(second)))


def test_what_cannot_be_paired_is_one_sentence(folders: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = (RunsPlace.parse(str(folder)) for folder in folders)
    (tmp_path / "empty").mkdir()
    for other, reason in (
        (RunsPlace.parse(str(tmp_path / "empty")), "has no finished run of the configuration 'with_skill'"),
        (RunsPlace.parse(f"{folders[1]}@nothing"), "has no finished run of the configuration 'nothing'"),
        (RunsPlace.parse(str(tmp_path / "none")), "cannot be read: No such file"),
        (RunsPlace.parse(str(iteration(tmp_path / "far", {"x": ["1"]}))), "have no eval in common"),
    ):
        with pytest.raises(InvalidArgumentsError, match=reason):
            paired_runs(first, other)
    assert second.configuration == "with_skill"


def test_foreign_outputs_are_cut_and_links_are_not_followed(tmp_path: Path) -> None:
    folder = iteration(tmp_path / "iteration-1", {"sums": ["1"]})
    outputs = folder / "sums" / "with_skill" / "outputs"
    (outputs / "long.txt").write_text("x" * 100_000)
    (outputs / "image.png").write_bytes(b"\x89PNG\0\xff")
    (outputs / "deep").mkdir()
    (outputs / "deep" / "b.txt").write_bytes(b"\xff")
    (outputs / "link.txt").symlink_to("/etc/hostname")
    (pair,) = pairs_of(folder, folder)
    assert set(pair.a.files) == {"answer.md", "deep/b.txt", "image.png", "long.txt"}
    assert pair.a.files["long.txt"].endswith("[cut here: 76000 more bytes]")
    assert pair.a.files["image.png"] == "[binary, 6 bytes]"
    for number in range(20):
        (outputs / f"more-{number}.txt").write_text("")
    assert pairs_of(folder, folder)[0].a.more == 12
