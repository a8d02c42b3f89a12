"""The generated page says what manifest and tests say, no more."""

from __future__ import annotations

from tests.spec.manifest import Requirement
from tools.requirements_page import MOST_ON_A_PAGE, pages


def _requirement(identity: str, text: str) -> Requirement:
    return Requirement(
        id=identity, level="must", text=text, sources=(), room="format", due="stands", decision=None, file="format"
    )


def test_a_requirement_is_proved_by_its_tests_or_open() -> None:
    known = [_requirement("format.a", "It holds."), _requirement("format.b", "It holds too.")]
    proved = {"format.a": ["tests/x/test_a.py::test_it", "tests/x/test_b.py"]}
    found = pages(known, proved, frozenset({"stands"}))
    text = found["index.md"]
    assert "| [Format](format.md) | 2 | 1 |" in text
    assert "| stands | yes | 1 of 2 | 0 of 0 | 0 of 0 |" in text
    assert "| catalog | no | 0 of 0 | 0 of 0 | 0 of 0 |" in text
    first = "[test_it](../../../tests/x/test_a.py)<br>[tests/x/test_b.py](../../../tests/x/test_b.py)"
    text = found["format.md"]
    assert f"| `format.a`<br>It holds. | must | stands | {first} |" in text
    assert "| `format.b`<br>It holds too. | must | stands | open |" in text


def test_text_cannot_break_the_table_or_become_markup() -> None:
    text = pages([_requirement("format.a", "`a|b` is <b> in [x](y).")], {}, frozenset())["format.md"]
    assert "`a\\|b` is &lt;b> in [x]\\(y)." in text


def test_a_large_file_is_divided_between_two_areas() -> None:
    known = [
        _requirement(f"format.{area}.{number}", "It holds.")
        for number in range(MOST_ON_A_PAGE - 1)
        for area in ("name", "body", "body.size")
    ]
    found = pages(known, {}, frozenset())
    assert list(found) == ["index.md", "format-1.md", "format-2.md"]
    assert "# Format: name to name" in found["format-2.md"]
    assert all(f"`{item.id}`" in found["format-1.md"] + found["format-2.md"] for item in known)
