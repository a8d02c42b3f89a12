from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.runtime.files.skill_files import slice_bytes, slice_text


@given(st.text(max_size=60), st.integers(1, 9))
def test_text_slices_taken_one_after_the_other_add_up_to_the_text(text: str, limit: int) -> None:
    data = text.encode("utf-8", "surrogatepass").decode("utf-8", "ignore").encode()
    parts: list[bytes] = []
    offset: int | None = 0
    while offset is not None:
        part = slice_text(data, offset, limit)
        part.data.decode()
        parts.append(part.data)
        assert part.truncated == (part.next_offset is not None)
        offset = part.next_offset

    assert b"".join(parts) == data


@given(st.binary(max_size=60), st.integers(1, 9), st.integers(0, 80))
def test_binary_slices_are_exact(data: bytes, limit: int, offset: int) -> None:
    part = slice_bytes(data, offset, limit)

    assert part.data == data[offset : offset + limit]
    assert part.size == len(data)


def test_borders_inside_a_character_move_to_its_beginning() -> None:
    data = "aüb".encode()

    assert slice_text(data, 2, 1).offset == 1
    assert slice_text(data, 2, 1).data == "ü".encode()
    assert slice_text(data, 0, 2).data == b"a"


@pytest.mark.parametrize("cut", [slice_bytes, slice_text])
def test_an_offset_beyond_the_end_is_an_empty_slice(cut: object) -> None:
    part = cut(b"abc", 10, 5)  # type: ignore[operator]  # one of two functions

    assert (part.data, part.offset, part.size, part.truncated, part.next_offset) == (b"", 3, 3, False, None)
