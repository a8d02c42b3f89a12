from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins

from prowess._internal.text.terminal_text import columns
from prowess.cli.dispatch import run
from prowess.format import PROFILES
from prowess.lint import RULES
from prowess.lint.rule_page import rule_page, rule_pages
from tests.cli.terminal import on_a_terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.proves("format.rules.documented")
def test_every_rule_has_a_page_with_all_its_sections() -> None:
    pages = list(rule_pages())
    assert [page.id for page in pages] == list(RULES)
    for page in pages:
        assert all(len(section) > 3 for section in to_builtins(page.page).values())
        assert list(page.severities) == list(PROFILES)
        assert page.source
        assert page.since
        text = page.markdown()
        for section in ("What it does", "Why it matters", "Example", "Instead", "Severity"):
            assert f"\n## {section}\n\n" in text
        assert f"spec {page.severities['spec'] or 'off'}" in text
        assert "\nFix: " in text


@pytest.mark.proves("tooling.cli.rule")
def test_the_page_of_a_rule_is_printed_and_of_no_other(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "reference.case"]) == 0
    printed = capfd.readouterr().out
    assert printed.startswith("# reference.case\n\nA linked file is spelled as it is on disk.\n\n## What it does\n\n")
    assert "Fix: writes the name as it is spelled on disk." in printed
    assert printed.split() == rule_page("reference.case").markdown().split()


def test_as_json_the_sections_are_keys(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "name.format", "--json"]) == 0
    page = json.loads(capfd.readouterr().out)
    assert page["rule"] == "name.format"
    assert page["severities"]["lenient"] == "warning"
    assert page["instead"] == "`name: pdf-tables`"


@pytest.mark.proves("tooling.cli.rule")
def test_without_an_id_all_rules_are_listed_with_their_severity_in_every_profile(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(["rule"]) == 0
    head, *lines = capfd.readouterr().out.splitlines()
    assert head.split() == ["rule", *PROFILES, "requirement"]
    assert [line.split()[0] for line in lines] == list(RULES)
    for line, row in zip(lines, RULES.values(), strict=True):
        _, *levels = line.split(maxsplit=len(PROFILES) + 1)[:-1]
        assert levels == [row.severity_in(profile) or "-" for profile in PROFILES]
        assert line.endswith(f"  {row.summary}")
        assert line.index(row.summary) == head.index("requirement")
    assert run(["rule", "--json"]) == 0
    pages = json.loads(capfd.readouterr().out)
    assert [page["rule"] for page in pages] == list(RULES)
    assert pages[0]["severities"] == {profile: RULES[pages[0]["rule"]].severity_in(profile) for profile in PROFILES}


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        ("reference.mising", "did you mean reference.missing?"),
        ("NAME.FORMAT", "did you mean name.format?"),
        ("\x1b[31m", "`prowess rule` lists them"),
    ],
)
def test_a_slip_is_answered_with_the_nearest_rule(slip: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", slip]) == 2
    told = capfd.readouterr().err
    assert says in told
    assert "\x1b[31m" not in told


def test_a_page_names_its_fix_and_source() -> None:
    assert rule_page("encoding.bom").fix == "removes it"
    assert rule_page("body.tokens").fix is None
    assert rule_page("hooks.event").source.startswith("agent skills platform")


def test_pages_and_the_table_keep_eighty_columns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for rule in RULES:
        assert run(["rule", rule]) == 0
    lines = capfd.readouterr().out.split("\n")
    assert max(map(columns, lines)) <= 80
    table = on_a_terminal(tmp_path, "rule").split("\r\n")
    assert max(map(columns, table)) <= 80
    joined = " ".join(table)
    assert joined.startswith("E error, W warning, I info, - off, in the profiles spec, ")
    assert [rule for rule in RULES if f" {rule} " not in joined] == []


def test_a_group_of_rules_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "description"]) == 2
    told = capsys.readouterr().err
    assert "rules of this group: " in told
    assert all(rule in told for rule in RULES if rule.startswith("description."))
