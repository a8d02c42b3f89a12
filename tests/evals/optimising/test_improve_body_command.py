"""`prowess eval improve --body` with our own agent and a provider on loopback that counts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.evals.campaigns.provider import MODEL, ScriptedProvider, text_of
from tests.evals.campaigns.skills import an_eval, skill_at
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.evals.campaigns.provider import Answer, Request

HEAD = b"\xef\xbb\xbf---\r\n# A comment.\r\nname: sums\r\ndescription: 'Sums rows.' # as it was\r\n---\r\n\r\n"
BODY = "# Sums\n\nAdd the rows.\n\nSee [the units](references/units.md)."
BETTER = BODY.replace("Add the rows.", "Add the rows.\nName the currency.")
COLOURS = ("red", "blue", "green", "grey", "black")


class Writer:
    """Answers proposals from a list; as an agent it loads the skill, and says EUR if its body asks for currencies."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.questions: list[dict[str, Any]] = []

    def __call__(self, request: Request) -> Answer:
        text = text_of(request)
        if "You improve the instructions" in text:
            self.questions.append(json.loads(str(request["messages"][-1]["content"])))
            found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            return found if isinstance(found, str) else json.dumps(found)
        if "Add the rows." not in text:
            return [("skills_load", {"names": ["sums"]})]
        words = ["12"] + ["EUR"] * ("currency" in text) + ["short"] * ("Be brief" in text)
        return " ".join(words)


def an_answer(body: str) -> dict[str, str]:
    return {"body": body}


@pytest.fixture
def skill(memory_path: Path) -> str:
    wants = {"text": "names the unit", "type": "contains_phrase", "phrase": "EUR"}
    adds = {"text": "is the sum", "type": "contains_phrase", "phrase": "12"}
    brief = {"text": "is short", "type": "not_contains_phrase", "phrase": "short"}
    evals = [an_eval(number, adds, wants, prompt=f"Task {colour}: sum") for number, colour in enumerate(COLOURS, 1)]
    evals.append(an_eval(6, adds, brief, prompt="Task six: sum"))
    made = skill_at(memory_path, *evals)
    (made / "references").mkdir()
    (made / "references" / "units.md").write_text("Units.\n")
    (made / "SKILL.md").write_bytes(HEAD + BODY.replace("\n", "\r\n").encode() + b"\r\n\r\n")
    return str(made)


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(Writer(an_answer(BETTER))) as serving:
        yield serving


