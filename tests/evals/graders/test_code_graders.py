from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.graders.code import grade_by_code, text_grade
from prowess.evals.scenarios.assertions import AssertionUndecidedError
from prowess.evals.scenarios.workspaces import digests
from prowess.format.suites.grader_specs import parse_grader
from tests.evals.graders.runs import call, material

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.graders.material import RunMaterial

COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def graded(run: RunMaterial, **grader: Any) -> bool:  # noqa: ANN401 -- JSON
    grade = grade_by_code(parse_grader(grader), run)  # type: ignore[arg-type]  # never a program or a rubric here
    assert grade.evidence
    return grade.passed


@pytest.mark.parametrize(
    ("kind", "value", "passes"),
    [
        ("contains", "12.50", True),
        ("contains", "13", False),
        ("not_contains", "13", True),
        ("not_contains", "12.50", False),
        ("matches", r"total is \d+\.\d\d", True),
        ("matches", r"^\d", False),
        ("not_matches", r"^\d", True),
        ("not_matches", "total", False),
    ],
)
def test_a_phrase_or_pattern_is_compared_with_the_answer(kind: str, value: str, passes: bool) -> None:  # noqa: FBT001 -- a table
    assert text_grade(kind, value, "The total is 12.50").passed is passes


def test_a_pattern_of_javascript_with_flags_counts_matches_in_the_target(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("A\na\nb\n")
    run = material(tmp_path, "done", call("Bash", result="found A", command="ls"))

    assert graded(run, type="regex", pattern="^(?<letter>a)$", flags="im", match="count:2", target="files")
    assert not graded(run, type="regex", pattern="^a$", match="count:2", target="files")
    assert graded(run, type="regex", pattern="found A", target="trace")
    assert not graded(run, type="regex", pattern="found A")
    assert graded(run, type="regex", pattern="b", target={"source": "file", "path": "out.txt"})
    assert graded(run, type="regex", pattern="z", match="not_contains", target={"source": "file", "path": "*.txt"})


@pytest.mark.parametrize("wanted", ["9" * 5000, "x", "\u00b2", ""])
def test_a_count_that_is_no_number_of_matches_is_no_verdict(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(AssertionUndecidedError, match="not contains, not_contains or count:N"):
        graded(material(tmp_path, "done"), type="regex", pattern="a", match=f"count:{wanted}")


def test_a_pattern_that_would_run_for_years_is_no_verdict(tmp_path: Path) -> None:
    run = material(tmp_path, "a" * 40 + "!")
    with pytest.raises(AssertionUndecidedError, match="Timeout exceeded"):
        graded(run, type="regex", pattern="(a+)+$")
    with pytest.raises(AssertionUndecidedError, match="not a Python regular expression"):
        graded(run, type="regex", pattern="(")


def test_calls_are_counted_and_ordered_by_tool_and_arguments(tmp_path: Path) -> None:
    run = material(
        tmp_path, "", call("Bash", 1, command="git status"), call("Write", 2, path="a"), call("bash", 3, command="rm a")
    )

    assert graded(run, type="tool_used", tool="Bash", min=2, max=2)
    assert graded(run, type="tool_used", tool="Bash", input_match='"command":"git')
    assert not graded(run, type="tool_used", tool="Bash", input_match="curl")
    assert graded(run, type="tool_used", tool="WebFetch", min=0, max=0)
    assert graded(run, type="tool_order", before={"tool": "Bash", "input_match": "git"}, after="Write")
    assert not graded(run, type="tool_order", before="Write", after="Bash")
    assert not graded(run, type="tool_order", before="Read", after="Bash")


def test_the_skill_tool_of_every_host_is_called_skill(tmp_path: Path) -> None:
    run = material(tmp_path, "", call("skills.load", result="loaded", skill="sort"), activated=("sort",))

    assert graded(run, type="tool_used", tool="Skill", input_match="sort")
    assert graded(run, type="skill_activated")
    assert not graded(run, type="skill_activated", activated=False)
    assert not graded(run, type="skill_activated", skill="other")


def test_files_are_compared_with_their_state_before_the_run(tmp_path: Path) -> None:
    for name in ("kept.txt", "changed.txt", "gone.txt"):
        (tmp_path / name).write_text("before")
    before = digests(str(tmp_path))
    (tmp_path / "changed.txt").write_text("after")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "new.csv").write_text("a,b")
    run = material(tmp_path, before=before)

    assert graded(run, type="file_exists", path="out/*.csv")
    assert graded(run, type="file_exists", path="gone.txt", exists=False)
    assert graded(run, type="file_contains", path="**/*.csv", phrase="a,b")
    assert not graded(run, type="file_contains", path="**/*.csv", phrase="c")
    assert graded(run, type="workspace", created=["out/**"], modified=["changed.txt"], deleted=["gone.txt"])
    assert graded(run, type="workspace", unchanged=["kept.txt"])
    assert not graded(run, type="workspace", unchanged=["*.txt"])
    assert not graded(run, type="workspace", modified=["kept.txt"])


def test_a_file_behind_a_link_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(secret)

    assert material(workspace).read("link") is None
    assert material(workspace).read("../secret") is None


def test_json_of_the_answer_or_a_file_is_compared_with_a_schema(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text('{"n": "three"}')
    run = material(tmp_path, '```json\n{"n": 3}\n```')

    assert graded(run, type="json_schema", schema=COUNT)
    assert not graded(run, type="json_schema", schema=COUNT, path="n.json")
    assert not graded(run, type="json_schema", schema=COUNT, path="missing.json")
    assert not graded(material(tmp_path, "three"), type="json_schema", schema=COUNT)
    with pytest.raises(AssertionUndecidedError, match="not enforced"):
        graded(run, type="json_schema", schema={"pattern": "x"})


def test_cost_turns_and_tokens_are_limits_and_an_unknown_cost_is_no_verdict(tmp_path: Path) -> None:
    run = material(tmp_path, turns=3)

    assert graded(run, type="turns", most=3)
    assert not graded(run, type="turns", most=2)
    assert graded(run, type="tokens", most=100)
    assert not graded(run, type="tokens", most=99)
    assert graded(run, type="cost", usd=0.01)
    assert not graded(run, type="cost", usd=0.009)
    with pytest.raises(AssertionUndecidedError, match="--price"):
        graded(material(tmp_path, usd=None), type="cost", usd=1)
