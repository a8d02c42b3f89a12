"""Write and Edit: whole files, exact replacements, kept modes and line ends, and errors that teach."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.tools.builtin import edit, text

if TYPE_CHECKING:
    from tests.tools.builtin.desk import Desk

pytestmark = pytest.mark.anyio


async def test_a_new_file_gets_its_directories(desk: Desk) -> None:
    result = await desk.good("Write", file_path="a/b/c.txt", content="Grüße\n")
    assert result == {"file_path": "a/b/c.txt", "created": True, "size_bytes": 8, "line_ends": "lf"}
    assert (desk.root / "a/b/c.txt").read_bytes() == "Grüße\n".encode()


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4755])
async def test_a_file_that_is_replaced_keeps_its_rights(desk: Desk, mode: int) -> None:
    file = desk.put("run.sh", "old")
    file.chmod(mode)
    assert (await desk.good("Write", file_path="run.sh", content="new"))["created"] is False
    assert stat.S_IMODE(file.stat().st_mode) == mode & 0o777
    assert file.read_text() == "new"
    assert os.listdir(desk.root) == ["run.sh"]


async def test_a_file_keeps_its_line_ends(desk: Desk) -> None:
    file = desk.put("a.txt", "one\r\ntwo\r\n")
    result = await desk.good("Write", file_path="a.txt", content="1\n2\n")
    assert (file.read_bytes(), result["line_ends"], result["size_bytes"]) == (b"1\r\n2\r\n", "crlf", 6)
    await desk.good("Write", file_path="a.txt", content="1\r\n2\n")
    assert file.read_bytes() == b"1\r\n2\n"
    await desk.good("Write", file_path="a.txt", content="1\n2\n")
    assert file.read_bytes() == b"1\n2\n"


async def test_a_second_hard_link_keeps_the_old_bytes(desk: Desk) -> None:
    file = desk.put("a.txt", "old")
    other = desk.root.parent / "other.txt"
    os.link(file, other)
    await desk.good("Write", file_path="a.txt", content="new")
    assert (file.read_text(), other.read_text()) == ("new", "old")


async def test_a_directory_is_not_replaced(desk: Desk) -> None:
    desk.put("a/b.txt", "old")
    for path in ("a", "."):
        assert (await desk.bad("Write", file_path=path, content="x"))[0] == "not_a_file"
    assert (await desk.bad("Write", file_path="a/b.txt/c", content="x"))[0] == "resource_not_found"
    assert os.listdir(desk.root / "a") == ["b.txt"]


async def test_a_failed_write_leaves_the_old_file_and_no_draft(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = desk.put("a.txt", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prowess._internal.files.workspace_root.write_all", full)
    assert (await desk.bad("Write", file_path="a.txt", content="new"))[1].endswith("a.txt: No space left on device")
    assert (file.read_text(), os.listdir(desk.root)) == ("old", ["a.txt"])


async def test_one_place_is_edited(desk: Desk) -> None:
    file = desk.put("a.py", "a = 1\nb = 2\nc = 1\n")
    file.chmod(0o750)
    result = await desk.good("Edit", file_path="a.py", old_string="b = 2", new_string="b = 3\nd = 4")
    assert result == {"file_path": "a.py", "replacements": 1, "lines": [2], "size_bytes": 24, "line_ends": "lf"}
    assert file.read_text() == "a = 1\nb = 3\nd = 4\nc = 1\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


async def test_every_place_is_edited_where_that_is_asked_for(desk: Desk) -> None:
    file = desk.put("a.py", "a = 1\nb = 1\n")
    result = await desk.good("Edit", file_path="a.py", old_string="1", new_string="2", replace_all=True)
    assert (result["replacements"], result["lines"]) == (2, [1, 2])
    assert file.read_text() == "a = 2\nb = 2\n"


@pytest.mark.parametrize(
    ("old", "sentence"),
    [
        ("x = 1", "old_string is in a.py 2 times, in lines 2, 3; add lines around it until it is unique, or set r"),
        ("y = 2", "old_string is not in a.py; read the file again and copy the text exactly"),
        (
            "if  True:\n  x = 1\n",
            "old_string is not in a.py; line 1 differs from it in white space only: read it again and copy it exactly",
        ),
        (
            "if True:\n    y = 1\n",
            "old_string is not in a.py; its first line is line 1, but what follows differs: read the file again",
        ),
        ("", "old_string is empty; use Write to make a file or to replace all of it"),
        ("new", "old_string and new_string are the same, so there is nothing to change"),
    ],
)  # fmt: skip
async def test_an_edit_that_cannot_be_says_what_to_do(desk: Desk, old: str, sentence: str) -> None:
    file = desk.put("a.py", "if True:\n    x = 1\n    x = 1\n")
    code, said = await desk.bad("Edit", file_path="a.py", old_string=old, new_string="new")
    assert (code, said.startswith(sentence)) == ("invalid_arguments", True)
    assert file.read_text() == "if True:\n    x = 1\n    x = 1\n"


async def test_many_places_are_counted_and_the_first_are_named(desk: Desk) -> None:
    desk.put("a.txt", "x\n" * 30)
    _, sentence = await desk.bad("Edit", file_path="a.txt", old_string="x", new_string="y")
    assert "30 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ...;" in sentence


async def test_plain_line_ends_of_a_model_find_those_of_the_file(desk: Desk) -> None:
    file = desk.put("a.txt", b"one\r\ntwo\r\nthree\r\n")
    await desk.good("Edit", file_path="a.txt", old_string="one\ntwo\n", new_string="1\n2\n")
    assert file.read_bytes() == b"1\r\n2\r\nthree\r\n"


async def test_marks_and_mixed_line_ends_outside_of_the_edit_stay(desk: Desk) -> None:
    file = desk.put("a.txt", b"\xef\xbb\xbfone\r\ntwo\nthree")
    await desk.good("Edit", file_path="a.txt", old_string="two", new_string="2")
    assert file.read_bytes() == b"\xef\xbb\xbfone\r\n2\nthree"


async def test_a_file_that_changes_meanwhile_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = desk.put("a.txt", "one two")

    def change(data: bytes, path: str) -> str:
        file.write_text("changed by another")
        return text.decode(data, path)

    monkeypatch.setattr(edit, "decode", change)
    assert await desk.bad("Edit", file_path="a.txt", old_string="one", new_string="1") == (
        "digest_changed",
        "a.txt was changed while it was edited, so nothing was written; read it again",
    )
    assert file.read_text() == "changed by another"
    assert os.listdir(desk.root) == ["a.txt"]


async def test_edits_at_the_same_time_are_all_there(desk: Desk) -> None:
    names = [f"<{number}>" for number in range(8)]
    file = desk.put("a.txt", "".join(names))

    async def replace(name: str) -> None:
        await desk.good("Edit", file_path="a.txt", old_string=name, new_string=".")

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(replace, name)
    assert file.read_text() == "." * 8


async def test_what_is_no_text_is_not_edited(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a.bin", b"one\xff")
    assert (await desk.bad("Edit", file_path="a.bin", old_string="one", new_string="1"))[0] == "not_text"
    assert (await desk.bad("Edit", file_path="none", old_string="one", new_string="1"))[1] == "File not found: none"
    monkeypatch.setattr(edit, "MAX_FILE_BYTES", 3)
    code, sentence = await desk.bad("Edit", file_path="a.bin", old_string="one", new_string="1")
    assert (code, "; edit it with Bash" in sentence) == ("limit_exceeded", True)
