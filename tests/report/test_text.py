from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.text.terminal_text import columns, printable_line
from prowess.diagnostics import Diagnostic, Fix, FixSafety, Location, Severity
from prowess.format import parse_document, validate_skill
from prowess.lint import RULES
from prowess.report import CheckedSkill, Tally
from prowess.report.json_report import check_document, diagnostic_object
from prowess.report.text_report import TextLayout, check_lines, summary_line

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def checked(text: str, path: str = "a/SKILL.md") -> CheckedSkill:
    document = parse_document(text, path=path)
    return CheckedSkill(path="a", name="a", read=lambda: document, diagnostics=tuple(validate_skill(document)))


def test_a_finding_is_a_line_with_the_place_marked_below_it() -> None:
    skill = checked("---\nname: a\ndescription: Checks invoices. Triggers: VAT\nallowed-tools: A,B\n---\n")
    commas = "some clients do not accept commas between tools; separate the tokens by spaces"
    assert list(check_lines([skill])) == [
        'a/SKILL.md:3:14 error frontmatter.syntax       a value with ": " must be quoted',
        "  3 | description: Checks invoices. Triggers: VAT",
        "    |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ put it in double quotes",
        f"a/SKILL.md:4:16 warn  allowed-tools.separator  {commas}",
        "  4 | allowed-tools: A,B",
        "    |                ^^^ write the tokens with spaces between them",
    ]
    assert summary_line([skill]) == "1 error, 1 warning in 1 skill"


def test_a_warning_without_a_fix_is_one_line() -> None:
    skill = checked("---\nname: é\ndescription: d\n---\n")
    assert len(list(check_lines([skill]))) == 1
    assert summary_line([skill, skill]) == "2 infos in 2 skills"


def test_no_faults_are_said_to_be_none() -> None:
    assert list(check_lines([])) == []
    assert summary_line([checked("---\nname: a\ndescription: d\n---\n")]) == "no faults in 1 skill"


