"""Usual blocks are read by one match: what it accepts, the reader of all blocks accepts too, with the same values."""

from __future__ import annotations

import hashlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import LockfileError
from prowess.lockfile import LockedSkill, Lockfile, parse_lock, render_lock, text
from prowess.lockfile.usual_block import usual_block
from tests.lockfile.locks import digest, full_lock

_VALUES = st.one_of(
    st.text('ab./ -~"\\é\u202e\x01', max_size=6),
    st.text(string.printable, max_size=8),
    st.sampled_from(
        ["ledger", ".", "..", "a/b", "a/../b", "/a", "a/", "a//b", " a", "a ", "", digest("a"), "a" * 300, "a" * 40]
    ),
)
_KEYS = LockedSkill.__struct_fields__


def _sealed(lines: list[str]) -> str:
    text = "\n".join(["[[skill]]", *lines, ""])
    return f'{text}seal = "sha256:{hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()}"'


@st.composite
def _blocks(draw: st.DrawFn) -> str:
    """Return a sealed block with mostly allowed values, keys and order."""
    lines = []
    for key in _KEYS:
        if key in {"tree", "artifact"}:
            value = draw(st.sampled_from([f'"{digest("a")}"', f'"{digest("a")[:-1]}"', '"sha256:A"']))
        elif key == "commit":
            value = draw(st.sampled_from([f'"{"a" * 40}"', f'"{"a" * 64}"', f'"{"A" * 40}"', '""']))
        elif key == "order":
            value = draw(st.sampled_from(["0", "7", "07", "-1", "9007199254740992", "9007199254740993", "1.0"]))
        elif key == "unsigned":
            value = draw(st.sampled_from(["true", "false"]))
        elif key == "requires":
            value = f"[{', '.join(text._quoted(one) for one in draw(st.lists(_VALUES, max_size=3)))}]"
        else:
            value = text._quoted(draw(_VALUES))
        lines.append(f"{key} = {value}")
    kept = draw(st.sets(st.sampled_from(_KEYS)))
    return _sealed([line for line in lines if line.partition(" ")[0] in kept | {"name", "source", "tree", "order"}])


@given(_blocks())
def test_a_block_that_one_match_accepts_is_accepted_by_the_reader_of_all_blocks(block: str) -> None:
    found = usual_block(block)
    if found is not None:
        assert text._block(block.split("\n"), 1, None) == found


@given(_blocks())
def test_a_block_that_is_refused_by_the_reader_of_all_blocks_is_not_accepted_by_one_match(block: str) -> None:
    try:
        text._block(block.split("\n"), 1, None)
    except LockfileError:
        assert usual_block(block) is None


def test_most_blocks_are_usual() -> None:
    one = LockedSkill(
        name="ledger",
        package="@acme/tools",
        version="1.2.0-rc.1+linux",
        source="git+https://example.com/acme/skills.git",
        path="skills/.hidden/ledger one",
        commit="a" * 40,
        artifact=digest("artifact"),
        tree=digest("tree"),
        requires=("mail@^1 || ^2", "pdf"),
        order=12,
        requested="^1",
        signer="acme",
        unsigned=True,
    )
    for skill in (one, LockedSkill(name="x", source="../x", tree=digest("x"))):
        assert usual_block(render_lock(Lockfile(skills=(skill,))).decode().split("\n\n")[1].rstrip("\n")) == skill


def test_no_flipped_bit_of_a_usual_block_is_accepted() -> None:
    block = render_lock(Lockfile(skills=full_lock().skills[1:])).decode().split("\n\n")[1].rstrip("\n").encode()
    assert usual_block(block.decode()) is not None
    for at in range(len(block) * 8):
        changed = bytearray(block)
        changed[at // 8] ^= 1 << (at % 8)
        assert usual_block(changed.decode("latin-1")) is None


def test_a_long_value_takes_no_longer_than_its_length() -> None:
    block = _sealed(['name = "a"', 'source = "a"', f'path = "{"a/" * 1500}"', f'tree = "{digest("a")}"', "order = 0"])
    assert usual_block(block) is None
    with pytest.raises(LockfileError, match="path"):
        parse_lock(f"{text.HEAD}\n{block}\n".encode())
