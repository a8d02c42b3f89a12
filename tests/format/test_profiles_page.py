from __future__ import annotations

from pathlib import Path

from prowess.format import RULES

PAGE = Path(__file__).parents[2] / "docs" / "profiles.md"
_CELLS = {"error": "error", "warning": "warn", "info": "info", None: "–"}


def test_the_page_of_profiles_shows_the_table_of_rules() -> None:
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `") and "." in line[:30]
    ]
    assert rows == [
        f"| `{row.id}` | {row.summary} | {_CELLS[row.spec]} | {_CELLS[row.skills_ref]} | {_CELLS[row.lenient]} |"
        for row in RULES.values()
    ]
