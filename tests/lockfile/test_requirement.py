"""One text form for the demands of a skill."""

from __future__ import annotations

import pytest

from prowess.lockfile.requirement import Requirement, parse_requirements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ledger", Requirement(name="ledger")),
        ("ledger@^2", Requirement(name="ledger", versions="^2")),
        (" ledger@>=1   <3 ", Requirement(name="ledger", versions=">=1 <3")),
        ("ledger@2026-spring from ../books", Requirement(name="ledger", versions="2026-spring", source="../books")),
        ("mail from git+ssh://git@example.org/x", Requirement(name="mail", source="git+ssh://git@example.org/x")),
    ],
)
def test_the_text_of_a_requirement_is_read_and_written(text: str, expected: Requirement) -> None:
    assert Requirement.parse(text) == expected
    assert Requirement.parse(str(expected)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ledger@^2 mail@^1", ["ledger@^2", "mail@^1"]),
        ("ledger@>=1 <3 mail", ["ledger@>=1 <3", "mail"]),
        ("ledger@>=1 <3, mail", ["ledger@>=1 <3", "mail"]),
        ("a@1 - 2 b@1 || 2 c@1.x||2.x", ["a@1 - 2", "b@1 || 2", "c@1.x||2.x"]),
        ("3d 3d-print@^1 || ^2.0.0-rc.1 mail", ["3d", "3d-print@^1 || ^2.0.0-rc.1", "mail"]),
        ("a@ ^2 b", ["a@^2", "b"]),
        ("", []),
    ],
)
def test_one_line_holds_several_requirements(line: str, expected: list[str]) -> None:
    assert [str(each) for each in parse_requirements(line)] == expected


def test_a_skill_without_version_is_allowed_only_if_no_version_is_demanded() -> None:
    assert Requirement.parse("ledger").allows(None)
    assert not Requirement.parse("ledger@^2").allows(None)
    assert Requirement.parse("ledger@^2").allows("2.4.0")
