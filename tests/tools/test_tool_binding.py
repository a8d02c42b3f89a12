"""Tool bindings of extended manifests: what they must say, and what is missing here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import InvalidArgumentsError
from prowess.format.fields.allowed_tools import ToolToken
from prowess.tools.tool_binding import missing, read_tool_binding, version_key

GIT = {"tool": "Bash(git:*)", "required": True, "purpose": "to read the history", "minVersion": "2.9"}


@pytest.mark.proves("format.manifest.tools.dependencies", "format.manifest.tools.tool", "format.manifest.tools.purpose")
def test_a_binding_is_read() -> None:
    binding = read_tool_binding({"dependencies": [GIT, {"tool": "Read", "required": "false", "purpose": " files "}]})
    first, second = binding.dependencies
    assert (first.tool, first.required, first.min_version) == (ToolToken(name="Bash", pattern="git:*"), True, "2.9")
    assert (second.tool, second.required, second.purpose, second.min_version) == (
        ToolToken(name="Read"),
        False,
        "files",
        None,
    )
    assert read_tool_binding({"dependencies": []}).dependencies == ()


@pytest.mark.proves("format.manifest.tools.dependencies")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "tools is absent, it must be a mapping with dependencies"),
        ([], "tools is a list, it must be a mapping with dependencies"),
        ({}, "tools.dependencies is absent, it must be a list"),
        ({"dependencies": None}, "tools.dependencies is absent, it must be a list"),
        ({"dependencies": "Read"}, "tools.dependencies is 'Read', it must be a list"),
    ],
)
def test_a_binding_has_dependencies(value: object, problem: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=problem):
        read_tool_binding(value)


@pytest.mark.proves("format.manifest.tools.tool", "format.manifest.tools.purpose", "format.manifest.tools.min-version")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"tool": None}, "tool is absent, it must be one tool such as Read or Bash(git:*)"),
        ({"tool": "Read Write"}, "tool is 'Read Write', it must be one tool such as Read or Bash(git:*)"),
        (
            {"tool": "Bash("},
            "tool is 'Bash(', it must be one tool such as Read or Bash(git:*): this parenthesis is never closed",
        ),
        ({"required": None}, "required is absent, it must be true or false"),
        ({"required": "yes"}, "required is 'yes', it must be true or false"),
        ({"purpose": ""}, "purpose is empty, it must be a text"),
        ({"purpose": 3}, "purpose is a number, it must be a text"),
        ({"minVersion": 2.3}, "minVersion is a number, it must be a version such as '2.30', in quotes"),
        ({"minVersion": "new"}, "minVersion is 'new', it must be a version such as '2.30', in quotes"),
        ({"colour": 1}, "has no key 'colour'; known keys: tool, required, purpose, minVersion"),
    ],
)
def test_a_dependency_that_is_wrong_is_named(change: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidArgumentsError) as caught:
        read_tool_binding({"dependencies": [GIT, {**GIT, **change}]})
    [found] = caught.value.problems
    assert found in (f"tools.dependencies[1].{problem}", f"tools.dependencies[1] {problem}")


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(InvalidArgumentsError) as caught:
        read_tool_binding({"dependencies": ["Read", {}]})
    assert len(caught.value.problems) == 4


@pytest.mark.proves("format.manifest.tools.min-version")
@pytest.mark.parametrize(
    ("available", "reason"),
    [
        ({"Bash": "2.10"}, None),
        ({"Bash": "2.9.0"}, None),
        ({"Bash": "2.8.9"}, "Bash is 2.8.9; 2.9 or later is needed"),
        ({"Bash": "2.9-rc.1"}, "Bash is 2.9-rc.1; 2.9 or later is needed"),
        ({"Bash": None}, "the version of Bash is not known; 2.9 or later is needed"),
        ({"bash": "3"}, "there is no tool 'Bash'; it is for: to read the history"),
    ],
)
def test_what_is_not_met_is_told(available: dict[str, str | None], reason: str | None) -> None:
    found = missing(read_tool_binding({"dependencies": [GIT]}), available)
    assert [each.reason for each in found] == ([] if reason is None else [reason])
    assert all(each.dependency.required for each in found)


def test_any_version_will_do_where_none_is_named() -> None:
    binding = read_tool_binding({"dependencies": [{"tool": "Read", "required": True, "purpose": "files"}]})
    assert missing(binding, {"Read": None}) == ()


@pytest.mark.proves("format.manifest.tools.min-version")
def test_versions_are_ordered_as_versions() -> None:
    ordered = ["0.9", "1.0-alpha", "1.0-alpha.1", "1.0-beta.2", "1.0-beta.11", "1.0-rc.1", "1.0", "1.0.1", "1.10"]
    assert [version_key(each) for each in ordered] == sorted(map(version_key, ordered))
    assert version_key("v1.0.0+build.7") == version_key("1")
    with pytest.raises(ValueError, match="'x' is not a version"):
        version_key("x")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_numbers_are_compared_as_numbers(first: list[int], second: list[int]) -> None:
    padded = [[*each, *[0] * (4 - len(each))] for each in (first, second)]
    one, other = (version_key(".".join(map(str, each))) for each in (first, second))
    assert (one < other) is (padded[0] < padded[1])
