"""What words of a task point to."""

from __future__ import annotations

import time

import pytest

from prowess.agent.local.model import Done, Known, Option, Situation, actions, blocks, distinct, skill_options
from prowess.runtime.tools.load import SPEC as LOAD
from prowess.runtime.tools.read import SPEC as READ
from prowess.runtime.tools.run_script import SPEC as RUN_SCRIPT

TOOLS = {spec.name: spec for spec in (LOAD, READ, RUN_SCRIPT)}


def _now(
    task: str, *, body: str | None = None, done: tuple[Done, ...] = (), skills: tuple[Known, ...] = ()
) -> Situation:
    return Situation(task=task, skills=skills, body=body, done=done, tools=TOOLS)


def _ran(*args: str, worked: bool = True, output: str = "fine") -> Done:
    arguments = {"path": "scripts/a.py", "args": list(args)}
    return Done(tool="skills.run_script", arguments=arguments, worked=worked, output=output)


def _labels(options: list[Option]) -> list[str]:
    return [option.label for option in options]


SKILLS = (
    Known(name="csv-report", description="Sums up tables."),
    Known(name="log-triage", description="Groups lines of logs."),
    Known(name="lines", description="Counts lines."),
)


def test_the_best_skill_comes_first_and_what_shares_no_word_is_left_out() -> None:
    assert _labels(skill_options(_now("Which groups of lines?", skills=SKILLS))) == ["log-triage", "lines"]
    assert skill_options(_now("Tell me a joke", skills=SKILLS)) == []


def test_after_the_first_call_no_skill_is_offered() -> None:
    assert skill_options(_now("Count the lines", skills=SKILLS, done=(_ran(),))) == []
    assert skill_options(_now("Count the lines", skills=SKILLS, body="Do it.")) == []


def test_arguments_are_the_files_of_the_task_with_options_that_it_names() -> None:
    body = "`scripts/a.py FILE`, `scripts/a.py old.csv --by region --value revenue`, `--chart`\n"
    found = actions(_now("What did each region earn in march.csv? Draw a chart.", body=body))
    assert _labels(found) == ["run scripts/a.py march.csv --by region --chart", "run scripts/a.py march.csv"]


def test_two_files_are_offered_in_both_orders() -> None:
    found = actions(_now("Check a.json against b.json", body="scripts/a.py SCHEMA DOCUMENT"))
    assert [option.arguments for option in found] == [
        {"path": "scripts/a.py", "args": ["a.json", "b.json"]},
        {"path": "scripts/a.py", "args": ["b.json", "a.json"]},
    ]


def test_what_failed_is_not_offered_again_and_after_a_success_no_script_is() -> None:
    body = "scripts/a.py SCHEMA DOCUMENT, then [more](references/MORE.md)"
    task = "Check a.json against b.json"
    after_failure = actions(_now(task, body=body, done=(_ran("a.json", "b.json", worked=False),)))
    assert _labels(after_failure) == ["run scripts/a.py b.json a.json", "read references/MORE.md"]
    assert _labels(actions(_now(task, body=body, done=(_ran("a.json", "b.json"),)))) == ["read references/MORE.md"]


def test_a_path_out_of_the_skill_is_never_an_option() -> None:
    found = actions(_now("Go", body="scripts/../../../etc/passwd and references/../../x and /etc/scripts/a.sh"))
    assert all(str((option.arguments or {})["path"]).startswith(("scripts/", "references/")) for option in found)


def test_an_answer_can_only_quote_what_worked() -> None:
    now = _now("north", done=(_ran(output="one\n\nnorth 5\n\none"), _ran("x", worked=False, output="north 7")))
    assert [option.text for option in blocks(now)] == ["one", "north 5"]


def test_labels_are_short_and_no_two_are_alike() -> None:
    found = distinct([Option(label="a\nb"), Option(label="a b"), Option(label="x" * 200), Option(label="x" * 300)])
    assert _labels(found) == ["a b", "a b (2)", "x" * 79 + "…", "x" * 79 + "… (2)"]


@pytest.mark.unmeasured  # coverage makes it several times slower
@pytest.mark.parametrize(
    "text",
    [
        "a." * 50_000,
        "--a" * 50_000,
        "scripts/" * 20_000,
        "--a b scripts/c.d " * 6000,
        '"' * 100_000,
        "a" * 100_000,
        "\u0130" * 50_000,
    ],
)
def test_hostile_texts_are_gone_through_in_time(text: str) -> None:
    begun = time.process_time()
    now = _now(text, body=text, skills=(Known(name="a", description=text),))
    skill_options(now)
    actions(now)
    blocks(_now(text, done=(_ran(output=text),)))
    assert time.process_time() - begun < 3
