"""No spelling of a source leads around a rule about it."""

from __future__ import annotations

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.lockfile.source_reference import parse_reference
from prowess.lockfile.spellings import source_names
from prowess.policy.facts.skill_identity import SkillIdentity, fit_of_skills

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
    "https://github.com./acme/skills",
    "git+https://github.com:0443/acme/skills",
    "git+https://github.com/%61cme/skills%2egit",
    "git+https://github.com/acme//skills/",
    "git+ssh://git@ssh.github.com:443/acme/skills",
    "https://github.com/acme/skills/archive/refs/heads/main.zip",
)


@pytest.mark.parametrize("spelling", _SPELLINGS)
@pytest.mark.parametrize(
    "pattern",
    [
        "acme/skills",
        "acme/*",
        "Acme/*",
        "https://github.com/acme/*",
        "github.com/acme/skills",
        "https://github.com/acme/skills.git",
        "https://github.com/acme/skills/",
        "git@github.com:acme/skills.git",
    ],
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
        ("https://example.org/Acme/skills.git", "example.org/acme/*"),  # this host may tell them apart
    ],
)
def test_another_source_does_not_match(spelling: str, pattern: str) -> None:
    known = SkillIdentity(sources=source_names(parse_reference(spelling)))
    assert not fit_of_skills({"source": [pattern]}, [known]).possible


@pytest.mark.parametrize(
    ("spelling", "pattern"),
    [
        ("https://skills.example.com?x=1", "https://skills.example.com"),
        ("https://skills.example.com.:0443", "https://skills.example.com/"),
        ("https://skills.example.com//pdf.zip?x", "https://skills.example.com/pdf.zip"),
        ("https://skills.example.com/%70df.zip", "https://skills.example.com/pdf.zip"),
        ("oci://index.docker.io/acme/pdf", "oci://docker.io/acme/pdf"),
        ("oci://ghcr.io.:443/acme/pdf", "oci://ghcr.io/acme/*"),
    ],
)
def test_every_spelling_of_a_site_or_registry_matches_a_rule_about_it(spelling: str, pattern: str) -> None:
    known = SkillIdentity(sources=source_names(parse_reference(spelling)))
    assert fit_of_skills({"source": [pattern]}, [known]).certain


@pytest.mark.parametrize(
    "path",
    ["acme/../evil/skills", "acme/%2e%2E/evil/skills", "acme/..%2fevil/skills", "acme/./skills", "acme%2Fskills"],
)
def test_a_path_that_leads_to_another_repository_is_refused(path: str) -> None:
    for spelling in (f"git+https://github.com/{path}", f"https://github.com/{path}.git"):
        with pytest.raises(InvalidArgumentsError):
            parse_reference(spelling)


@pytest.mark.parametrize("spelling", ["acme/../evil/skills", "acme/..", "https://example.com/acme/../evil/pdf.zip"])
def test_a_source_with_dots_is_refused(spelling: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        parse_reference(spelling)


def test_a_local_source_has_the_names_of_the_directories_above_it() -> None:
    names = source_names(parse_reference("/srv/skills/team"))
    assert names[:3] == ("/srv/skills/team", "/srv/skills", "/srv")
