"""The text of a lock: one rendering, and everything else is refused with its line."""

from __future__ import annotations

import hashlib
import string
import tomllib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import LockfileError
from prowess.lockfile import LockedSkill, LockedTarget, Lockfile, parse_lock, render_lock
from prowess.lockfile.text import MOST_BYTES, _quoted
from tests.lockfile.locks import digest, full_lock, skill


def _refused(data: bytes) -> LockfileError:
    with pytest.raises(LockfileError) as caught:
        parse_lock(data, "prowess.lock")
    return caught.value


def test_a_lock_is_read_as_it_was_written() -> None:
    for lock in (Lockfile(), full_lock(), Lockfile(targets=[LockedTarget(agent="codex")])):  # type: ignore[arg-type]
        text = render_lock(lock)
        assert parse_lock(text) == lock
        assert render_lock(parse_lock(text)) == text


def test_any_toml_reader_reads_the_same_values() -> None:
    lock = full_lock()
    read = tomllib.loads(render_lock(lock).decode())
    assert read.pop("version") == 1
    for block in (*read["skill"], *read["target"]):
        assert block.pop("seal").startswith("sha256:")
    assert tuple(msgspec.convert(read["skill"], list[LockedSkill])) == lock.skills
    assert tuple(msgspec.convert(read["target"], list[LockedTarget])) == lock.targets


def test_keys_have_one_order_and_absent_ones_are_left_out() -> None:
    blocks = render_lock(full_lock()).decode().split("\n\n")
    keys = [line.partition(" = ")[0] for line in blocks[1].splitlines()[1:]]
    order = "name package version source path commit artifact tree requires order requested signer unsigned seal"
    assert keys == order.split()
    assert [line.partition(" = ")[0] for line in blocks[2].splitlines()[1:]] == [
        "name", "version", "source", "tree", "order", "seal",
    ]  # fmt: skip
    assert [line.partition(" = ")[0] for line in blocks[3].splitlines()[1:]] == ["agent", "mode", "seal"]


def test_the_seal_is_the_hash_of_the_other_lines_of_the_block() -> None:
    block = render_lock(Lockfile(skills=(skill("mail"),))).decode().split("\n\n")[1]
    rest, _, seal = block.partition("seal = ")
    assert seal == f'"sha256:{hashlib.sha256(rest.encode()).hexdigest()}"\n'


def test_blocks_are_sorted_whatever_order_they_are_given_in() -> None:
    one, other, third = skill("b", package="z"), skill("b", package="a"), skill("a")
    texts = {render_lock(Lockfile(skills=order)) for order in ((one, other, third), (third, one, other))}
    assert len(texts) == 1
    assert [found.key for found in parse_lock(texts.pop()).skills] == [("a", ""), ("b", "a"), ("b", "z")]


def test_every_flipped_bit_is_refused() -> None:
    data = render_lock(full_lock())
    accepted = []
    for at in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[at // 8] ^= 1 << (at % 8)
        try:
            parse_lock(bytes(flipped))
        except LockfileError:
            continue
        accepted.append(bytes(flipped))
    assert accepted == []


_VALUES = st.one_of(
    st.text('ab./ -~"\\é\u202e\x01', max_size=6),
    st.text(string.printable, max_size=8),
    st.sampled_from(["ledger", ".", "..", "a/b", "a/../b", "/a", "a/", "a//b", " a", "a ", "", "a" * 300]),
)
_CHOICES = {
    "tree": [f'"{digest("a")}"', f'"{digest("a")[:-1]}"', '"sha256:A"'],
    "artifact": [f'"{digest("a")}"', '"sha256:A"'],
    "commit": [f'"{"a" * 40}"', f'"{"a" * 64}"', f'"{"A" * 40}"', '""'],
    "order": ["0", "7", "07", "-1", "9007199254740992", "9007199254740993", "1.0"],
    "unsigned": ["true", "false"],
}


@st.composite
def _blocks(draw: st.DrawFn) -> str:
    """Return a block of a skill with keys in their order, and with allowed and forbidden values."""
    keys = LockedSkill.__struct_fields__
    kept = draw(st.sets(st.sampled_from(keys))) | {"name", "source", "tree", "order"}
    lines = ["[[skill]]"]
    for key in filter(kept.__contains__, keys):
        if key in _CHOICES:
            value = draw(st.sampled_from(_CHOICES[key]))
        elif key == "requires":
            value = f"[{', '.join(map(_quoted, draw(st.lists(_VALUES, max_size=3))))}]"
        else:
            value = _quoted(draw(_VALUES))
        lines.append(f"{key} = {value}")
    return "\n".join([*lines, ""])


@given(_blocks())
def test_only_what_would_be_written_is_read(block: str) -> None:
    try:
        lock = parse_lock(_sealed(block))
    except LockfileError:
        return
    assert render_lock(lock) == _sealed(block)


def test_every_cut_and_every_doubled_or_lost_line_is_refused() -> None:
    data = render_lock(full_lock())
    lines = data.splitlines(keepends=True)
    whole_blocks = {b"".join(lines[:at]) for at, line in enumerate(lines) if line == b"\n"} | {data}
    for at in range(len(data)):
        if data[:at] not in whole_blocks:
            _refused(data[:at])
    for at in range(len(lines)):
        _refused(b"".join([*lines[: at + 1], *lines[at:]]))
        _refused(b"".join([*lines[:at], *lines[at + 1 :]]))


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        (b'version = "1.0.0"', b'version = "1.0.1"', 10, "its seal does not fit"),
        (b"version = 1\n", b"version = 2\n", 2, "update prowess"),
        (b"[[skill]]", b"<<<<<<< ours\n[[skill]]", 4, "run `prowess lock`"),
        (b"# Written", b"<<<<<<< ours\n# Written", 1, "run `prowess lock`"),
        (b"\n", b"\r\n", 1, "line ends of Windows"),
        (b"order = 0", b"order = 0 # first", 9, "the value of order cannot be read"),
        (b"order = 0", b"rank = 0", 9, "'rank' is no key of a lock"),
        (b"mail", b"m\xff", 5, "it is not UTF-8"),
    ],
)
def test_a_change_by_hand_is_refused_with_its_line(old: bytes, new: bytes, line: int, reason: str) -> None:
    error = _refused(render_lock(Lockfile(skills=(skill("mail"),))).replace(old, new))
    assert (error.location.path, error.location.line) == ("prowess.lock", line)
    assert reason in error.reason


