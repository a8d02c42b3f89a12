from __future__ import annotations

import pytest

from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.format import parse_document, validate_skill
from prowess.rule_engine.rules import suppress, suppressions

HEAD = "---\nname: a\ndescription: d\n---\n"


def asked(text: str) -> list[tuple[str, float, float]]:
    return [(one.selector, one.first, one.last) for one in suppressions(parse_document(text, path="SKILL.md"))]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<!-- prowess: ignore reference.missing -->\n[a](b)\n", [("reference.missing", 5, 6)]),
        ("[a](b) <!-- prowess: ignore reference, lint -->\nx\n", [("reference", 5, 5), ("lint", 5, 5)]),
        ("text\n\n<!-- prowess: ignore-file body.tokens -->\n", [("body.tokens", 1, float("inf"))]),
        ("<!--\nprowess: ignore name\n-->\nx\n", [("name", 5, 8)]),
        ("```\n<!-- prowess: ignore name -->\n```\n", []),
        ("`<!-- prowess: ignore name -->`\n", []),
        ("<!-- prowess: ignore -->\n<!-- prowess: ignored name -->\n", []),
        ("<!-- prowess: ignore name\nsay: more -->\n", []),
        ("# prowess: ignore name\n", []),
    ],
)
def test_comments_of_the_body_ask_for_their_line_the_next_or_all(
    body: str, found: list[tuple[str, float, float]]
) -> None:
    assert asked(HEAD + body) == found


def test_comments_of_the_frontmatter_are_no_part_of_values() -> None:
    text = (
        "---\n# prowess: ignore name\nname: A # prowess: ignore name.format\n"
        "description: |\n  # prowess: ignore spec\n  x\nlicense: 'a # prowess: ignore spec'\n---\n"
    )
    assert asked(text) == [("name", 2, 3), ("name.format", 3, 3)]


def test_a_thousand_comments_are_not_all_kept() -> None:
    assert len(asked(HEAD + "<!-- prowess: ignore name -->\n\n" * 1000)) == 200


def test_what_silences_nothing_is_said_and_security_is_closed_to_a_skill() -> None:
    text = HEAD.replace("name: a", "# prowess: ignore name, lint\nname: A") + "<!-- prowess: ignore-file security -->\n"
    document = parse_document(text, path="SKILL.md")
    danger = Diagnostic(
        rule="security.x", family="security", severity=Severity.ERROR, message="m", location=Location(path="SKILL.md")
    )
    elsewhere = Diagnostic(
        rule="name.x", family="spec", severity=Severity.ERROR, message="m", location=Location(path="other", line=3)
    )
    findings = [*validate_skill(document), danger, elsewhere]
    done = suppress(findings, suppressions(document), document, security=False)
    assert done.kept == (danger, elsewhere)
    assert done.silenced == 1
    assert [one.selector for one in done.unused] == ["lint"]
    opened = suppress(findings, suppressions(document), document, security=True)
    assert opened.kept == (elsewhere,)
