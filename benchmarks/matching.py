"""Matching: what one task costs in a warm process, and how often the right skill is found.

Speed is measured over the registry of the package `ra-skills`, some 90 000 names and descriptions, with tasks of six
words of one description. Each task is asked five times, and the least processor time counts; of 300 tasks, the 99th
percentile. `agentskills-retrieval` ranks the same tasks over the same texts by its index, in an interpreter of its own;
beyond 1000 texts, it is asked 30 tasks twice, because it takes a third of a second for one over all texts.

Quality is measured by `matching_pairs` over 800 public skills.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from benchmarks import corpora, peers
from benchmarks.figures import Figure
from benchmarks.matching_pairs import SKILLS, Pair, folder_of, read_pairs
from prowess.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus
    from benchmarks.matching_pairs import Half

_SIZES = {1000: (0.3, 3.0), 10_000: (1.0, 12.0), 100_000: (10.0, 12.0)}  # milliseconds, and times faster than the peer
_TASKS, _WORDS, _SEED = 300, 6, 3
_OFTEN, _FEW_TASKS = 1000, 30  # skills up to which the peer is asked as often as we; tasks that it is asked beyond
_LONGEST_UNIT = 4  # characters of a text without blanks that count as one word of a task
_JOINED = 0x2E80  # characters from here on are mostly of scripts without blanks
_HARD = ("paraphrase", "typo", "symptom", "language")

_OURS = """
import json, sys, time
from prowess.catalog import Catalog
root, tasks = sys.argv[1], json.load(open(sys.argv[2]))
catalog = Catalog(root)
catalog.match(tasks[0])
print(json.dumps([min(timed(task) for _ in range(5)) for task in tasks]))
"""
_TIMED = """
import time
def timed(task):
    begun = time.thread_time()
    ask(task)
    return (time.thread_time() - begun) * 1000
"""
_PEERS = """
import json, sys
from agentskills_retrieval.corpus import tokenize
from agentskills_retrieval.lexical import _Bm25Index
texts, tasks = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
index = _Bm25Index([tokenize(" ".join(text)) for text in texts])
def ask(task):
    terms = tokenize(task)
    scored = [(-index.score(number, terms), text[0]) for number, text in enumerate(texts)]
    scored.sort()
    return scored[:10]
"""
_PEER_TIMES = f"{_PEERS}{_TIMED}print(json.dumps([min(timed(task) for _ in range(ROUNDS)) for task in tasks]))"
_PEER_ANSWERS = f"{_PEERS}print(json.dumps([[name for _, name in ask(task)] for task in tasks]))"


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure speed over the registry, and quality on the held-out half of the pairs."""
    del rounds
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        return [*quality(place, "held-out"), *speed(place)]


def speed(place: str, sizes: Sequence[int] = tuple(_SIZES)) -> list[Figure]:
    """Measure the 99th percentile of each size, and of the peer."""
    figures: list[Figure] = []
    try:
        texts = registry_texts()
    except peers.PeerMissingError as fault:
        return [_missing(f"99th percentile of {size} skills", str(fault)) for size in sizes]
    for size in sizes:
        at_most, at_least = _SIZES[size]
        chosen = texts[:size]
        tasks = drawn_tasks(chosen)
        root = os.path.join(place, f"registry-{size}")
        for name, description in chosen:
            corpora.write_skill(root, name, description)
        ours = _percentile(
            _printed(sys.executable, f"{_TIMED}def ask(task): catalog.match(task)\n{_OURS}", root, tasks)
        )
        name = f"`Catalog.match`, 99th percentile over {len(chosen)} skills of a registry"
        figures.append(Figure(name=name, value=ours, unit="ms", at_most=at_most, note="six words, best of five"))
        name = f"agentskills-retrieval's index against `Catalog.match` over {len(chosen)} skills"
        try:
            rounds, asked = (5, tasks) if size <= _OFTEN else (2, tasks[:_FEW_TASKS])
            program = _PEER_TIMES.replace("ROUNDS", str(rounds))
            theirs = _percentile(_printed(peers.retrieval(), program, chosen, asked))
        except peers.PeerMissingError as fault:
            figures.append(_missing(name, str(fault)))
        else:
            note = f"99th percentiles; theirs is {theirs:.2f} ms, {len(asked)} tasks, best of {rounds}"
            figures.append(Figure(name=name, value=theirs / ours, at_least=at_least, note=note))
    return figures


