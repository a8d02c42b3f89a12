"""The rules of the skillscraft reference fire on what it names, at its severities, and on nothing less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.diagnostics import Severity
from prowess.format import parse_document
from prowess.lint import lint_skill
from tests.lint.case import body, lay_out
from tests.lint.cases.quality import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.diagnostics import Diagnostic

_SEVERITIES = {
    "context-budget": Severity.WARNING,
    "description-quality": Severity.WARNING,
    "no-generic-instructions": Severity.WARNING,
    "progressive-disclosure": Severity.WARNING,
    "defaults-over-menus": Severity.WARNING,
    "gotchas-present": Severity.INFO,
}


def skillscraft(text: str) -> list[Diagnostic]:
    return lint_skill(parse_document(f"---\nname: pdf-tables\n{text}"), profile="skillscraft")


def _each_fires_at_its_severity(rules: tuple[str, ...], folder: Path) -> None:
    for at, case in enumerate(case for case in CASES if case.rule in rules):
        skill = lay_out(case, case.bad, folder / str(at))
        found = [one for one in lint_skill(skill, profile="skillscraft") if one.rule == case.rule]
        assert [one.severity for one in found] == [_SEVERITIES[case.rule]] * case.times
        assert case.says in found[0].message
        for number, good in enumerate(case.good):
            skill = lay_out(case, good, folder / f"{at}-{number}")
            assert case.rule not in {one.rule for one in lint_skill(skill, profile="skillscraft")}


@pytest.mark.proves(
    "format.lint.context-budget",
    "format.lint.description-quality",
    "format.lint.no-generic-instructions",
    "tooling.authoring.split-advice",
)
def test_budget_description_and_stock_phrases_are_warnings(tmp_path: Path) -> None:
    _each_fires_at_its_severity(("context-budget", "description-quality", "no-generic-instructions"), tmp_path)


@pytest.mark.proves(
    "format.lint.progressive-disclosure", "format.lint.defaults-over-menus", "format.lint.gotchas-present"
)
def test_length_without_references_and_menus_are_warnings_and_missing_gotchas_an_info(tmp_path: Path) -> None:
    _each_fires_at_its_severity(("progressive-disclosure", "defaults-over-menus", "gotchas-present"), tmp_path)


def test_one_text_draws_one_finding_on_its_length() -> None:
    found = skillscraft(body("word " * 30_000 + "\n" * 600))
    assert [one.rule for one in found if one.rule in {"context-budget", "body.tokens", "body.maxLines"}] == [
        "context-budget"
    ]
    spec = lint_skill(parse_document(f"---\nname: a\n{body('word ' * 30_000)}"))
    assert [one.rule for one in spec if "budget" in one.rule or one.rule.startswith("body.")] == ["body.tokens"]


@pytest.mark.proves("format.lint.description-good")
@pytest.mark.parametrize(
    "description",
    [
        "Extrai texto e tabelas de PDF, preenche formul\u00e1rios e mescla PDFs. Use ao trabalhar com documentos PDF.",
        "Extracts text and tables from PDF files, fills forms, merges PDFs. Use when the user mentions PDFs or forms.",
    ],
)
@pytest.mark.parametrize("profile", ["spec", "skillscraft", "boxxy"])
def test_a_description_that_says_what_and_when_passes_every_rule_on_descriptions(
    description: str, profile: str
) -> None:
    document = parse_document(f"---\nname: pdf-processing\ndescription: {description}\n---\n")
    assert [one for one in lint_skill(document, profile=profile) if one.rule.startswith("description")] == []


@pytest.mark.proves("format.lint.description-bad")
@pytest.mark.parametrize("description", ["Ajuda com PDFs.", "Helps with PDFs."])
def test_a_description_that_says_neither_is_warned_of(description: str) -> None:
    found = skillscraft(f"description: {description}\n---\n")
    assert "description-quality" in {one.rule for one in found if one.severity is Severity.WARNING}


@pytest.mark.proves("format.script.non-interactive", "format.script.help", "format.script.errors")
def test_scripts_that_ask_hide_errors_or_explain_nothing_are_named(tmp_path: Path) -> None:
    skill = tmp_path / "pdf-tables"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: pdf-tables\n{body('Run `scripts/a.py`.')}", encoding="utf-8")
    script = "import sys\npath = sys.argv[1]\nname = input('Name? ')\ntry:\n    run()\nexcept Exception:\n    pass\n"
    (skill / "scripts" / "a.py").write_text(script, encoding="utf-8")
    found = {one.rule: (one.severity, one.location.line) for one in lint_skill(skill)}
    assert found == {
        "scripts.prompt": (Severity.WARNING, 3),
        "scripts.help": (Severity.INFO, 2),
        "scripts.errors": (Severity.INFO, 6),
    }


@pytest.mark.proves("format.reference.chain", "format.reference.orphan", "format.lint.license-file")
def test_files_that_are_reached_badly_are_named(tmp_path: Path) -> None:
    skill = tmp_path / "pdf-tables"
    (skill / "references").mkdir(parents=True)
    text = f"---\nname: pdf-tables\nlicense: See LICENSE.txt\n{body('[a](references/a.md)')}"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    for name, content in {"a": "[b](b.md)", "b": "x", "c": "x"}.items():
        (skill / "references" / f"{name}.md").write_text(content, encoding="utf-8")
    found = {one.rule: (one.severity, one.message.partition(";")[0]) for one in lint_skill(skill)}
    assert found == {
        "reference.chain": (Severity.INFO, "references/b.md is reached only through references/a.md"),
        "reference.orphan": (Severity.INFO, "references/c.md is not mentioned in the skill"),
        "license.missing": (Severity.WARNING, "license names LICENSE.txt, which does not exist in the skill"),
    }