def test_nothing_in_a_file_can_act_on_the_terminal() -> None:
    skill = checked("---\nname: \x1b[31m\u202ea\ndescription: d\n---\n", path="\x1b]0;x\x07/SKILL.md")
    text = "\n".join(check_lines([skill]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m\\u202ea" in text


def test_the_mark_stands_under_the_place_after_wide_and_combining_characters() -> None:
    lines = list(check_lines([checked("---\nname: 数数_x\ndescription: d\n---\ne\u0301 [l](/y)\n")]))
    assert lines[1:3] == ["  2 | name: 数数_x", "    | " + " " * len("name: ") + "    ^"]
    assert lines[4:6] == ["  5 | e\u0301 [l](/y)", "    | " + " " * len("e [l](") + "^^"]


def test_a_long_line_is_cut_around_the_place() -> None:
    lines = list(check_lines([checked(f"---\nname: a\ndescription: d\n---\n{'x' * 300} [l](/y) {'z' * 300}")]))
    assert lines[1].startswith("  5 | ...xxx")
    assert lines[1].endswith("zzz...")
    assert len(lines[1]) < 120
    mark = lines[2].index("^")
    assert lines[1][mark : mark + 2] == "/y"
    early = list(check_lines([checked("---\nname: A" + "b" * 300 + "\ndescription: d\n---\n")]))
    assert early[1].startswith("  2 | name: Ab")


def test_the_mark_in_a_first_line_passes_over_a_byte_order_mark() -> None:
    skill = checked("\ufeff---\nname: a\n")
    lines = list(check_lines([skill]))
    assert lines[-2:] == ["  1 | ---", "    | ^^^"]


def test_colour_goes_around_the_severity_alone() -> None:
    lines = list(check_lines([checked("")], TextLayout(style=lambda text, colour: f"<{colour}>{text}</>")))
    assert lines[0].startswith("a/SKILL.md:1:1 <red>error</> frontmatter.missing")


def test_the_json_has_every_key_and_a_point_ends_where_it_starts() -> None:
    skill = checked("---\nname: a\nversion: 1\n---\n\0")
    document = check_document([skill])
    assert document["summary"] == {"skills": 1, "errors": 3, "warnings": 0, "infos": 0}
    assert document["skills"] == [{"path": "a", "name": "a", "valid": False}]
    missing, unknown, nul = (diagnostic_object(found) for found in skill.diagnostics)
    assert (missing["rule"], missing["fix"]) == ("description.required", None)
    assert unknown["fix"] == {
        "safety": "safe",
        "title": "move it under metadata",
        "edits": [{"line": 3, "column": 1, "end_line": 3, "end_column": 11, "text": "metadata:\n  version: 1"}],
    }
    assert (nul["line"], nul["column"], nul["end_line"], nul["end_column"]) == (5, 1, 5, 1)
    assert list(nul) == [
        "rule", "family", "severity", "message", "path", "line", "column", "end_line", "end_column", "skill", "detail",
        "fix",
    ]  # fmt: skip


def test_a_path_that_is_no_unicode_becomes_unicode() -> None:
    skill = checked("", path="\udcff/SKILL.md")
    assert diagnostic_object(skill.diagnostics[0])["path"] == "\\xff/SKILL.md"


def test_the_tally_counts_by_severity() -> None:
    skill = checked("---\nname: é\nallowed-tools: A,B\n---\n")
    assert Tally.of([skill]) == Tally(skills=1, errors=1, warnings=1, infos=1)
    assert {found.severity for found in skill.diagnostics} == set(Severity)


def _finding(
    message: str, path: str, severity: Severity = Severity.INFO, rule: str = "reference.contents"
) -> Diagnostic:
    return Diagnostic(rule=rule, family="lint", severity=severity, message=message, location=Location(path=path))


def _skill(path: str, *found: Diagnostic) -> CheckedSkill:
    document = parse_document("---\nname: a\ndescription: d\n---\n", path=f"{path}/SKILL.md")
    return CheckedSkill(path=path, name=path, read=lambda: document, diagnostics=found)


def test_three_infos_of_a_rule_are_counted_in_one_line_and_shown_on_request() -> None:
    few = _skill("a", _finding("x", "a/1"), _finding("y", "a/2"), _finding("w", "a/1", Severity.WARNING))
    assert len(list(check_lines([few]))) == 3
    many = [few, _skill("b", _finding("z", "b/3"), _finding("o", "b/3", rule="other.rule"))]
    lines = list(check_lines(many, rules=RULES))
    assert lines[:2] == [
        "a/1:1:1 warn  reference.contents  w",
        "b/3:1:1 info  other.rule          o",
    ]
    assert lines[2].startswith("info  3 \N{MULTIPLICATION SIGN} reference.contents  ")
    assert lines[2].endswith("; first a/1:1:1")
    assert lines[3:] == ["--verbose shows each info that is only counted here"]
    every = [line.partition(":")[0] for line in check_lines(many, TextLayout(verbose=True))]
    assert every == ["a/1", "a/2", "a/1", "b/3", "b/3"]
    assert len(cast("list[object]", check_document(many)["diagnostics"])) == 5
    assert summary_line(many) == "1 warning, 4 infos in 2 skills"


def test_a_file_that_several_skills_have_is_reported_once_with_its_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("a", "same"), ("b", "same"), ("c", "different"), ("d", "")):
        (tmp_path / name).mkdir()
        if text:
            (tmp_path / name / "x.py").write_text(text)
    (tmp_path / "d" / "x.py").symlink_to(tmp_path / "a" / "x.py")
    skills = [_skill(name, _finding("m", f"{name}/x.py", Severity.WARNING)) for name in ("a", "b", "c", "d", "e")]
    assert list(check_lines(skills)) == [
        "a/x.py:1:1 warn  reference.contents  m",
        "    the same file: b/x.py:1:1, d/x.py:1:1",
        "c/x.py:1:1 warn  reference.contents  m",
        "e/x.py:1:1 warn  reference.contents  m",
    ]
    assert summary_line(skills) == "5 warnings in 5 skills"
    twice = _skill("a", *(_finding("m", "a/x.py", Severity.WARNING) for _ in range(2)))
    assert len(list(check_lines([twice]))) == 2


@given(
    before=st.text(max_size=120),
    marked=st.text(max_size=120),
    after=st.text(max_size=120),
    width=st.integers(min_value=20, max_value=100),
)
def test_no_line_is_wider_than_the_terminal_and_the_mark_stands_under_its_text(
    before: str, marked: str, after: str, width: int
) -> None:
    before, marked, after = (re.sub("[\\n\\r\\0]", "", text) for text in (before, marked, after))
    document = parse_document(f"x{before}{marked}{after}", path="a/SKILL.md")
    start = len(before) + 2
    place = Location(path="a/SKILL.md", line=1, column=start, end_line=1, end_column=start + len(marked))
    fix = Fix(title="put it in double quotes, please", safety=FixSafety.SAFE, edits=())
    found = Diagnostic(
        rule="a.b", family="spec", severity=Severity.ERROR, message="one two three " * 9, location=place, fix=fix
    )
    skill = CheckedSkill(path="a", name="a", read=lambda: document, diagnostics=(found,))
    lines = list(check_lines([skill], TextLayout(width=width)))
    assert max(map(columns, lines)) <= width
    at = next(at for at, line in enumerate(lines) if line.startswith("  1 | "))
    shown, mark = lines[at], lines[at + 1]
    carets = mark.index("^")
    # What stands in those columns is the beginning of the marked text, as far as it is shown.
    rest = _from_column(shown, carets).removesuffix("...")
    expected = printable_line(marked) + printable_line(after)
    assert expected.startswith(rest)
    assert rest or not expected


def _from_column(text: str, column: int) -> str:
    for at in range(len(text) + 1):
        if columns(text[:at]) >= column:
            return text[at:]
    return ""
