"""A suite in which a key is written twice is not read: one of the two values would be lost without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.format.suites.files import read_suite
from prowess.format.suites.json_text import JsonText
from prowess.format.suites.suite import SuiteError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("evals.json", '{"skill_name": "a",\n "evals": [{"id": 1, "prompt": "a",\n  "prompt": "b"}]}', 3),
        ("eval.yaml", "name: a\nskill: b\nconfig: {x: 1,\n  x: 2}\n", 4),
        ("a/case.yaml", "execution: {prompt: a}\nname: b\nname: c\n", 3),
        ("a/prompt.md", "---\nruns: 3\nruns: 4\n---\nSort it.\n", 3),
        ("x.eval.yaml", "skill: a\nskill: b\n", 2),
    ],
)
def test_a_suite_with_a_key_twice_is_refused_with_its_line(name: str, text: str, line: int, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(SuiteError, match=rf"{name}:{line}: the key '.*' is written twice; keep one of them"):
        read_suite(str(tmp_path if name in ("eval.yaml", "a/case.yaml", "a/prompt.md") else path))


def test_each_key_that_is_written_again_has_its_place() -> None:
    text = '{"a": 1, "b": [{"c": 1, "c": {"a": 2, "a": 3}}], "a": "\\u0061", "\\u0061": 4, "d": {}}'
    found = JsonText.parse(text).repeated
    assert [(one.key, text[one.offset :].partition(":")[0]) for one in found] == [
        ("c", '"c"'),
        ("a", '"a"'),
        ("a", '"a"'),
        ("a", '"\\u0061"'),
    ]
    assert [one.offset for one in found] == sorted(one.offset for one in found)