def test_blocks_in_another_order_are_refused_and_so_is_a_lock_that_is_too_large() -> None:
    head, *blocks = render_lock(Lockfile(skills=(skill("a"), skill("b")))).decode().split("\n\n")
    error = _refused("\n\n".join([head, blocks[1].rstrip("\n"), f"{blocks[0]}\n"]).encode())
    assert (error.location.line, "blocks are sorted by name" in error.reason) == (12, True)
    assert "a lock has" in _refused(bytes(MOST_BYTES + 1)).reason  # the rest was not read


def _sealed(block: str) -> bytes:
    head = render_lock(Lockfile()).decode()
    return f'{head}\n{block}seal = "sha256:{hashlib.sha256(block.encode()).hexdigest()}"\n'.encode()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('name = "../../etc"', "not the name of a directory"),
        ('name = ".."', "not the name of a directory"),
        ('name = "a\\\\b"', "not the name of a directory"),
        ('name = "a\\u0000b"', "not the name of a directory"),
        ('name = ""', "0 characters"),
        ('name = " mail"', "begins or ends with a blank"),
        (f'name = "{"é" * 200}"', "longer than 255 bytes"),
        ('path = "../secrets"', "not a path inside the source"),
        ('path = "/etc"', "not a path inside the source"),
        ('path = "a/./b"', "not a path inside the source"),
        ('path = "a\\\\b"', "not a path inside the source"),
        ('tree = "sha256:abc"', "64 lower-case"),
        ('artifact = "md5:abc"', "64 lower-case"),
        ('commit = "HEAD"', "40 or 64"),
        ("order = -1", "between 0 and"),
        ("order = 9007199254740993", "between 0 and"),
        ("order = 1.0", "order"),
        ("order = true", "order"),
        ("unsigned = false", "not as prowess writes it"),
        ('requires = ["b", "a"]', "not as prowess writes it"),
        ('source = "caf\\u00e9"', "not as prowess writes it"),
    ],
)
def test_a_value_that_no_lock_holds_is_refused_although_its_seal_fits(line: str, reason: str) -> None:
    """Anybody can compute a seal: it finds damage, and what is read must be safe by itself."""
    values = {"name": '"mail"', "source": '"."', "tree": f'"{digest("x")}"', "order": "0"}
    key, _, value = line.partition(" = ")
    order = ["name", "source", "path", "commit", "artifact", "tree", "requires", "order", "unsigned"]
    block = "".join(f"{one} = {({**values, key: value})[one]}\n" for one in order if one in {*values, key})
    error = _refused(_sealed(f"[[skill]]\n{block}"))
    assert reason in error.reason


@pytest.mark.parametrize(
    "block", ['[[target]]\nagent = "a/b"\nmode = "copy"\n', '[[target]]\nagent = "a"\nmode = "x"\n']
)
def test_a_target_is_an_agent_and_a_known_mode(block: str) -> None:
    _refused(_sealed(block))


def test_a_lock_that_could_not_be_read_again_is_not_written() -> None:
    for wrong in (skill("../x"), skill("x", tree="abc"), skill("x", path="/"), skill("x", version="")):
        with pytest.raises(ValueError, match="cannot be locked"):
            render_lock(Lockfile(skills=(wrong,)))
    with pytest.raises(ValueError, match="listed twice"):
        Lockfile(skills=(skill("x"), skill("x", "2.0.0")))
    with pytest.raises(ValueError, match="listed twice"):
        Lockfile(targets=(LockedTarget(agent="x"), LockedTarget(agent="x", mode="link")))
