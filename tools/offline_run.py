"""The recorded run of the offline model: three tasks from beginning to end, and which skill it picks for fourteen.

    make local                                      test the model, run it, write the page
    .venv/bin/python -m tools.offline_run --page    write the page again from what was recorded
    .venv/bin/python -m tools.offline_run --check   hold the page against the code, without the model

Every reply of the language model is kept beside the question it answered (`RECORD`). So everything but the language
model can be run again where it is not installed: the questions must be the same, and the page that follows from the
replies must be the page in `docs`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.agent import Agent, AgentResult, ToolMessage
from prowess.agent.local import Engine, LocalModel, Reply
from prowess.agent.local.model import Known, Situation, skill_options
from prowess.catalog import Catalog
from prowess.runtime.tools.load import SPEC as LOAD
from prowess.tools.builtin import builtin_tools
from tools.wrap_pages import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.agent import ModelSettings

ROOT = Path(__file__).parents[1]
SKILLS = ROOT / "examples/skills"
PAGE = ROOT / "docs/build/offline-model.md"
RECORD = ROOT / "tests/agent/local/recorded-run.json"
BEGIN, END = "<!-- written by tools/offline_run.py -->", "<!-- end of what is written -->"

FILES = {
    "march.csv": (
        "date,region,product,units,revenue\n"
        "2026-03-02,North,Desk lamp,4,119.60\n"
        "2026-03-02,South,Desk lamp,2,59.80\n"
        "2026-03-03,North,Chair,1,80.00\n"
    ),
    "app.log": "".join(f"2026-03-02 10:0{minute}:00 INFO worker {minute} started\n" for minute in range(6))
    + "2026-03-02 10:07:00 ERROR connection to db-1 refused\n2026-03-02 10:08:00 ERROR connection to db-2 refused\n",
    "order.schema.json": (
        '{"type": "object", "properties": {"id": {"type": "integer"}, "items": {"type": "array", "minItems": 1}}}\n'
    ),
    "order.json": '{"id": "7", "items": []}\n',
}
# Each with what a right answer holds.
TASKS = (
    ("What did each region earn in march.csv?", ("199.60", "59.80")),
    ("What went wrong in app.log?", ("refused",)),
    ("Why is order.json rejected by order.schema.json?", ("integer", "item")),
)
TRIAL = (
    ("What did each region earn in march.csv?", "csv-report"),
    ("What went wrong in app.log?", "log-triage"),
    ("What changed since the last release?", "git-changelog"),
    ("Why is order.json rejected by order.schema.json?", "json-schema-check"),
    ("Does openapi.yaml break our clients?", "http-api-review"),
    ("Write an announcement of version 1.3.0 from CHANGELOG.md", "release-notes"),
    ("Why is my skill not found?", "use-prowess"),
    ("What is the capital of France?", None),
    ("Give me the totals of sales.tsv by product", "csv-report"),
    ("Which errors are most frequent in server.log?", "log-triage"),
    ("Review the endpoints in openapi.json", "http-api-review"),
    ("Is the project ready to be released?", "release-notes"),
    ("Tell me a joke", None),
    ("Sort the commits since v1.2.0 into added and fixed", "git-changelog"),
)
_LONGEST = 12  # lines of one output on the page


class StaleError(Exception):
    """The code asks another question than the one that was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question to the language model and its reply; `labels` are None where it writes."""

    question: str
    labels: list[str] | None
    reply: str
    input_tokens: int
    output_tokens: int


class Recording:
    """An engine that asks another and keeps what was said."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.exchanges: list[Exchange] = []

    def choose(self, question: str, labels: Sequence[str], settings: ModelSettings | None = None) -> Reply:
        """Ask, and keep it."""
        return self._kept(question, list(labels), self._engine.choose(question, labels, settings))

    def write(self, prompt: str, most_tokens: int, settings: ModelSettings | None = None) -> Reply:
        """Ask, and keep it."""
        return self._kept(prompt, None, self._engine.write(prompt, most_tokens, settings))

    def _kept(self, question: str, labels: list[str] | None, reply: Reply) -> Reply:
        kept = Exchange(
            question=question,
            labels=labels,
            reply=reply.text,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
        )
        self.exchanges.append(kept)
        return reply


