"""A skill with evals for tests of campaigns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PHRASE = "Write every sum with exactly two decimal places, and name the currency."


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
