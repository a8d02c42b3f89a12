"""Reading and judging costs as much as the length of the transcript, whatever is in it."""

from __future__ import annotations

import json
import time

import pytest

from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of
from tests.evals.transcripts.written import SKILL
from tests.evals.verdicts.host_forms import FORMS, Call, shell

X = f".agents/skills/{SKILL}/SKILL.md"
MOST = 20  # times the cost of `json.loads`; what grows with the square of the length is a hundred times above it
LONG: dict[str, list[Call]] = {
    "many calls": [shell("ls", "a") for _ in range(10_000)],
    "many reads": [shell(f"cat {X}", "x") for _ in range(2000)],
    "many copies": [shell(f"cp {X} a{place}", "") for place in range(2000)],
}
OUTPUTS = {
    "tabs": "\t",
    "blanks": " ",
    "names": "name:",
    "colons": ":",
    "digits": "1 ",
    "colours": "\x1b[",
    "signs": "<",
}


def seconds(form: str, calls: list[Call]) -> tuple[float, float]:
    """Return the processor time of `json.loads` of the lines, and that of reading and judging."""
    data = FORMS[form]("Chart the sales", calls)
    start = time.process_time()
    for line in data.splitlines():
        json.loads(line)
    parsed = time.process_time()
    verdict_of(read_transcript_text(data), skill=SKILL)
    return parsed - start, time.process_time() - parsed


@pytest.mark.unmeasured
@pytest.mark.parametrize("form", ["copilot events", "claude stream", "codex rollout", "gemini lines"])
@pytest.mark.parametrize("calls", LONG.values(), ids=LONG)
def test_a_long_run_costs_as_much_as_its_length(form: str, calls: list[Call]) -> None:
    parsed, judged = seconds(form, calls)
    assert judged <= MOST * max(parsed, 0.02)


@pytest.mark.unmeasured
@pytest.mark.parametrize("text", OUTPUTS.values(), ids=OUTPUTS)
def test_a_long_output_costs_as_much_as_its_length(text: str) -> None:
    _, judged = seconds("claude stream", [shell(f"cat {X} || true", text * (400_000 // len(text)))])
    assert judged <= 2
