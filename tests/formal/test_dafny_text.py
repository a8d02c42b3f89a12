"""What can be said of the Dafny text without Dafny."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.proof import page
from tools.proof.comparison import PROOF_ONLY, SUBJECTS
from tools.proof.dafny_text import declarations, taken_for_granted, texts

ROOT = Path(__file__).parents[2]
FORMAL = texts(ROOT / "formal")


@pytest.mark.proves("tooling.formal.file")
def test_nothing_is_taken_for_granted() -> None:
    assert "AgentSkills.dfy" in FORMAL
    assert {name: taken_for_granted(text) for name, text in FORMAL.items()} == {name: [] for name in FORMAL}
    assert page.counts(FORMAL)["lemma"] > 80


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lemma L() { assume false; }", "line 1: assume (assume) is believed without proof"),
        ("lemma {:axiom} L() { }", "line 1: an attribute ({:axiom}) is believed without proof"),
        ("\nlemma {:verify false} L() { }", "line 2: an attribute ({:verify false}) is believed without proof"),
        ("method {:extern} M() { }", "line 1: an attribute ({:extern}) is believed without proof"),
        ("lemma L(x: int)\n  ensures x > 3\nlemma K() { }", "line 1: lemma L has no body"),
        ("lemma L(s: seq<int>)\n  ensures multiset(s) == multiset{3}\n", "line 1: lemma L has no body"),
        ("lemma L(x: set<int>) ensures x == {3} || x > {4}", "line 1: lemma L has no body"),
        ("module M {\n  predicate P(x: int)\n}\nmodule N { }", "line 2: predicate P has no body"),
    ],
)
def test_whatever_is_believed_without_proof_is_found(text: str, sentence: str) -> None:
    assert sentence in taken_for_granted(text)


@pytest.mark.parametrize(
    "text",
    [
        "// assume nothing\nlemma L() { }",
        'function F(): string { "assume {:axiom}" }',
        "function F(s: seq<int>): seq<int>\n  decreases |s|\n{ s }",
        "predicate P(s: string) requires 'a' !in s { true }",
    ],
)
def test_an_honest_text_is_left_alone(text: str) -> None:
    assert taken_for_granted(text) == []


@pytest.mark.proves("tooling.formal.correspondence")
def test_every_predicate_is_in_the_table_or_has_a_reason_not_to_be() -> None:
    declared = [one for text in FORMAL.values() for one in declarations(text)]
    compared = {name for subject in SUBJECTS for name in subject.predicates}
    predicates = {one.name for one in declared if one.kind == "predicate"}
    assert predicates - compared == PROOF_ONLY.keys() & predicates
    assert (compared | PROOF_ONLY.keys()) <= {one.name for one in declared}


def test_the_page_states_what_stands_in_the_text() -> None:
    shown = (ROOT / "docs" / "reference" / "proof.md").read_text(encoding="utf-8")
    assert page.stated(FORMAL) in shown
    assert page.correspondence() in shown


def test_figures_replace_only_what_stands_between_their_marks() -> None:
    old = f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n"
    part = page.figures(FORMAL, 7, [])
    assert page.replaced(old, part) == f"before\n{part}\nafter\n"
    with pytest.raises(ValueError, match="no part between"):
        page.replaced("nothing", part)
