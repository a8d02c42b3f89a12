"""One text form for the demands of a skill."""

from __future__ import annotations

import pytest

from prowess.lockfile.requirement import Requirement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ledger", Requirement(name="ledger")),
        ("\N{LATIN SMALL LIGATURE FI}le", Requirement(name="file")),
        ("ledger@^2", Requirement(name="ledger", range="^2")),
        (" ledger@>=1   <3 ", Requirement(name="ledger", range=">=1 <3")),
        ("ledger@2026-spring from ../books", Requirement(name="ledger", range="2026-spring", source="../books")),
        ("mail from git+ssh://git@example.org/x", Requirement(name="mail", source="git+ssh://git@example.org/x")),
    ],
)
def test_the_text_of_a_requirement_is_read_and_written(text: str, expected: Requirement) -> None:
    assert Requirement.parse(text) == expected
    assert Requirement.parse(str(expected)) == expected


def test_a_skill_without_version_is_allowed_only_if_no_version_is_demanded() -> None:
    assert Requirement.parse("ledger").allows(None)
    assert not Requirement.parse("ledger@^2").allows(None)
    assert Requirement.parse("ledger@^2").allows("2.4.0")
