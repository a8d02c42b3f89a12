"""Skills with trigger sets, and pairs of them that are planted to answer each other's requests."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.evals.hosts.host import HostRun
from prowess.evals.transcripts.transcript import RunTranscript, SkillUse, TranscriptCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prowess.evals.hosts.host import HostRequest


def make_triggered(folder: Path, name: str, description: str, queries: Sequence[tuple[str, bool]]) -> str:
    """Write a skill with a trigger set, and return its directory."""
    skill = folder / name
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\nDo it.\n")
    data = [{"query": query, "should_trigger": wanted} for query, wanted in queries]
    (skill / "evals" / "triggers.json").write_text(json.dumps(data))
    return str(skill)


class ChoosingHost:
    """Chooses by a function of the request: names of skills, or an outcome. Keeps the requests."""

    def __init__(self, choose: Callable[[HostRequest], Sequence[str] | str]) -> None:
        self.name = "choosing"
        self._choose = choose
        self.requests: list[HostRequest] = []

    async def run(self, request: HostRequest) -> HostRun:
        self.requests.append(request)
        chosen = self._choose(request)
        if isinstance(chosen, str):
            return HostRun(transcript=_ran(()), transcript_path=None, answer="", seconds=0.0, error=chosen)
        return HostRun(transcript=_ran(chosen), transcript_path=None, answer="", seconds=0.0)


def _ran(names: Sequence[str]) -> RunTranscript:
    calls = tuple(
        TranscriptCall(id=name, name="skills_load", arguments={"name": name}, actions=(SkillUse(skill=name),), at=2)
        for name in names
    )
    return RunTranscript(host="prowess", form="stream", calls=calls, ended="completed")


class PlantedPair(Struct, frozen=True, kw_only=True):
    """Two skills: the words of the one's requests that the other's description has, by the skill that loses them."""

    directories: tuple[str, str]
    descriptions: dict[str, str]
    words: dict[str, set[str]]


def planted_pair(folder: Path, seed: int) -> PlantedPair:
    """Write two skills. Of twelve requests for each, four use two words that only the other description has."""
    draw = random.Random(seed)
    pool = _words(draw, 40)
    names = [f"{pool.pop()}-kit", f"{pool.pop()}-kit"]
    own = [[pool.pop() for _ in range(5)] for _ in names]
    stolen = [[pool.pop(), pool.pop()] for _ in names]
    common, filler = [pool.pop() for _ in range(2)], [pool.pop() for _ in range(8)]
    directories: list[str] = []
    descriptions: dict[str, str] = {}
    for place, name in enumerate(names):
        words = [*own[place], *stolen[1 - place], *common]
        draw.shuffle(words)
        descriptions[name] = f"Handles {', '.join(words[:4])}. Use when {' or '.join(words[4:])} are there."
        rest = [*filler, *common]  # words of both, or of none, which explain nothing
        kept = [f"{' and '.join(draw.sample(own[place], 2))} with {draw.choice(rest)}" for _ in range(8)]
        lost = [f"the {' and '.join(stolen[place])} of {draw.choice(rest)} number {number}" for number in range(4)]
        others = [f"{word} for {draw.choice(filler)}" for word in own[1 - place][:2]]
        queries = [(query, True) for query in dict.fromkeys([*kept, *lost])] + [(query, False) for query in others]
        directories.append(make_triggered(folder, name, descriptions[name], queries))
    return PlantedPair(
        directories=(directories[0], directories[1]),
        descriptions=descriptions,
        words={name: {*stolen[place]} for place, name in enumerate(names)},
    )


def noisy_words_host(descriptions: dict[str, str], seed: int, noise: float = 0.1) -> ChoosingHost:
    """Return a host that takes the description with most words of the request, and any skill or none in some runs."""
    draw = random.Random(seed)
    texts = {name: _spelled(f"{name} {text}") for name, text in descriptions.items()}

    def choose(request: HostRequest) -> list[str]:
        if draw.random() < noise:
            return draw.choice([[], *([name] for name in texts)])
        shared = {name: len(_spelled(request.prompt) & words) for name, words in texts.items()}
        most = max(shared.values())
        return [name for name, count in shared.items() if count == most > 0][:1]

    return ChoosingHost(choose)


def _spelled(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower())) - {"with", "number", "when", "there", "handles"}


def _words(draw: random.Random, count: int) -> list[str]:
    found: dict[str, Any] = {}
    while len(found) < count:
        found["".join(draw.choice("bdfgklmnprtvz") + draw.choice("aou") for _ in range(3)) + "k"] = None
    return list(found)
