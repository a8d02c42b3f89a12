"""One run that every adapter has to carry out, and what has to have reached the provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.runtime import Session
from tests.adapters.provider import call_id

if TYPE_CHECKING:
    from pathlib import Path

    from tests.adapters.provider import Asked, Turn

BODY = "Count first, then answer in one line."
RULES = "You are a clerk."
RUNS = default_sandbox().probe().available

TURNS: tuple[Turn, ...] = (
    [("skills_load", {"names": ["tally"]})],
    [
        ("skills_read", {"path": "references/format.md"}),
        ("skills_run_script", {"path": "scripts/count.sh", "args": ["rows"]}),
    ],
    [("publish", {"text": "42"}), ("skills_read", {"path": "references/fromat.md"}), ("skills_load", '{"names": [')],
    [("skills_unload", {"all": True})],
    "42 rows.",
)


def skills(root: Path) -> Path:
    """Write the skill `tally`, which permits no tool but `Read`."""
    tally = root / "skills" / "tally"
    (tally / "scripts").mkdir(parents=True)
    (tally / "references").mkdir()
    front = "---\nname: tally\ndescription: Counts rows.\nallowed-tools: Read\n---\n"
    (tally / "SKILL.md").write_text(f"{front}# Tally\n\n{BODY}\n", encoding="utf-8")
    (tally / "references" / "format.md").write_text("One line, one number.\n", encoding="utf-8")
    (tally / "scripts" / "count.sh").write_text('#!/bin/sh\necho "42 $1"\n', encoding="utf-8")
    return root / "skills"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A session over that skill, with a function of the host beside it, and what that has published."""

    session: Session
    published: list[str]


def scene(root: Path, **options: Any) -> Scene:  # noqa: ANN401 -- what a session takes
    """Return a scene below `root`."""
    made = Scene(session=Session(Catalog(skills(root)), artifacts_dir=root / "artifacts", **options), published=[])

    @made.session.function
    def publish(text: str) -> str:
        """Show a text to everybody."""
        made.published.append(text)
        return text

    return made


def check(asked: list[Asked], made: Scene) -> None:
    """Hold the requests of a run of `TURNS` against what a session promises."""
    assert [sorted(request.results) for request in asked] == [
        [call_id(turn, index) for turn, calls in enumerate(TURNS[:before]) for index, _ in enumerate(calls)]
        for before in range(5)
    ]
    first, results = asked[0], asked[-1].results
    assert {name: _plain(schema) for name, schema in first.tools.items()} == {
        spec.wire_name: dict(spec.input_schema) for spec in made.session.tools()
    }
    assert first.descriptions == {spec.wire_name: spec.description for spec in made.session.tools()}
    assert first.strict <= {None, False}
    assert all(request.instructions.startswith(RULES) for request in asked)
    assert [BODY in request.instructions for request in asked] == [False, True, True, True, False]
    assert all("<name>tally</name>" in request.instructions for request in asked)
    assert '"name": "tally"' in results[call_id(0, 0)]
    assert BODY not in results[call_id(0, 0)]
    assert "One line, one number." in results[call_id(1, 0)]
    if RUNS:
        assert '"stdout": "42 rows\\n"' in results[call_id(1, 1)]
    assert "Tool 'publish' not allowed by active skill 'tally'" in results[call_id(2, 0)]
    assert "Unload 'tally' to lift this." in results[call_id(2, 0)]
    assert "did you mean 'references/format.md'?" in results[call_id(2, 1)]
    assert "Arguments are not valid JSON" in results[call_id(2, 2)]
    assert '"unloaded_skills": ["tally"]' in results[call_id(3, 0)]
    assert made.published == []


def _plain(schema: Any) -> Any:  # noqa: ANN401 -- any part of a schema
    """Return a schema without the empty `properties` that one client adds to maps; they mean nothing."""
    if not isinstance(schema, dict):
        return schema
    return {name: _plain(value) for name, value in schema.items() if (name, value) != ("properties", {})}
