"""Planted landscapes for bodies: skills whose evals are about topics, and a host that obeys sentences of the body.

A task is done if the body has the sentence of its topic. A greedy sentence spoils the tasks that were done from the
beginning. An overfitted sentence does all tasks of training, and no other one. A run shows the other outcome with the
probability `noise`.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.agent import TextDelta
from prowess.agent.model import Usage
from prowess.evals.hosts.host import HostRun
from prowess.evals.transcripts.transcript import RunTranscript, SkillUse, TranscriptCall
from prowess.evals.triggers.split import split_cases
from prowess.format.reading import read_skill
from tests.evals.campaigns.skills import an_eval, skill_at

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from prowess.agent import ModelRequest, Part
    from prowess.evals.hosts.host import HostRequest

TOPICS = ("tables", "dates", "totals", "names", "units")
EACH = 4  # evals of each topic
EASY = 4  # evals that need no sentence
GREEDY = "Always answer in one word."
OVERFITTED = "Prefer the quoz vimt."


def sentence_of(topic: str) -> str:
    return f"Check {topic} twice."


class BodyLandscape(Struct, frozen=True, kw_only=True):
    """`topics` are those of the tasks by prompt, None for an easy one; `train` are prompts."""

    directory: str
    seed: int
    topics: dict[str, str | None]
    train: frozenset[str]

    def is_done(self, body: str, prompt: str) -> bool:
        """Whether a host without noise does the task."""
        if OVERFITTED in body and prompt in self.train:
            return True
        topic = self.topics[prompt]
        return GREEDY not in body if topic is None else sentence_of(topic) in body

    def rate(self, body: str, *, training: bool = False) -> float:
        """Return the share of validation (or training) tasks that are done without noise."""
        side = [prompt for prompt in self.topics if (prompt in self.train) is training]
        return sum(self.is_done(body, prompt) for prompt in side) / len(side)


class BodyHost:
    """Reads the body of the installed skill, and answers DONE or FAILED. Counts its runs."""

    name = "planted"

    def __init__(self, landscape: BodyLandscape, noise: float) -> None:
        self._landscape, self._noise = landscape, noise
        self.runs = 0

    async def run(self, request: HostRequest) -> HostRun:
        self.runs += 1
        skill = read_skill(request.skills[0])
        errs = random.Random(f"host {self._landscape.seed} {request.unit}").random() < self._noise
        done = self._landscape.is_done(skill.document.body, request.prompt) is not errs
        use = TranscriptCall(id="1", name="skills_load", arguments={}, actions=(SkillUse(skill=skill.name),), at=1)
        transcript = RunTranscript(host="prowess", form="stream", calls=(use,), ended="completed")
        answer = "DONE" if done else "FAILED"
        return HostRun(transcript=transcript, transcript_path=None, answer=answer, seconds=0.0)


def planted_body(folder: Path, seed: int) -> BodyLandscape:
    """Write a skill with one of five topics in its body, and the greedy sentence in every second landscape."""
    draw = random.Random(seed)
    pairs: list[tuple[str, str | None]] = [
        (f"Job {number} about {topic} {draw.randrange(10**6)}", topic) for topic in TOPICS for number in range(EACH)
    ]
    pairs += [(f"Plain job {number} {draw.randrange(10**6)}", None) for number in range(EASY)]
    draw.shuffle(pairs)
    check = {"text": "is done", "type": "contains_phrase", "phrase": "DONE"}
    evals = [an_eval(number, check, prompt=prompt) for number, (prompt, _) in enumerate(pairs, 1)]
    body = f"# How to work\n\nRead the task.\n\n- {sentence_of(TOPICS[0])}\n{f'- {GREEDY}' if seed % 2 else ''}\n"
    directory = skill_at(folder, *evals, body=body, name=f"skill-{seed}")
    split = split_cases([[str(one["id"]) for one in evals]], seed=seed)
    train = frozenset(one["prompt"] for one in evals if str(one["id"]) in split.train)
    return BodyLandscape(directory=str(directory), seed=seed, topics=dict(pairs), train=train)


class PlantedBodyWriter:
    """A model that revises by what it is shown: a sentence for up to two topics that fail. It errs as models do.

    Of its first three bodies, one copies a training task, one has the overfitted sentence, and one the greedy one.
    """

    name = "planted"

    def __init__(self, landscape: BodyLandscape) -> None:
        self._draw = random.Random(f"writer {landscape.seed}")
        self._errors = ["copy", "overfit", "greedy"]
        self._draw.shuffle(self._errors)
        self.questions: list[dict[str, Any]] = []
        self.proposed: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Answer with a body."""
        question = json.loads(request.messages[-1].text)
        self.questions.append(question)
        text = self._revised(question)
        self.proposed.append(text)
        yield TextDelta(text=json.dumps({"body": text}))
        yield Usage(input_tokens=100, output_tokens=10)

    def _revised(self, question: dict[str, Any]) -> str:
        text = str(question["instructions"])
        tasks = [one["task"] for one in question["failed_tasks"]]
        if any(task.startswith("Plain") for task in tasks):
            text = text.replace(f"\n- {GREEDY}", "")
        missed = [topic for topic in TOPICS if any(topic in task for task in tasks)]
        new = [sentence_of(topic) for topic in missed if sentence_of(topic) not in text]
        self._draw.shuffle(new)
        better = "\n".join([text, *(f"- {sentence}" for sentence in new[:2])])
        kind = self._errors.pop(0) if self._errors else "none"
        if kind == "copy":
            return f"{better}\n- Such as: {tasks[0]}"
        if kind == "overfit":  # with a useful sentence beside it, or alone
            beside = f"\n- {new[0]}" if new and self._draw.randrange(2) else ""
            return f"{text}{beside}\n- {OVERFITTED}"
        return f"{better}\n- {GREEDY}" if kind == "greedy" else better
