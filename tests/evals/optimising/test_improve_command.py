"""`prowess eval improve` with our own agent and a provider on loopback that counts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.evals.campaigns.provider import MODEL, ScriptedProvider, text_of
from tests.evals.triggers.planted import make_triggered
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.evals.campaigns.provider import Answer, Request

QUERIES = [
    *((f"add up the {word} rows now", True) for word in ("red", "blue", "green", "grey")),
    *((f"what is the total of {word}", True) for word in ("may", "june", "july", "august")),
    *((f"sing a {word} song", False) for word in ("short", "long", "sad")),
]
BETTER = "Sums rows of files. Gives each total."
NAMES_KEPT = "# A comment.\r\nname: sums\r\ndescription: 'Sums rows.' # as it was\r\nlicense:   MIT\r\n"


class Writer:
    """Answers proposals from a list; as an agent it loads the skill for rows, and for totals if they are described."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.questions: list[dict[str, Any]] = []

    def __call__(self, request: Request) -> Answer:
        text = text_of(request)
        if "You improve the description" in text:
            self.questions.append(json.loads(str(request["messages"][-1]["content"])))
            found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            return json.dumps({"description": found})
        task = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
        if any(message["role"] == "assistant" for message in request["messages"]):
            return "Done."
        described = "rows" if "rows" in task else "total" if "total" in task else None
        described_in = json.dumps(request.get("tools", ())) + text.replace(task, "")
        if described is None or described not in described_in:
            return "Done."
        if "red" in task and "not red" in described_in:
            return "Done."
        return [("skills_load", {"names": ["sums"]})]


@pytest.fixture
def skill(tmp_path: Path) -> str:
    made = make_triggered(tmp_path, "sums", "Sums rows.", QUERIES)
    Path(made, "SKILL.md").write_bytes(f"---\r\n{NAMES_KEPT}---\r\nDo it.\r\n".encode())
    return made


@pytest.fixture
def writer() -> Writer:
    return Writer(BETTER)


@pytest.fixture
def provider(writer: Writer) -> Iterator[ScriptedProvider]:
    with ScriptedProvider(writer) as serving:
        yield serving


