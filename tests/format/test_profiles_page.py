"""The pages and schemas that are made from the tables are those on disk."""

from __future__ import annotations

import sys

import pytest

from prowess.format import PROFILES
from prowess.lint import RULES
from tools.divergences import DIVERGENCES, divergence_table
from tools.format_pages import DOCS, generated, main

PAGE = DOCS / "reference" / "profiles.md"


def test_no_generated_file_is_stale_and_none_is_left_over() -> None:
    files = dict(generated())
    assert {path: path.read_text(encoding="utf-8") == text for path, text in files.items()} == dict.fromkeys(
        files, True
    )
    assert sorted(DOCS.glob("reference/schemas/*")) == sorted(path for path in files if path.parent.name == "schemas")


def test_a_stale_file_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["--check"]) == 0
    monkeypatch.setitem(sys.modules[main.__module__].__dict__["TABLES"], "presets", lambda: iter(["| x |"]))
    assert main(["--check"]) == 1
    assert capsys.readouterr().err == f"{DOCS / 'reference' / 'configuration.md'} is stale: run make docs\n"


@pytest.mark.proves("format.profile.table")
def test_the_page_shows_every_rule_and_every_divergence_in_every_profile() -> None:
    page = PAGE.read_text(encoding="utf-8")
    cells = {"error": "error", "warning": "warn", "info": "info", None: "–"}
    for row in RULES.values():
        assert (
            f"| `{row.id}` | {row.summary} | {' | '.join(cells[row.severity_in(name)] for name in PROFILES)} |" in page
        )
    for topic, values in divergence_table().items():
        assert f"| {topic} | {' | '.join(values[name] for name in PROFILES)} |" in page


@pytest.mark.proves("format.profile.table")
def test_each_divergence_of_the_texts_is_a_row_with_a_value_in_each_profile() -> None:
    assert len(DIVERGENCES) == 26
    table = divergence_table()
    assert len(table) == 26
    for values in table.values():
        assert tuple(values) == tuple(PROFILES)
        assert all(values.values())
    assert {rule for row in DIVERGENCES for rule in row.rules} <= set(RULES)
    assert table["letters of a name"]["boxxy"] == "ASCII; off"
    assert table["field that is not known"] == {
        "spec": "error",
        "skills-ref": "error",
        "skillscraft": "warning",
        "boxxy": "error",
        "claude-code": "warning",
        "lenient": "warning",
    }
    assert table["severities in use"]["skills-ref"] == "error"


def test_every_summary_fits_into_its_cell() -> None:
    assert [row.id for row in RULES.values() if len(row.summary) > 50 or not row.summary.endswith(".")] == []
