"""A skill with evals for tests of campaigns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PHRASE = "Write every sum with exactly two decimal places, and name the currency."

# Members of assertions that can decide nothing, and a part of the reason.
BAD_GRADERS: list[tuple[dict[str, object], str]] = [
    ({"type": "program", "path": "evals/gone.py"}, "'evals/gone.py' "),
    ({"type": "regex", "pattern": "(a"}, "not a Python regular expression"),
    ({"type": "regex", "pattern": "a{99999999999999999999}"}, "not a Python regular expression"),
    ({"type": "regex", "pattern": "(" * 5000}, "not a Python regular expression"),
    ({"type": "regex", "pattern": "a" * 20_001}, "more than 20000 characters"),
    ({"type": "regex", "pattern": "a", "match": "foo"}, "not contains, not_contains or count:N"),
    ({"type": "regex", "pattern": "a", "target": "log"}, "target 'log' is not last_message, trace, files or a file"),
    ({"type": "regex"}, "grader regex: it has no member 'pattern'"),
    ({"type": "contains_pattern", "pattern": "(a"}, "not a Python regular expression"),
    ({"type": "contains_phrase"}, "needs a text 'phrase'"),
    ({"type": "tool_used", "tool": "Read", "input_match": "(a"}, "not a Python regular expression"),
    ({"type": "tool_used", "tool": "Read", "min": "1"}, "grader tool_used: min must be a whole number, not a text"),
    ({"type": "tool_used", "tool": "Read", "min": 2, "max": 1}, "at least 2 and at most 1 calls of Read"),
    ({"type": "tool_order", "before": "Read", "after": {"tool": "Bash", "input_match": "(a"}}, "not a Python regular"),
    ({"type": "json_schema", "schema": {"type": "nope"}}, "unknown type 'nope'"),
]


def skill_at(place: Path, *evals: dict[str, Any], body: str = PHRASE, name: str = "sums") -> Path:
    root = place / name
    root.mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Sums up files of numbers.\n---\n{body}\n")
    if evals:
        (root / "evals").mkdir(exist_ok=True)
        data = {"skill_name": name, "evals": list(evals)}
        (root / "evals" / "evals.json").write_text(json.dumps(data))
    return root


def an_eval(ident: str | int = 1, *assertions: Any, **members: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    listed = {"assertions": list(assertions)} if assertions else {}
    return {"id": ident, "prompt": "Sum it up", "expected_output": "The sum.", **listed, **members}
