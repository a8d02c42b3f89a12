"""Planted landscapes: skills whose requests are about topics, and a host that looks for words of a topic.

A request for the skill is chosen if the description has a word of its topic. Other requests are near misses: they are
chosen if the description has a greedy word. An overfitted phrase lets all training requests pass, and no other one. A
run shows the other outcome with the probability `noise`.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.agent import TextDelta
from prowess.agent.model import Usage
from prowess.evals.triggers.split import split_queries
from prowess.evals.triggers.trigger_set import TriggerQuery
from prowess.format.reading import read_skill
from tests.evals.triggers.planted import ChoosingHost, make_triggered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from prowess.agent import ModelRequest, Part
    from prowess.evals.hosts.host import HostRequest

PHRASE = "quoz vimt"  # overfitted: it is in no request


class Landscape(Struct, frozen=True, kw_only=True):
    """`topics` are words of the description by words of requests; `queries` have the topic's word, or none."""

    directory: str
    seed: int
    topics: dict[str, str]
    greedy: str
    queries: tuple[tuple[str, bool], ...]
    train: frozenset[str]

    def is_chosen(self, description: str, query: str) -> bool:
        """Whether a host without noise chooses the skill."""
        words = set(description.casefold().replace(".", " ").replace(",", " ").split())
        wanted = dict(self.queries)[query]
        if PHRASE in description and query in self.train:
            return wanted
        if not wanted:
            return self.greedy in words
        return any(word in words for asked, word in self.topics.items() if asked in query.split())

    def rate(self, description: str, *, training: bool = False) -> float:
        """Return the share of validation (or training) requests that pass without noise."""
        side = [(query, wanted) for query, wanted in self.queries if (query in self.train) is training]
        return sum(self.is_chosen(description, query) is wanted for query, wanted in side) / len(side)

    @property
    def best(self) -> float:
        """The best rate in validation: all topics, and no greedy word."""
        return self.rate(" ".join(self.topics.values()))

    def host(self, noise: float) -> ChoosingHost:
        """Return a host that reads the description of the installed skill."""
        draw = random.Random(f"host {self.seed}")

        def choose(request: HostRequest) -> list[str]:
            skill = read_skill(request.skills[0])
            chosen = self.is_chosen(skill.description, request.prompt)
            return [skill.name] if chosen is not (draw.random() < noise) else []

        return ChoosingHost(choose)


def planted_landscape(folder: Path, seed: int) -> Landscape:
    """Write a skill whose description has one of six topics, and a greedy word in every second landscape."""
    draw = random.Random(seed)
    pool = _words(draw, 60)
    topics = {pool.pop(): pool.pop() for _ in range(6)}
    greedy, filler = pool.pop(), [pool.pop() for _ in range(12)]
    wanted = [
        (f"please {draw.choice(filler)} the {asked} of {draw.choice(filler)} number {number}", True)
        for asked in topics
        for number in range(4)
    ]
    others = [(f"{draw.choice(filler)} my {draw.choice(filler)} by {number} and stop", False) for number in range(12)]
    first = next(iter(topics.values()))
    description = f"Handles {first}{f', {greedy}' if seed % 2 else ''}. Use it for {filler[0]}."
    queries = (*wanted, *others)
    directory = make_triggered(folder, f"skill-{seed}", description, queries)
    split = split_queries([TriggerQuery(query=query, should_trigger=kind) for query, kind in queries], seed=seed)
    return Landscape(
        directory=directory, seed=seed, topics=topics, greedy=greedy, queries=queries, train=frozenset(split.train)
    )


class PlantedProposer:
    """A model that revises by what it is shown: a word for up to two topics that fail. It errs as models do.

    Of its first three proposals, one copies a training request, one has the overfitted phrase, and one a greedy word.
    """

    name = "planted"

    def __init__(self, landscape: Landscape) -> None:
        self._landscape = landscape
        self._draw = random.Random(f"proposer {landscape.seed}")
        self._errors = ["copy", "phrase", "greedy"]
        self._draw.shuffle(self._errors)
        self.questions: list[dict[str, Any]] = []
        self.proposed: list[str] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Answer with a description."""
        question = json.loads(request.messages[-1].text)
        self.questions.append(question)
        text = self._revised(question)
        self.proposed.append(text)
        yield TextDelta(text=json.dumps({"description": text}))
        yield Usage(input_tokens=100, output_tokens=10)

    def _revised(self, question: dict[str, Any]) -> str:
        text = str(question["description"])
        wrong = question["wrong_decisions"]
        missed = [one["request"] for one in wrong if one["skill_is_wanted"]]
        if sum(not one["skill_is_wanted"] for one in wrong) > 2:
            text = text.replace(f", {self._landscape.greedy}", "").replace(f" And {self._landscape.greedy}.", "")
        fitting = [
            word for asked, word in self._landscape.topics.items() if any(asked in one.split() for one in missed)
        ]
        new = [word for word in fitting if word not in text]
        self._draw.shuffle(new)
        better = f"{text} Also {', '.join(new[:3])}." if new else text
        kind = self._errors.pop(0) if self._errors else "none"
        if kind == "copy" and missed:
            return f"{better} Such as {missed[0]}."
        if kind == "phrase":  # learnt by heart, in words that no request has
            beside = f" Also {new[0]}." if new and self._draw.randrange(2) else ""
            return f"{text}{beside} Think of {PHRASE}."
        return f"{better} And {self._landscape.greedy}." if kind == "greedy" else better


def _words(draw: random.Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(draw.choice("bdfgklmnprtvz") + draw.choice("aou") for _ in range(3)) + "k"] = None
    return list(found)
