"""Skills whose manifests name each other: what is missing, what cannot stand side by side, what turns in a circle."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from prowess.catalog.composition import Member, composition_findings
from prowess.format.manifest.manifest import Composition, SkillDependency
from prowess.format.manifest.manifest_reader import read_sidecar
from prowess.runtime.activation.composition import in_order
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.format.manifest.manifest import ExecutionOrder


def needs(*names: str, conflicts: tuple[str, ...] = (), order: ExecutionOrder = "independent") -> Composition:
    dependencies = tuple(
        SkillDependency(skill_name=name.removesuffix("?"), reason="r", optional=name.endswith("?")) for name in names
    )
    return Composition(dependencies=dependencies, conflicts=conflicts, execution_order=order)


def found_in(skills: dict[str, Composition | None], *, whole: bool = True) -> list[tuple[str, str, str]]:
    members = [
        Member(name=name, directory="/nowhere", shown_as=name, composition=composition)
        for name, composition in skills.items()
    ]
    found = composition_findings(members, whole=whole)
    return [(member.name, one.rule, one.message) for member, one in found]


@pytest.mark.proves("format.manifest.composition.optional")
def test_only_an_absent_dependency_that_is_not_optional_is_missing() -> None:
    skills = {"a": needs("b", "c", "d?"), "b": None}
    found = found_in(skills)
    assert [(name, rule) for name, rule, _ in found] == [("a", "composition.missing")]
    assert found[0][2].startswith("a depends on c, which is not here")
    assert found_in(skills, whole=False) == []
    assert found_in({**skills, "c": None}) == []


@pytest.mark.proves("format.manifest.composition.cycle")
@pytest.mark.parametrize(
    ("skills", "shown"),
    [
        ({"a": needs("a")}, "a skill depends on itself: a -> a"),
        ({"a": needs("b"), "b": needs("c"), "c": needs("a")}, "a skill depends on itself: a -> b -> c -> a"),
        ({"z": needs("a"), "a": needs("b?"), "b": needs("a")}, "a skill depends on itself: b -> a -> b"),
        ({"a": needs(conflicts=("a",))}, "a names itself as a conflict: a -> a"),
    ],
)
def test_a_circle_is_shown(skills: dict[str, Composition | None], shown: str) -> None:
    found = found_in(skills)
    assert [rule for _, rule, _ in found] == ["composition.cycle"]
    said, _, circle = found[0][2].partition(": ")
    assert said == shown.partition(": ")[0]
    names, expected = circle.split(" -> "), shown.partition(": ")[2].split(" -> ")
    assert names[0] == names[-1]
    assert any(names[:-1] == expected[at:-1] + expected[:at] for at in range(len(expected)))  # begun anywhere


def test_a_diamond_is_no_circle() -> None:
    assert found_in({"a": needs("b", "c"), "b": needs("d"), "c": needs("d"), "d": needs()}) == []


@pytest.mark.parametrize(
    ("skills", "message"),
    [
        ({"a": needs("b", conflicts=("b",)), "b": None}, "a depends on b and names it as a conflict"),
        ({"a": needs("b"), "b": needs(conflicts=("a",))}, "a depends on b, which excludes it"),
        (
            {"a": needs("b", "c"), "b": needs(conflicts=("c",)), "c": None},
            "a depends on b, which excludes c, on which it depends too",
        ),
    ],
)
def test_what_a_skill_relies_on_may_not_exclude_it(skills: dict[str, Composition | None], message: str) -> None:
    assert found_in(skills) == [("a", "composition.conflict", f"{message}; they cannot be active at once")]


def test_skills_that_exclude_each_other_may_lie_side_by_side() -> None:
    assert found_in({"a": needs("c?", conflicts=("b",)), "b": needs(conflicts=("a",)), "c": None}) == []


@pytest.mark.proves("format.manifest.composition.order")
def test_the_order_is_relative_to_the_dependencies() -> None:
    assert in_order([("a", needs("b", order="after")), ("b", None)]) == ("b", "a")
    assert in_order([("b", None), ("a", needs("b", order="before"))]) == ("a", "b")
    assert in_order([("a", needs("b")), ("b", None)]) == ("a", "b")
    assert in_order([("c", needs("a", "b", order="after")), ("b", needs("a", order="after")), ("a", None)]) == (
        "a",
        "b",
        "c",
    )
    assert in_order([("a", needs("b", order="after")), ("b", needs("a", order="after"))]) == ("a", "b")


def test_a_finding_stands_where_the_name_does(tmp_path: Path) -> None:
    manifest = "composition:\n  dependencies:\n    - {skillName: b, reason: r}\n    - {skillName: c, reason: r}\n"
    directory = write_skill(tmp_path, "a", files={"skill.manifest.yaml": manifest})
    composition = read_sidecar(str(directory)).composition
    members = [Member(name="a", directory=str(directory), shown_as="skills/a", composition=composition)]
    (_, first), (_, second) = composition_findings(members)
    assert (str(first.location), str(second.location)) == (
        "skills/a/skill.manifest.yaml:3:7",
        "skills/a/skill.manifest.yaml:4:7",
    )


@pytest.mark.unmeasured
def test_a_large_set_is_judged_in_time_and_findings_are_bounded() -> None:
    skills: dict[str, Composition | None] = {f"s{number}": needs(f"s{number + 1}", "gone") for number in range(20_000)}
    begun = time.process_time()
    found = found_in(skills)
    assert time.process_time() - begun < 5
    assert len(found) == 100
