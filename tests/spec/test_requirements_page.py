"""The generated page says what manifest and tests say, no more."""

from __future__ import annotations

from tests.spec.manifest import Requirement
from tools.requirements_page import page


def _requirement(identity: str, text: str) -> Requirement:
    return Requirement(
        id=identity, level="must", text=text, sources=(), room="format", due="stands", decision=None, file="format"
    )


def test_a_requirement_is_proved_by_its_tests_or_open() -> None:
    known = [_requirement("format.a", "It holds."), _requirement("format.b", "It holds too.")]
    text = page(known, {"format.a": ["tests/x/test_a.py::test_it", "tests/x/test_b.py"]}, frozenset({"stands"}))
    assert "| stands | yes | 1 of 2 | 0 of 0 | 0 of 0 |" in text
    assert "| catalog | no | 0 of 0 | 0 of 0 | 0 of 0 |" in text
    first = "[test_it](../../tests/x/test_a.py)<br>[tests/x/test_b.py](../../tests/x/test_b.py)"
    assert f"| `format.a`<br>It holds. | must | stands | {first} |" in text
    assert "| `format.b`<br>It holds too. | must | stands | open |" in text


def test_text_cannot_break_the_table_or_become_markup() -> None:
    text = page([_requirement("format.a", "`a|b` is <b> in [x](y).")], {}, frozenset())
    assert "`a\\|b` is &lt;b> in [x]\\(y)." in text