class Replay:
    """An engine that says what was recorded, to the same questions in the same order.

    Raises:
        StaleError: another question is asked.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._left = list(exchanges)

    def choose(self, question: str, labels: Sequence[str], settings: ModelSettings | None = None) -> Reply:
        """Return the recorded choice."""
        del settings  # no run of the record sets any
        return self._next(question, list(labels))

    def write(self, prompt: str, most_tokens: int, settings: ModelSettings | None = None) -> Reply:
        """Return the recorded text."""
        del most_tokens, settings  # as recorded
        return self._next(prompt, None)

    def _next(self, question: str, labels: list[str] | None) -> Reply:
        if not self._left or (self._left[0].question, self._left[0].labels) != (question, labels):
            wanted = self._left[0] if self._left else None
            raise StaleError(f"asked: {question!r} {labels}\nrecorded: {wanted}\nrun `make local`")
        kept = self._left.pop(0)
        return Reply(text=kept.reply, input_tokens=kept.input_tokens, output_tokens=kept.output_tokens)


def recorded() -> list[Exchange]:
    """Return what the language model said when the page was written."""
    return [Exchange(**exchange) for exchange in json.loads(RECORD.read_text(encoding="utf-8"))]


def written(engine: Engine) -> str:
    """Run everything with this engine and return the part of the page that follows from it."""
    with tempfile.TemporaryDirectory() as place:
        for name, text in FILES.items():
            Path(place, name).write_text(text, encoding="utf-8")
        model = LocalModel(engine)
        tools = builtin_tools(["Read", "Glob", "Grep"], workspace=place, write=False)
        agent = Agent(model, catalog=Catalog(SKILLS), workspace=place, extra_tools=tools)
        results = [agent.run_sync(task) for task, _ in TASKS]
        picks = [_pick(model, task) for task, _ in TRIAL]
    right = [all(part in result.text for part in wanted) for result, (_, wanted) in zip(results, TASKS, strict=True)]
    parts = [f"## Three tasks\n\n{_counts(results, right)}\n"]
    parts += [_run(task, result, ok) for (task, _), result, ok in zip(TASKS, results, right, strict=True)]
    return "\n".join([*parts, _trial(picks)])


def page(part: str) -> str:
    """Return the page with what is written put in its place."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return wrapped(f"{before}{BEGIN}\n\n{part}\n{END}{rest.partition(END)[2]}")


def _pick(model: LocalModel, task: str) -> str | None:
    result = Agent(model, catalog=Catalog(SKILLS), max_turns=1).run_sync(task)
    call = next((message.call for message in result.transcript if isinstance(message, ToolMessage)), None)
    return None if call is None else str(dict(call.arguments)["names"][0])  # type: ignore[index]  # we made the call


def _lexical(task: str) -> str | None:
    """Return what the words of the task alone point to."""
    skills = tuple(Known(name=entry.name, description=entry.description) for entry in Catalog(SKILLS).entries())
    found = skill_options(Situation(task=task, skills=skills, body=None, done=(), tools={LOAD.name: LOAD}))
    return found[0].label if found else None


def _counts(results: Sequence[AgentResult], right: Sequence[bool]) -> str:
    calls = [message for result in results for message in result.transcript if isinstance(message, ToolMessage)]
    tokens = sum(result.usage.tokens for result in results)
    return (
        f"{sum(right)} of {len(right)} answers are right. {sum(result.turns for result in results)} turns, "
        f"{len(calls)} calls, of which {sum(not call.result.success for call in calls)} failed, and {tokens} tokens."
    )


def _run(task: str, result: AgentResult, right: bool) -> str:  # noqa: FBT001 -- a pair of a list
    lines = [f"$ prowess agent {json.dumps(task)} --model local:smollm2-135m --root examples/skills"]
    for message in result.transcript:
        if isinstance(message, ToolMessage):
            lines.append(f"calls {message.call.name} {json.dumps(dict(message.call.arguments))}")
            value = message.result.result or {}
            said = message.result.error or str(value.get("stdout") or value.get("stderr") or value.get("text") or "")
            shown = said.strip().split("\n") if said.strip() else []
            lines += [f"  {line}".rstrip() for line in shown[:_LONGEST]]
            lines += [f"  [{len(shown) - _LONGEST} more lines]"] if len(shown) > _LONGEST else []
    lines += ["answers", *(f"  {line}".rstrip() for line in result.text.split("\n"))]
    turns = "1 turn" if result.turns == 1 else f"{result.turns} turns"
    head = f"{'Right' if right else 'Wrong'}; {turns}, ended `{result.ended}`."
    inner = "\n".join(lines)
    return f"### {task}\n\n{head}\n\n````text\n{inner}\n````\n"


def _trial(picks: Sequence[str | None]) -> str:
    rows = ["| task | right | words alone | the model |", "|---|---|---|---|"]
    by_words = [_lexical(task) for task, _ in TRIAL]
    for (task, right), words, picked in zip(TRIAL, by_words, picks, strict=True):
        shown = picked or "none"
        rows.append(
            f"| {task} | {right or 'none'} | {words or 'none'} | {shown if picked == right else f'**{shown}**'} |"
        )
    model = sum(picked == right for (_, right), picked in zip(TRIAL, picks, strict=True))
    words_right = sum(words == right for (_, right), words in zip(TRIAL, by_words, strict=True))
    head = textwrap.fill(
        f"The model picked {model} of {len(TRIAL)} right. The words alone, without any model, would have picked "
        f"{words_right}, because the tasks were written by people who knew the descriptions. Wrong picks are in bold.",
        120,
    )
    table = "\n".join(rows)
    return f"## Which skill it picks\n\n{head}\n\n{table}\n"


def main() -> int:
    """Write the page, or check it; 1 where it is stale."""
    parser = argparse.ArgumentParser(description="Record runs of the offline model, or check what was recorded.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if asked.page:
        PAGE.write_text(page(written(Replay(recorded()))), encoding="utf-8")
        return 0
    if asked.check:
        if page(written(Replay(recorded()))) != PAGE.read_text(encoding="utf-8"):
            print(
                "docs/build/offline-model.md is not what the recorded replies lead to; run `make local`",
                file=sys.stderr,
            )
            return 1
        return 0
    # Imported here, not at the top: a check needs no model.
    from prowess.agent.local.engine import SmolLM2

    recording = Recording(SmolLM2())
    part = written(recording)
    PAGE.write_text(page(part), encoding="utf-8")
    record = [asdict(exchange) for exchange in recording.exchanges]
    RECORD.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
