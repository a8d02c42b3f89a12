"""Skills that a skill needs: three places to declare them, one type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.format.manifest.requirements import Requirements, SkillRequirement, requirements_of
from prowess.format.reading import read_skill

if TYPE_CHECKING:
    from pathlib import Path

LONG = "1" * 300


def requirements(folder: Path, front: str = "", manifest: str = "") -> Requirements:
    skill = folder / "invoices"
    skill.mkdir()
    (skill / "SKILL.md").write_text(f"---\nname: invoices\ndescription: Sums invoices.\n{front}---\nBody.\n")
    if manifest:
        (skill / "skill.manifest.yaml").write_text(manifest)
    read = read_skill(skill, profile="lenient")
    return requirements_of(read.frontmatter, read.sidecar)


def shown(found: Requirements) -> list[tuple[str, str, str | None]]:
    assert found.problems == ()
    return [(one.name, one.range, one.source) for one in found.skills]


def test_the_manifest_may_give_a_version_and_a_source(tmp_path: Path) -> None:
    found = requirements(
        tmp_path,
        manifest="composition:\n  dependencies:\n"
        "    - {skillName: ledger, reason: has the accounts, version: '>=2.1 <3 || 4.x', source: acme/skills}\n"
        "    - {skillName: mail, reason: sends the sum, optional: true}\n",
    )
    assert found.problems == ()
    assert found.skills == (
        SkillRequirement(name="ledger", range=">=2.1 <3 || 4.x", source="acme/skills"),
        SkillRequirement(name="mail", optional=True),
    )


@pytest.mark.parametrize(
    "front",
    [
        'metadata:\n  dependencies: "ledger@^2 mail@^1 plain"\n',
        "metadata:\n  dependencies: ledger@^2, mail@^1, plain\n",
        "metadata:\n  dependencies: [ledger@^2, mail@^1, plain]\n",
    ],
)
def test_metadata_names_skills_with_ranges(tmp_path: Path, front: str) -> None:
    assert shown(requirements(tmp_path, front)) == [("ledger", "^2", None), ("mail", "^1", None), ("plain", "*", None)]


def test_a_range_in_metadata_may_contain_blanks(tmp_path: Path) -> None:
    front = 'metadata: {dependencies: "ledger@>=1 <3 mail@^1 || 4.x, plain 3d-print@ 1 - 2"}\n'
    expected = [
        ("ledger", ">=1 <3", None),
        ("mail", "^1 || 4.x", None),
        ("plain", "*", None),
        ("3d-print", "1 - 2", None),
    ]
    assert shown(requirements(tmp_path, front)) == expected


def test_toolhive_requires_artifacts_and_repositories(tmp_path: Path) -> None:
    digest = f"sha256:{'a' * 64}"
    front = (
        "toolhive.requires: |\n  ghcr.io/acme/ledger:v1.2.0\n  localhost:5000/acme/mail:latest\n"
        f"  ghcr.io/acme/sums:1.0.0@{digest}\n  git://github.com/acme/skills@v1#tools/dates\n"
    )
    assert shown(requirements(tmp_path, front)) == [
        ("ledger", "1.2.0", "oci://ghcr.io/acme/ledger"),
        ("mail", "*", "oci://localhost:5000/acme/mail:latest"),
        ("sums", "*", f"oci://ghcr.io/acme/sums:1.0.0@{digest}"),
        ("dates", "*", "git+https://github.com/acme/skills@v1#tools/dates"),
    ]


def test_all_three_places_count(tmp_path: Path) -> None:
    found = requirements(
        tmp_path,
        "metadata: {dependencies: mail}\ntoolhive.requires: [ghcr.io/acme/sums]\n",
        "composition:\n  dependencies: [{skillName: ledger, reason: has the accounts}]\n",
    )
    assert shown(found) == [("ledger", "*", None), ("mail", "*", None), ("sums", "*", "oci://ghcr.io/acme/sums")]


@pytest.mark.parametrize(
    ("front", "manifest", "problem"),
    [
        (f"metadata: {{dependencies: ledger@{LONG}}}\n", "", "has a version that is longer than 256 characters"),
        ('metadata: {dependencies: "ledger@>>1"}\n', "", "has '>>', which is no operator of a range"),
        ("metadata: {dependencies: ../ledger}\n", "", "'../ledger' does not have a valid name"),
        ("metadata:\n  dependencies: {ledger: ^2}\n", "", "metadata.dependencies is a mapping"),
        ("toolhive.requires: ledger\n", "", "'ledger' is not a reference"),
        ("toolhive.requires: https://acme.example/ledger\n", "", "is not a reference"),
        ("toolhive.requires: [[a]]\n", "", "has an item that is a list"),
        ("", "composition: {dependencies: [{skillName: a, reason: b, version: [2]}]}\n", "skill.manifest.yaml:1:"),
        ("", "composition: [\n", "skill.manifest.yaml:"),
    ],
)
def test_a_faulty_entry_is_told(tmp_path: Path, front: str, manifest: str, problem: str) -> None:
    found = requirements(tmp_path, front, manifest)
    assert len(found.problems) == 1
    assert problem in found.problems[0]
    assert found.skills == ()


def test_the_other_entries_beside_a_faulty_one_are_read(tmp_path: Path) -> None:
    found = requirements(tmp_path, f"metadata: {{dependencies: ledger@{LONG} mail@^1}}\n")
    assert [one.name for one in found.skills] == ["mail"]
    assert len(found.problems) == 1


def test_endless_lists_are_cut_and_told(tmp_path: Path) -> None:
    names = " ".join(f"s{number}" for number in range(300))
    found = requirements(tmp_path, f"metadata:\n  dependencies: {names}\n")
    assert len(found.skills) == 256
    assert "at most 256" in found.problems[0]
