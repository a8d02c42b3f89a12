"""README.md and docs/reference/benchmarks.md state the figures of the recorded run and no others."""

from __future__ import annotations

import re

import pytest

from benchmarks.figures import Figure
from benchmarks.pages import PAGE, README, Results, page, recorded, replaced, table

FIGURES = re.compile(r"<!-- figures: .*?<!-- end of figures -->", re.DOTALL)
A_RATIO = re.compile(r"\d\s*(?:×|times (?:as|faster|slower))")


def test_the_readme_states_the_figures_of_the_recorded_run() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == replaced(text, recorded()), "run `python -m benchmarks --pages`"


def test_the_readme_states_no_ratio_besides_those_of_the_record() -> None:
    text = FIGURES.sub("", README.read_text(encoding="utf-8"))
    assert A_RATIO.findall(text) == []


def test_the_page_is_that_of_the_recorded_run() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(recorded()), "run `python -m benchmarks --pages`"


def test_each_figure_of_the_record_has_conditions_and_each_pair_of_name_and_corpus_is_there_once() -> None:
    figures = recorded().figures
    assert [figure.name for figure in figures if not figure.note] == []
    pairs = [(figure.name, figure.corpus) for figure in figures]
    assert len(set(pairs)) == len(pairs)


def _results(*figures: Figure) -> Results:
    return Results(date="2026-01-02", version="1.0", machine="a machine", rounds=3, figures=list(figures))


def test_a_missed_promise_is_called_missed_in_the_table_and_listed_on_the_page() -> None:
    results = _results(
        Figure(name="start", value=3.0, at_most=2, note="whole processes"),
        Figure(name="check", corpus="public", value=0.4, at_least=0.5, note="cold"),
        Figure(name="check", corpus="generated", value=0.6, at_least=0.5, note="cold"),
        Figure(name="list", corpus="public", value=None, at_least=0.5, note="no public skills"),
    )
    assert table(results).splitlines()[2:] == [
        "| start | 3.00 ×, missed |  | ≤ 2 × |",
        "| check | 0.40 ×, missed | 0.60 × | ≥ 0.5 × |",
        "| list | not measured |  | ≥ 0.5 × |",
    ]
    assert page(results).partition("## Missed targets\n\n")[2].splitlines() == [
        "- start: 3.00 ×, ≤ 2 ×, missed",
        "- check (public): 0.40 ×, ≥ 0.5 ×, missed",
    ]


def test_a_promise_for_one_corpus_names_it() -> None:
    results = _results(
        Figure(name="list", corpus="public", value=9.0, note="cold"),
        Figure(name="list", corpus="generated", value=8.0, at_most=10, note="cold"),
    )
    assert table(results).splitlines()[2] == "| list | 9.00 × | 8.00 × | ≤ 10 × (generated) |"


def test_without_any_value_the_page_states_that_nothing_was_measured() -> None:
    assert "not measured yet" in _results(Figure(name="a", value=None, note="b")).conditions


def test_a_readme_without_a_place_for_figures_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for figures"):
        replaced("# Prowess\n", _results())
