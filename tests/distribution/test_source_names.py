"""No spelling of a source leads around a rule about it."""

from __future__ import annotations

import pytest

from prowess.distribution.permission.named_sources import source_names
from prowess.distribution.sources.reference import parse_reference
from prowess.policy.skill_identity import SkillIdentity, fit_of_skills

_SPELLINGS = (
    "acme/skills",
    "Acme/Skills",
    "acme/skills/pdf",
    "acme/skills@1.2.0",
    "https://github.com/acme/skills",
    "https://github.com/acme/skills.git",
    "https://github.com/Acme/skills/tree/main/pdf",
    "https://GitHub.com/acme/skills",
    "git+https://github.com/acme/skills.git",
    "git+ssh://git@github.com/acme/skills",
    "git@github.com:acme/skills.git",
)


@pytest.mark.parametrize("spelling", _SPELLINGS)
@pytest.mark.parametrize(
    "pattern", ["acme/skills", "acme/*", "Acme/*", "https://github.com/acme/*", "github.com/acme/skills"]
)
def test_every_spelling_of_a_repository_matches_a_rule_about_it(spelling: str, pattern: str) -> None:
    known = SkillIdentity(sources=source_names(parse_reference(spelling)))
    assert fit_of_skills({"source": [pattern]}, [known]).certain


@pytest.mark.parametrize(
    ("spelling", "pattern"),
    [
        ("acme/skills", "acme/other"),
        ("https://gitlab.com/acme/skills", "acme/*"),
        ("https://example.org/acme/skills.git", "acme/*"),
        ("oci://example.org/acme/skills", "acme/*"),
    ],
)
def test_another_source_does_not_match(spelling: str, pattern: str) -> None:
    known = SkillIdentity(sources=source_names(parse_reference(spelling)))
    assert not fit_of_skills({"source": [pattern]}, [known]).possible


def test_a_local_source_has_the_names_of_the_directories_above_it() -> None:
    names = source_names(parse_reference("/srv/skills/team"))
    assert names[:3] == ("/srv/skills/team", "/srv/skills", "/srv")
