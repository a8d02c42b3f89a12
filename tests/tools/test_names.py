"""One canonical name, and a table of spellings."""

from __future__ import annotations

import re

import pytest

from prowess.errors import ToolNotFoundError
from prowess.tools import ToolCall, ToolExecutor, ToolSpec, wire_name
from prowess.tools.spec import spelling_table

NAMES = ("skills.load", "skills.unload", "skills.read", "skills.run_script")


class _Named:
    """A tool that is nothing but its name."""

    def __init__(self, name: str) -> None:
        self.spec = ToolSpec(name=name, description="", input_schema={"type": "object"})

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        raise AssertionError((arguments, call))


@pytest.mark.proves("runtime.tools.names.export")
def test_exported_names_fit_the_strictest_rule() -> None:
    assert [wire_name(name) for name in NAMES] == ["skills_load", "skills_unload", "skills_read", "skills_run_script"]
    for name in NAMES:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", wire_name(name))


@pytest.mark.proves("runtime.tools.names.dispatch")
def test_dotted_underscored_and_hyphenated_spellings_lead_to_the_tool_and_no_other_does() -> None:
    table = spelling_table(NAMES)
    executor = ToolExecutor([_Named(name) for name in NAMES])
    for name in ("skills.run_script", "skills_run_script", "skills-run_script", "skills-run-script"):
        assert table[name] == "skills.run_script"
        assert executor.resolve(name).spec.name == "skills.run_script"
    for name in (
        "skills.run.script",
        "skills.run-script",
        "skills_run-script",
        "Skills.load",
        "skills..load",
        "load",
        " skills.load",
        "skills.load\n",
        "",
    ):
        assert name not in table
        with pytest.raises(ToolNotFoundError):
            executor.resolve(name)


def test_names_without_dots_have_hyphens_too() -> None:
    assert spelling_table(["Read", "my_tool", "_"]) == {
        "Read": "Read",
        "my_tool": "my_tool",
        "my-tool": "my_tool",
        "_": "_",
    }


@pytest.mark.parametrize("pair", [("a.b", "a_b"), ("a", "a"), ("a.b_c", "a_b.c")])
def test_two_tools_cannot_share_a_spelling(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="would both answer to"):
        spelling_table(pair)


@pytest.mark.parametrize("name", ["", ".a", "a.", "a..b", "a-b", "1a", "a b", "ä", "a" * 41, "a\n"])
def test_a_name_that_hosts_would_refuse_is_refused_here(name: str) -> None:
    with pytest.raises(ValueError, match="tool name"):
        ToolSpec(name=name, description="", input_schema={"type": "object"})


def test_arguments_are_an_object() -> None:
    with pytest.raises(ValueError, match="must be of type object"):
        ToolSpec(name="a", description="", input_schema={"type": "array"})


def test_an_alias_answers_in_every_spelling_and_belongs_to_one_tool() -> None:
    table = spelling_table(["Read", "Bash"], {"Read": ("read_file",)})
    assert (table["read_file"], table["read-file"], table["Read"]) == ("Read", "Read", "Read")
    with pytest.raises(ValueError, match="would both answer to 'Read'"):
        spelling_table(["Read", "Bash"], {"Bash": ("Read",)})
    with pytest.raises(ValueError, match="tool name"):
        ToolSpec(name="a", description="", input_schema={"type": "object"}, aliases=("a b",))