def improve(provider: ScriptedProvider | None, *words: str, code: int = 0) -> dict[str, Any]:
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "key"}
    model = () if "--replay" in words else ("--model", MODEL)
    ran = subprocess.run(
        [prowess(), "eval", "improve", *words, "--body", *model, "--json"],
        env={**os.environ, **(address if provider is None else provider.environment)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == code, (ran.returncode, ran.stdout[-800:], ran.stderr)
    assert "Traceback" not in ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout) if ran.stdout else {"error": ran.stderr}
    return found


def test_a_better_body_is_written_and_everything_around_it_stays_byte_for_byte(skill: str) -> None:
    writer = Writer(an_answer(BETTER))
    with ScriptedProvider(writer) as provider:
        report = improve(provider, skill, "--price", "1/2", "--write")
        calls = len(provider.requests)
    assert (report["part"], report["complete"], report["written"]) == ("body", True, True)
    assert (report["chosen"]["body"], report["lost"], report["leaked"], report["notes"]) == (BETTER, [], [], [])
    assert report["start"]["validation"]["rate"] < report["chosen"]["validation"]["rate"] == 1.0
    assert "+Name the currency.\r\n" in report["diff"]
    assert report["spent"]["calls"] == calls
    assert Path(skill, "SKILL.md").read_bytes() == HEAD + BETTER.replace("\n", "\r\n").encode() + b"\r\n\r\n"

    split = json.loads((Path(skill).parent / "sums-improve-body" / "eval-split.json").read_text())
    prompts = {str(number): f"Task {colour}: sum" for number, colour in enumerate((*COLOURS, "six"), 1)}
    asked = json.dumps(writer.questions)
    assert any(prompts[ident] in asked for ident in split["train"])
    assert not any(prompts[ident] in asked for ident in split["validation"])
    (question,) = writer.questions
    assert [one["wanted"] for one in question["failed_tasks"][0]["wrong"]] == ["names the unit"]
    assert question["failed_tasks"][0]["an_answer"] == "12"


def test_a_cap_is_kept_and_the_search_is_resumed_and_replayed(provider: ScriptedProvider, skill: str) -> None:
    before = Path(skill, "SKILL.md").read_bytes()
    capped = improve(provider, skill, "--runs", "1", "--max-calls", "15", "--write", code=5)
    assert (capped["complete"], capped["stopped"], capped["written"]) == (False, "call_cap", False)
    assert capped["spent"]["calls"] == len(provider.requests) == 15
    assert Path(skill, "SKILL.md").read_bytes() == before
    assert "--runs 1, not 2" in improve(None, skill, "--runs", "2", "--resume", code=2)["error"]
    other = improve(None, skill, "--runs", "1", "--resume", "--proposer", "openai-chat:other", code=4)["error"]
    assert "proposer" in other
    whole = improve(provider, skill, "--runs", "1", "--resume")
    assert whole["iteration"] == capped["iteration"]
    assert whole["spent"]["calls"] == len(provider.requests)
    replayed = improve(None, skill, "--replay", whole["iteration"])
    assert (replayed["chosen"], replayed["diff"]) == (whole["chosen"], whole["diff"])


def test_answers_that_may_not_be_a_body_are_refused_with_the_reason(skill: str) -> None:
    hostile = [
        an_answer("---\nname: other\n---\n" + BODY),
        an_answer(f"```markdown\n{BETTER}\n```"),
        an_answer(" \n"),
        an_answer("x" * 10_000_000),
        "no JSON at all",
        an_answer(BETTER + "\n\nRight \u202e hidden."),
        an_answer(BETTER + "\n\n!`curl http://x/y`"),
        an_answer(BETTER.replace("units.md", "missing.md")),
        an_answer(
            BETTER + "\n\nFor example: Task red: sum, Task blue: sum, Task green: sum, Task grey: sum, Task black: sum"
        ),
    ]
    with ScriptedProvider(Writer(*hostile)) as provider:
        report = improve(provider, skill, "--runs", "1", "--rounds", "3", code=1)
    reasons = [reason.split(";")[0].split(":")[0] for one in report["rounds"] for reason in one["refused"]]
    assert [one["outcome"] for one in report["rounds"]] == ["refused"] * 3
    assert reasons == [
        "it begins with front matter",
        "the whole text is in a code fence",
        "it is empty",
        "it has 10000000 characters, at most 100000 are allowed",
        "the answer is no JSON object with `body`",
        "it has control or invisible characters that the first body has not",
        "it adds the command 'curl http",
        "prowess check",
        *reasons[8:],
    ]
    assert reasons[8:]
    assert set(reasons[8:]) == {"it copies words of training"}
    assert {leak["source"] for leak in report["leaked"]} == {"request"}
    assert (report["chosen"], report["diff"]) == (None, "")


def test_an_eval_that_is_lost_is_named_and_words_of_an_assertion_are_reported(skill: str) -> None:
    text = Path(skill, "evals", "evals.json").read_text(encoding="utf-8")
    Path(skill, "evals", "evals.json").write_text(text.replace("names the unit", "the answer names its unit of money"))
    better = BETTER + "\nBe brief. The answer names its unit of money."
    with ScriptedProvider(Writer(an_answer(better))) as provider:
        report = improve(provider, skill, "--runs", "1", "--rounds", "1")
    assert [lost["eval"] for lost in report["lost"]] == ["6"]
    assert report["leaked"][0]["source"] == "assertion"
    assert report["leaked"][0]["text"] == "the answer names its unit of money"
    assert report["chosen"] is not None


def test_too_few_evals_and_options_that_do_not_fit_are_refused(skill: str, tmp_path: Path) -> None:
    few = skill_at(tmp_path / "few", an_eval(1, {"text": "t", "type": "contains_phrase", "phrase": "x"}), an_eval(2))
    error = improve(None, str(few), code=2)["error"]
    assert "has 1 evals that can be graded without a person, and --body needs at least 5, three for training" in error
    assert "eval 2: its assertions need a judge; name one with --judge MODEL" in error
    assert "--set names a trigger set" in improve(None, skill, "--set", "x.json", code=2)["error"]
    assert "--host match does no task" in improve(None, skill, "--host", "match", code=2)["error"]
    assert not list(tmp_path.glob("**/iteration-*"))
