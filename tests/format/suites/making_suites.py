"""Random suites in the shapes of public catalogs: which members occur, how often, and with which types."""

from __future__ import annotations

import random
from typing import Any

_WORDS = [
    "sort",
    "rows",
    "of",
    "the",
    "table,",
    "then",
    "write",
    "a",
    "report:",
    "3",
    "columns",
    "#",
    "not",
    "4",
    "é中😀",
    "---",
    "yes",
    "null\ttab",
]


def text(draw: random.Random, longest: int = 30) -> str:
    words = [draw.choice(_WORDS) for _ in range(draw.randint(1, longest))]
    return draw.choice((" ", "\n", "\n\n", " ")).join(words) + draw.choice(("", "", "\n", "."))


def texts(draw: random.Random) -> list[str]:
    return [text(draw, 8) for _ in range(draw.randint(0, 4))]


def question(draw: random.Random, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {"id": f"Eval {number}", "question": text(draw)}
    made["expected_skill"] = draw.choice(("sort", "sort", "sort", None))
    if draw.random() < 0.8:
        made["expected_script"] = draw.choice((None, None, "scripts/a.py"))
    made["ground_truth"] = draw.choice((text(draw), None))
    if draw.random() < 0.9:
        made["expected_behavior"] = texts(draw)
    for member, value in (("should_trigger", True), ("files", ["a.csv"]), ("acceptable_skills", ["sort"])):
        made |= {member: value} if draw.random() < 0.1 else {}
    items = [*made.items()]
    draw.shuffle(items)
    return dict(items)


def guided(draw: random.Random, number: int, *, typed: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": draw.choice((number, str(number))),
        "prompt": text(draw),
        "expected_output": text(draw),
        "assertions": [_typed(draw) for _ in range(2)] if typed else texts(draw),
    }
    for member, value in (("files", []), ("name", "first"), ("expected_skill", None), ("must_not", texts(draw))):
        made |= {member: value} if draw.random() < 0.3 else {}
    return made


def _typed(draw: random.Random) -> dict[str, Any]:
    kind, member = draw.choice((("contains_phrase", "phrase"), ("not_contains_pattern", "pattern"), ("", "")))
    named = {"name": "short"} if draw.random() < 0.3 else {}
    return {"text": text(draw, 5), **({"type": kind, member: text(draw, 3)} if kind else {}), **named}


def suite(seed: int) -> Any:  # noqa: ANN401 -- JSON
    """Of 16 suites 11 are lists of questions, 3 follow the guide, 1 has typed assertions, 1 has `cases`."""
    draw = random.Random(seed)
    count = draw.randint(0, 6)
    match seed % 16:
        case 0 | 1 | 2:
            return {"skill_name": "sort", "evals": [guided(draw, number) for number in range(count)]}
        case 3:
            evals = [guided(draw, number, typed=True) for number in range(count + 1)]
            return {"skill_name": "sort", "scope": "small", "evals": evals}
        case 4:
            return {"version": "1.0", "skill": "sort", "cases": [question(draw, number) for number in range(count)]}
        case 5:
            return question(draw, 1)
        case _:
            return [question(draw, number) for number in range(count + 1)]
