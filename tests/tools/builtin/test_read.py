"""Read: text by lines, images as images, anything as bytes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from prowess.tools.builtin import read

if TYPE_CHECKING:
    from tests.tools.builtin.desk import Desk

pytestmark = pytest.mark.anyio


@pytest.mark.proves("runtime.builtin.read")
async def test_a_file_is_content_size_and_encoding(desk: Desk) -> None:
    desk.put("document.txt", "Grüße\nzwei\n")
    for name in ("Read", "read_file", "read-file"):
        result = await desk.good(name, file_path="document.txt")
        assert (result["content"], result["size_bytes"], result["encoding"]) == ("Grüße\nzwei\n", 13, "utf-8")
    assert (result["start_line"], result["lines"], result["total_lines"], result["truncated"]) == (1, 2, 2, False)


@pytest.mark.proves("runtime.builtin.read")
@pytest.mark.parametrize(
    ("encoding", "data"),
    [("latin-1", b"gr\xfc\xdfe"), ("utf-16", "grüße".encode("utf-16")), ("cp1252", b"gr\xfc\xdfe")],
)
async def test_other_encodings_are_asked_for(desk: Desk, encoding: str, data: bytes) -> None:
    desk.put("a.txt", data)
    code, sentence = await desk.bad("Read", file_path="a.txt")
    assert (code, sentence.startswith("a.txt is not utf-8 text; read it with encoding")) == ("not_text", True)
    assert ("'utf-16'" in sentence) is (encoding == "utf-16")
    result = await desk.good("Read", file_path="a.txt", encoding=encoding)
    assert (result["content"], result["encoding"]) == ("grüße", encoding)


@pytest.mark.parametrize(
    ("offset", "limit", "content", "next_offset"),
    [
        (None, None, "1\n2\n3\n4", None),
        (0, 2, "1\n2\n", 3),
        (1, 2, "1\n2\n", 3),
        (3, 1, "3\n", 4),
        (4, 9, "4", None),
        (5, 1, "", None),
    ],
)
async def test_a_part_is_a_range_of_lines(
    desk: Desk, offset: int | None, limit: int | None, content: str, next_offset: int | None
) -> None:
    desk.put("a.txt", "1\n2\n3\n4")
    given = {name: value for name, value in (("offset", offset), ("limit", limit)) if value is not None}
    result = await desk.good("Read", file_path="a.txt", **given)
    assert (result["content"], result["next_offset"]) == (content, next_offset)
    assert result["truncated"] is (next_offset is not None)
    assert ("notice" in result) is (content == "")


async def test_an_empty_file_is_no_lines(desk: Desk) -> None:
    desk.put("a.txt")
    result = await desk.good("Read", file_path="a.txt")
    assert (result["content"], result["total_lines"], "notice" in result) == ("", 0, False)


async def test_line_ends_and_marks_are_no_part_of_the_lines(desk: Desk) -> None:
    desk.put("a.txt", "\ufeffone\r\ntwo\r\n")
    result = await desk.good("Read", file_path="a.txt")
    assert (result["content"], result["line_ends"]) == ("one\ntwo\n", "crlf")
    desk.put("b.txt", "one\r\ntwo\n")
    result = await desk.good("Read", file_path="b.txt")
    assert (result["content"], result["line_ends"]) == ("one\r\ntwo\n", "mixed")


async def test_an_answer_is_never_larger_than_a_model_can_take(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_CHARACTERS", 10)
    desk.put("a.txt", "1234\n5678\nabcd\n" + "x" * 30 + "\nend\n")
    seen, offset = "", 1
    for _ in range(5):
        result = await desk.good("Read", file_path="a.txt", offset=offset)
        seen += str(result["content"])
        if result["next_offset"] is None:
            break
        assert isinstance(result["next_offset"], int)
        offset = result["next_offset"]
        if "notice" in result:
            assert "longer than 10 characters and was cut" in str(result["notice"])
            seen += "\n"
    assert seen == "1234\n5678\nabcd\n" + "x" * 10 + "\nend\n"


@pytest.mark.parametrize(
    ("magic", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
async def test_an_image_is_an_image_whatever_it_is_called(desk: Desk, magic: bytes, kind: str) -> None:
    data = magic + b"\x00rest"
    desk.put("picture.txt", data)
    result = await desk.good("Read", file_path="picture.txt")
    assert (result["media_type"], result["encoding"], result["size_bytes"]) == (kind, "base64", len(data))
    assert base64.b64decode(str(result["data_base64"])) == data
    assert "content" not in result


async def test_an_image_that_no_provider_takes_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_IMAGE_BYTES", 20)
    desk.put("a.png", b"\x89PNG\r\n\x1a\n" + b"0" * 30)
    code, sentence = await desk.bad("Read", file_path="a.png")
    assert (code, sentence) == ("limit_exceeded", "bytes of a.png: 38 is over the limit of 20; make it smaller")


async def test_a_text_that_is_too_large_is_refused_with_a_way_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_FILE_BYTES", 20)
    desk.put("a.txt", "0" * 30)
    code, sentence = await desk.bad("Read", file_path="a.txt")
    assert (code, "read a part with encoding 'binary', or use Grep" in sentence) == ("limit_exceeded", True)


async def test_bytes_come_in_parts(desk: Desk) -> None:
    desk.put("a.pdf", bytes(range(10)))
    code, sentence = await desk.bad("Read", file_path="a.pdf")
    assert (code, sentence) == ("not_text", "a.pdf is not utf-8 text; read it with encoding 'binary'")
    result = await desk.good("Read", file_path="a.pdf", encoding="binary", offset=2, limit=3)
    assert base64.b64decode(str(result["data_base64"])) == b"\x02\x03\x04"
    assert (result["media_type"], result["next_offset"], result["truncated"]) == ("application/pdf", 5, True)
    last = await desk.good("Read", file_path="a.pdf", encoding="binary", offset=5)
    assert (last["next_offset"], last["truncated"]) == (None, False)


@pytest.mark.proves("runtime.toolargs.errors")
async def test_a_missing_file_is_named_with_its_neighbours(desk: Desk) -> None:
    desk.put("src/main.py")
    assert await desk.bad("Read", file_path="src/mian.py") == (
        "resource_not_found",
        "File not found: src/mian.py; did you mean src/main.py?",
    )
    for path in ("none/main.py", "src/main.py/x"):
        assert (await desk.bad("Read", file_path=path))[1] == f"File not found: {path}"


async def test_a_directory_is_no_file(desk: Desk) -> None:
    desk.put("src/main.py")
    for path in ("src", "."):
        code, sentence = await desk.bad("Read", file_path=path)
        assert (code, sentence) == (
            "not_a_file",
            f"{path} is a directory; give the path of a file, or list it with Glob",
        )