def improve(provider: ScriptedProvider | None, *words: str, code: int = 0) -> dict[str, Any]:
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "key"}
    model = () if "--replay" in words else ("--model", MODEL)
    ran = subprocess.run(
        [prowess(), "eval", "improve", *words, *model, "--json"],
        env={**os.environ, **(address if provider is None else provider.environment)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == code, (ran.returncode, ran.stdout[-800:], ran.stderr)
    assert "Traceback" not in ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout) if ran.stdout else {"error": ran.stderr}
    return found


@pytest.mark.proves("evals.trigger.selection")
def test_a_better_description_is_found_and_shown_as_a_diff(
    provider: ScriptedProvider, skill: str, writer: Writer
) -> None:
    before = Path(skill, "SKILL.md").read_bytes()
    report = improve(provider, skill, "--price", "1/2")
    assert report["complete"] is True
    assert report["chosen"]["description"] == BETTER
    assert report["chosen"]["validation"]["rate"] == 1.0
    assert report["start"]["validation"]["rate"] < 1.0
    assert "-description: 'Sums rows.' # as it was\r\n" in report["diff"]
    assert f"+description: {BETTER} # as it was\r\n" in report["diff"]
    assert (report["lost"], report["leaked"], report["written"]) == ([], [], False)
    assert report["spent"]["calls"] == len(provider.requests)
    assert Path(skill, "SKILL.md").read_bytes() == before
    train = set(json.loads((Path(skill).parent / "sums-workspace" / "trigger-split.json").read_text())["train"])
    shown = {one["request"] for question in writer.questions for one in question["wrong_decisions"]}
    assert shown
    assert shown <= train
    asked = json.dumps(writer.questions)
    assert not any(query in asked for query, _ in QUERIES if query not in train)


def test_write_changes_the_description_and_no_other_byte(provider: ScriptedProvider, skill: str) -> None:
    report = improve(provider, skill, "--runs", "1", "--write")
    wanted = f"---\r\n{NAMES_KEPT}---\r\nDo it.\r\n".replace("'Sums rows.'", BETTER).encode()
    assert Path(skill, "SKILL.md").read_bytes() == wanted
    assert report["written"] is True


def test_a_cap_is_kept_and_the_search_is_resumed_and_replayed(provider: ScriptedProvider, skill: str) -> None:
    capped = improve(provider, skill, "--runs", "1", "--max-calls", "12", "--write", code=5)
    assert (capped["complete"], capped["stopped"], capped["written"]) == (False, "call_cap", False)
    assert capped["spent"]["calls"] == len(provider.requests) == 12
    cut = improve(None, skill, "--replay", capped["iteration"], code=5)
    assert (cut["complete"], cut["stopped"], cut["start"]) == (False, "call_cap", capped["start"])
    whole = improve(provider, skill, "--runs", "1", "--resume")
    assert whole["iteration"] == capped["iteration"]
    assert whole["spent"]["calls"] == len(provider.requests)
    replayed = improve(None, skill, "--replay", whole["iteration"])
    assert (replayed["chosen"], replayed["diff"]) == (whole["chosen"], whole["diff"])
    Path(skill, "notes.md").write_text("New.", encoding="utf-8")
    stale = improve(None, skill, "--runs", "1", "--replay", whole["iteration"], code=1)
    assert "notes.md changed since" in stale["error_detail"]["message"]
    assert not Path(replayed["iteration"].replace("iteration-3", "iteration-4")).exists()


def test_copied_requests_and_unusable_texts_are_refused_and_named(skill: str) -> None:
    copied = [f"Sums rows. Also {query}." for query, wanted in QUERIES if wanted]
    writer = Writer("x" * 1025, "", "Gives a <b>total</b>.", " ".join(copied))
    with ScriptedProvider(writer) as provider:
        report = improve(provider, skill, "--runs", "1", "--rounds", "2", code=1)
    first, second = report["rounds"]
    reasons = [reason.split(",")[0] for reason in first["refused"]]
    assert reasons == ["it has 1025 characters", "it is empty", "it has a tag"]
    assert (first["outcome"], second["outcome"], report["chosen"], report["diff"]) == ("refused", "refused", None, "")
    train = {leak["query"] for leak in report["leaked"]}
    kept = json.loads((Path(skill).parent / "sums-workspace" / "trigger-split.json").read_text())
    assert train == {query for query, wanted in QUERIES if wanted} & set(kept["train"])


def test_a_request_that_is_lost_is_named(skill: str) -> None:
    with ScriptedProvider(Writer("Sums rows of files. Gives each total, not red.")) as provider:
        report = improve(provider, skill, "--runs", "1", "--rounds", "1")
    assert [(lost["query"], lost["should_trigger"]) for lost in report["lost"]] == [("add up the red rows now", True)]


def test_an_estimate_asks_no_model_but_the_one_that_writes(provider: ScriptedProvider, skill: str) -> None:
    report = improve(provider, skill, "--host", "match", "--rounds", "1", code=1)
    assert report["estimate"] is True
    assert all("You improve the description" in text_of(request) for request in provider.requests)


def test_options_that_cannot_be_used_leave_no_folder(skill: str, tmp_path: Path) -> None:
    assert "--price" in improve(None, skill, "--max-cost-usd", "1", code=2)["error"]
    assert "above 0" in improve(None, skill, "--max-calls", "0", code=2)["error"]
    assert "improve.json cannot be read" in improve(None, skill, "--replay", str(tmp_path), code=2)["error"]
    assert "is no skill" in improve(None, str(tmp_path / "nowhere"), code=2)["error"]
    assert not list((tmp_path / "sums-workspace").glob("iteration-*"))


def test_runs_that_are_all_errors_are_no_success_and_the_search_can_go_on(
    provider: ScriptedProvider, skill: str
) -> None:
    failed = improve(None, skill, "--runs", "1", code=1)
    assert (failed["complete"], failed["nothing_failed"], failed["rounds"]) == (False, False, [])
    (note,) = failed["notes"]
    assert note.startswith("every first run of training ended with an error: ")
    assert improve(provider, skill, "--runs", "1", "--resume")["chosen"]["description"] == BETTER


def test_a_training_request_without_a_run_that_counts_did_not_pass(skill: str) -> None:
    rule = Writer("Sums rows. Totals.")

    def half(request: Request) -> Answer:
        return 400 if "total" in json.dumps(request["messages"]) else rule(request)

    with ScriptedProvider(half) as provider:
        report = improve(provider, skill, "--runs", "1", code=1)
    assert (report["nothing_failed"], report["chosen"], report["complete"]) == (False, None, True)
    assert "first runs ended with an error" in report["notes"][0]


@pytest.mark.parametrize("engine", ["rounds", "gepa"])
def test_a_search_ends_if_no_request_of_validation_fails(skill: str, engine: str) -> None:
    """A text is better only if more requests of validation pass."""
    kept = {"train": [query for query, _ in QUERIES[:2] + QUERIES[4:6] + QUERIES[8:]], "validation": ["see below"]}
    kept["validation"] = [query for query, _ in QUERIES if query not in kept["train"]]
    rule = Writer(BETTER)

    def only_training_fails(request: Request) -> Answer:
        task = next(str(one["content"]) for one in request["messages"] if one["role"] == "user")
        if task in kept["validation"] and not any(one["role"] == "assistant" for one in request["messages"]):
            return [("skills_load", {"names": ["sums"]})]
        return rule(request)

    workspace = Path(skill).parent / "sums-workspace"
    workspace.mkdir()
    (workspace / "trigger-split.json").write_text(json.dumps({"seed": 0, **kept}), encoding="utf-8")
    with ScriptedProvider(only_training_fails) as provider:
        report = improve(provider, skill, "--runs", "1", "--engine", engine, code=1)
    assert report["start"]["validation"]["rate"] == 1.0
    assert report["start"]["train"]["rate"] < 1.0
    assert (report["rounds"], rule.questions) == ([], [])
    assert report["notes"] == [
        "validation has no failing request, so no text can be shown to be better; add some that fail"
    ]


def test_a_capped_search_says_that_the_cap_has_to_be_raised(provider: ScriptedProvider, skill: str) -> None:
    ran = subprocess.run(
        [prowess(), "eval", "improve", skill, "--model", MODEL, "--runs", "1", "--max-calls", "1"],
        env={**os.environ, **provider.environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 5
    assert "stopped: call_cap; raise the cap and continue with --resume" in ran.stdout


def test_each_run_is_a_line_of_progress_unless_quiet(provider: ScriptedProvider, skill: str) -> None:
    lines = []
    for words in ((), ("--quiet",)):
        ran = subprocess.run(
            [prowess(), "eval", "improve", skill, "--model", MODEL, "--runs", "1", "--rounds", "1", *words],
            env={**os.environ, **provider.environment}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        lines.append(ran.stderr.splitlines())
    assert sum("sums/run-1: " in line for line in lines[0]) > len(QUERIES)
    assert lines[1] == []
