"""The judge of what `check --fix` did to public skills, and one run over the broken examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.fix_skills import compare, judge, run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "broken"
OLD = b"---\nname: a\nauthor: B\nallowed-tools: [Read, 'Bash(ls *)']\n---\nText.\n"


def test_the_fixes_of_the_broken_examples_keep_every_value() -> None:
    outcome = run(EXAMPLES, unsafe=False)
    assert outcome.wrong == []
    assert outcome.kinds["values moved or announced"] >= 1


@pytest.mark.parametrize(
    ("new", "kind"),
    [
        (OLD.replace(b"author: B", b"metadata:\n  author: B"), "values moved or announced"),
        (OLD.replace(b"[Read, 'Bash(ls *)']", b"Read Bash(ls *)"), "values moved or announced"),
        (OLD.replace(b"name: a", b"name: 'a'"), "same values"),
    ],
)
def test_values_may_move_and_be_written_otherwise(new: bytes, kind: str) -> None:
    assert compare(OLD, new, "a", unsafe=False) == (kind, [])


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        (OLD.replace(b"author: B\n", b""), "author was 'B' and is None"),
        (OLD.replace(b"author: B", b"author: C"), "author was 'B' and is 'C'"),
        (OLD.replace(b"author: B", b"author: B\nmodel: x"), "model is new"),
        (OLD.replace(b"Read, ", b""), "allowed-tools was ['Read', 'Bash(ls *)'] and is ['Bash(ls *)']"),
        (OLD.replace(b"Text", b"Test"), "a line below the frontmatter is another"),
        (OLD.replace(b"name: a", b"name: ["), "YAML cannot read it any more"),
        (OLD.replace(b"name: a", b"name: b"), "name was 'a' and is 'b'"),
    ],
)
def test_what_a_fix_must_not_do_is_found(new: bytes, fault: str) -> None:
    assert compare(OLD, new, "b", unsafe=False)[1] == [fault]


def test_an_unsafe_fix_may_rename_and_edit_lines() -> None:
    new = OLD.replace(b"name: a", b"name: b").replace(b"Text", b"Test")
    assert compare(OLD, new, "b", unsafe=True) == ("values moved or announced, and lines below the frontmatter", [])
    assert compare(OLD, new, "c", unsafe=True)[1] == ["name was 'a' and is 'b'"]


def test_a_second_run_that_changes_something_is_found() -> None:
    path = Path("a/SKILL.md")
    outcome = judge({path: OLD}, {path: OLD}, {path: OLD + b"\n"}, unsafe=False)
    assert outcome.wrong == ["a/SKILL.md: the second run changed it"]
