from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from prowess.config import Configuration
from prowess.format.parsing import parse_document
from prowess.lsp.actions import follow, may_move, rename, renamed_range
from prowess.lsp.analysis import Analysis, analyse, skill_path

BODY = "\ndescription: Reads. Use when asked.\n---\nBody.\n"
PATH = Path("/nowhere/table/SKILL.md")


def analysis(written: str, body: str = BODY) -> Analysis:
    return analyse(
        PATH.as_uri(),
        str(PATH),
        f"---\nname: {written}{body}",
        version=3,
        encoding="utf-16",
        judgement=Configuration(()).judgement(),
        silence=lambda document, judgement, found: found,
    )


def renamed(before: Analysis, name: str) -> str:
    edit = rename(before, name, moves=False, versioned=False)
    ((one,),) = (edit.changes or {}).values()
    assert isinstance(one, types.TextEdit)
    lines = before.text.split("\n")
    start, end = one.range.start, one.range.end
    whole = lines[start.line][: start.character] + one.new_text + lines[end.line][end.character :]
    lines[start.line : end.line + 1] = [whole]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("written", "name", "line"),
    [
        ("table", "chair", "name: chair"),
        ('"table"', "chair", 'name: "chair"'),
        ("'table'  # the name", "chair", "name: 'chair'  # the name"),
        ("table", "true", 'name: "true"'),
        ("table", "2024", 'name: "2024"'),
        ("table", "  stühle ", "name: stühle"),
    ],
)
def test_the_new_name_is_written_as_the_old_one_was_and_stays_a_text(written: str, name: str, line: str) -> None:
    after = renamed(analysis(written), name)
    assert after.split("\n")[1] == line
    assert parse_document(after).text_of("name") == name.strip()


def test_a_name_in_a_block_leaves_the_fields_after_it_alone() -> None:
    document = parse_document(renamed(analysis("|\n  table"), "chair"))
    assert (document.text_of("name"), document.text_of("description")) == ("chair", "Reads. Use when asked.")


@pytest.mark.parametrize(("written", "body"), [("a: b", BODY), ("[table]", BODY), ("", BODY)])
def test_a_name_that_is_not_read_as_written_is_not_renamed(written: str, body: str) -> None:
    one = analysis(written, body)
    assert renamed_range(one, types.Position(line=1, character=7)) is None
    with pytest.raises(JsonRpcInvalidParams, match="fix it first"):
        rename(one, "chair", moves=True, versioned=True)


def test_the_name_follows_its_directory_only_where_both_agreed_and_the_new_one_is_a_name() -> None:
    followed = follow(analysis("table"), "/elsewhere/chair/")
    assert followed is not None
    assert followed.new_text == "chair"
    assert follow(analysis("other"), "/nowhere/chair") is None
    assert follow(analysis("table"), "/elsewhere/table") is None
    assert follow(analysis("table"), "/nowhere/No Name") is None
    assert follow(analysis("[table]"), "/nowhere/chair") is None


def test_a_directory_with_an_open_folder_in_it_does_not_move() -> None:
    assert may_move("/w/table", ["/w", "/w/tables"])
    assert not may_move("/w/table", ["/w", "/w/table"])
    assert not may_move("/w/table", ["/w/table/deep"])


def test_only_a_skill_in_a_file_system_is_looked_at() -> None:
    assert skill_path("file:///a/b%20c/SKILL.md") == "/a/b c/SKILL.md"
    assert skill_path("file:///a/skill.md") == "/a/skill.md"
    for uri in ("file:///a/Skill.md", "file:///a/README.md", "file:///a%00/SKILL.md", "git:/a/SKILL.md", "untitled:1"):
        assert skill_path(uri) is None