def quality(place: str, half: Half) -> list[Figure]:
    """Measure how often the right skill is found, with the default settings."""
    root = os.path.join(place, "public")
    try:
        corpora.public_corpus(root, SKILLS)
    except corpora.CorpusMissingError as fault:
        return [_missing(f"quality of matching, {half}", str(fault))]
    catalog = Catalog(root, only=True)
    pairs = read_pairs(half)
    words, bodies = ranked_by(catalog, pairs, bodies=False), ranked_by(catalog, pairs, bodies=True)
    own = [number for number, pair in enumerate(pairs) if pair.kind == "own words"]
    hard = [number for number, pair in enumerate(pairs) if pair.kind in _HARD]
    none = [number for number, pair in enumerate(pairs) if pair.kind == "none"]
    figures = [
        *_rates("own words", pairs, words, own, (0.77, 0.95, 0.85)),
        *_rates("own words, with bodies", pairs, bodies, own, (0.80, 0.95, 0.88)),
        *_rates("other words", pairs, words, hard, (None, 0.68, 0.58)),
        _rate("silent if no skill fits", sum(not words[number] for number in none) / len(none), 0.7),
    ]
    try:
        texts = [[os.path.basename(entry.root_dir), entry.description] for entry in catalog.entries()]
        answers = _printed(peers.retrieval(), _PEER_ANSWERS, texts, [pair.task for pair in pairs])
    except peers.PeerMissingError as fault:
        return [*figures, _missing("mean reciprocal rank above agentskills-retrieval", str(fault))]
    above = _reciprocal(pairs, words, own) - _reciprocal(pairs, answers, own)
    return [*figures, _rate("own words: mean reciprocal rank above agentskills-retrieval", above, 0.05)]


def ranked_by(catalog: Catalog, pairs: Sequence[Pair], *, bodies: bool) -> list[list[str]]:
    """Return the folders of the matches of each pair's task, best first."""
    return [
        [os.path.basename(match.entry.root_dir) for match in catalog.match(pair.task, 10, bodies=bodies)]
        for pair in pairs
    ]


def registry_texts() -> list[tuple[str, str]]:
    """Return names that are unique folder names, and descriptions, in a drawn order.

    Raises:
        PeerMissingError: the package with the registry cannot be installed.
    """
    with open(peers.registry(), encoding="utf-8") as file:
        skills = json.load(file)["skills"]
    random.Random(_SEED).shuffle(skills)  # noqa: S311 -- a repeatable draw is wanted
    found: dict[str, str] = {}
    for skill in skills:
        name = re.sub(r"[^a-z0-9]+", "-", skill["name"].lower())[:50].strip("-")
        description = re.sub(r'["\\\s]+', " ", skill.get("description") or "").strip()[:1000]
        if name and description:
            found[name if name not in found else f"{name}-{len(found)}"] = description
    return list(found.items())


def drawn_tasks(texts: Sequence[tuple[str, str]]) -> list[str]:
    """Return tasks of six words, each of one description."""
    draw = random.Random(_SEED)  # noqa: S311 -- a repeatable draw is wanted
    tasks: list[str] = []
    while len(tasks) < _TASKS:
        words = re.findall(r"[^\W\d_]{3,}", draw.choice(texts)[1])
        units = [word[:_LONGEST_UNIT] if ord(word[0]) >= _JOINED else word for word in words]
        if len(units) >= _WORDS:
            tasks.append(" ".join(draw.sample(units, _WORDS)))
    return tasks


def _printed(python: str, program: str, texts: object, tasks: Sequence[str]) -> Any:  # noqa: ANN401 -- what the program prints
    """Return what a program prints as JSON. Its arguments are `texts`, a root or the file made of them, and `tasks`."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        paths = {"texts": texts, "tasks": tasks}
        for name, value in paths.items():
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                json.dump(value, file)
        first = texts if isinstance(texts, str) else os.path.join(place, "texts")
        environment = {**os.environ, "PROWESS_HOME": os.path.join(place, "home")}
        command = [python, "-c", program, first, os.path.join(place, "tasks")]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def _percentile(times: Sequence[float]) -> float:
    return sorted(times)[int(len(times) * 0.99) - 1]


def _rates(
    name: str,
    pairs: Sequence[Pair],
    answers: Sequence[Sequence[str]],
    of: Sequence[int],
    at_least: tuple[float | None, float, float],
) -> list[Figure]:
    places = [_place(pairs[number], answers[number]) for number in of]
    first = sum(place == 0 for place in places) / len(places)
    five = sum(place is not None and place < 5 for place in places) / len(places)  # noqa: PLR2004 -- the default limit
    mean = _reciprocal(pairs, answers, of)
    return [
        _rate(f"{name}: {what}", value, least)
        for what, value, least in zip(
            ("first", "in five", "mean reciprocal rank"), (first, five, mean), at_least, strict=True
        )
    ]


def _reciprocal(pairs: Sequence[Pair], answers: Sequence[Sequence[str]], of: Sequence[int]) -> float:
    places = [_place(pairs[number], answers[number]) for number in of]
    return sum(1 / (place + 1) for place in places if place is not None) / len(places)


def _place(pair: Pair, answer: Sequence[str]) -> int | None:
    right = {folder_of(path) for path in pair.right}
    return next((place for place, name in enumerate(answer) if name in right), None)


def _rate(name: str, value: float, at_least: float | None) -> Figure:
    note = f"pairs of requests and {SKILLS} public skills, the half that was held out"
    return Figure(name=f"match, {name}", value=value, unit="", at_least=at_least, note=note)


def _missing(name: str, why: str) -> Figure:
    return Figure(name=name, value=None, note=why)
