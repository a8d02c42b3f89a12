"""Generated documents through `parse_document`: none raises, none costs more than 50 ms of processor time.

Half of them are put together by hypothesis from what YAML, Markdown and authors do; half are the example skills with
bytes changed, cut, doubled and swapped. `PROWESS_FUZZ` says how many in all; each shard is deterministic.
"""

from __future__ import annotations

import gc
import os
import random
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from prowess._internal.yaml_reader import MAX_NODES
from prowess.format import SkillDocument, parse_document
from prowess.format.reading import validate_skill

_SHARDS = 8
_TOTAL = int(os.environ.get("PROWESS_FUZZ", "5000"))
_PER_SHARD = max(_TOTAL // (2 * _SHARDS), 1)
_MOST_SECONDS = 0.05
pytestmark = pytest.mark.unmeasured  # a tracer that counts covered lines makes Python code several times slower

_KEYS = (
    "name", "description", "license", "compatibility", "metadata", "allowed-tools", "version", "Name", "<<", "? x",
    "'q'", '"d"', "a b", "\u6570\u636e", "\u2028", "[a]", "{}", "*x", "&x", "!t", "-", "---", "...", "%YAML 1.1",
    "#c", "@", "",
)  # fmt: skip
_VALUES = (
    "d", "a: b", "'tis", "it's", '"x" y', '"\\d"', '"\\u00e9"', "[a, b]", "[a", "{a: b}", "{a", "|", ">-", "|2",
    "> x", "- x", "*x", "&x y", "!!str z", "!x", "@x", "%x", "`x`", "a #b", "#b", "null", "1.0", "~", "", "x\ty",
    "\tx", "\u0085", "\u2028k: v", "\u2029", "\ufeff", "\u0007", "\u0000", "\ud800", "\u00e9" * 40, "\u0301" * 200,
    "\ufdfa" * 30, "---", "<a>", "Bash(git add *) Read", "Bash (x)", "Bash(", "a" * 1100, "\\", "'", '"', "''",
    '""', "? y", ": z", "<<: {a: b}",
)  # fmt: skip
_BREAKS = ("\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n  ", "\n    ", "\n\t", "\n- ", "\u2028")
_REPEATED = (
    "[", "{", "- ", "? ", "a: ", "[],", "{},", "x,", "- a: b\n", "k: v\n", "k:\n", "a:\n ", "&a ", "*a,", "!t ",
    "'", '"', '"\\u', "\\", ": ", "#\n", "-\n", "---\n", "...\n", "%TAG !a! b\n", "\t", " ", "\n", "\r", "\u2028",
    "\u00e9", "<!-- -->", "<!--", "x: |\n  y\n", "x: >\n\n  y\n", "- - ", "[? ", "[:", "[[],", "\u0301",
    "name: a: b\n", "x: 'a\n", "\tx: y\n",
)  # fmt: skip
_SEEDS = sorted((Path(__file__).parents[2] / "examples").glob("*/*/SKILL.md"))


def _entries() -> st.SearchStrategy[str]:
    entry = st.tuples(st.sampled_from(_KEYS), st.sampled_from((": ", ":", " : ", "")), st.sampled_from(_VALUES))
    piece = st.one_of(
        entry.map("".join),
        st.sampled_from(_VALUES),
        st.text(max_size=20),
        st.sampled_from(_KEYS[:6]).map(lambda k: f"{k}: v"),
    )
    return st.lists(st.tuples(piece, st.sampled_from(_BREAKS)).map("".join), max_size=12).map("".join)


def _hostile() -> st.SearchStrategy[str]:
    return st.tuples(
        st.sampled_from(("", "a: ", "a: [", "a: {", "a: 'x", "description: ", "metadata:\n  a: ")),
        st.sampled_from(_REPEATED),
        st.sampled_from((1, 2, 19, 20, 21, 50, 200, 1000, 70_000)),
        st.sampled_from(("", "\n", "]", "\nname: a\n", "x: y: z\n")),
    ).map(lambda parts: parts[0] + (parts[1] * parts[2])[:70_000] + parts[3])


def documents() -> st.SearchStrategy[bytes]:
    """Documents of every kind: mostly almost right, some hostile, some noise."""
    opening = st.sampled_from(
        ("---\n", "---\n", "---\n", "--- \t\n", "---\r\n", "\ufeff---\n", "\n---\n", "<!-- x -->\n---\n", "----\n", "")
    )
    closing = st.sampled_from(
        ("---\nB\n", "---\nB\n", "---", "---x\n", "\n---\n", "  ---\n", "", "---\n[r](../x) ![i](y.png)\n")
    )
    built = st.tuples(opening, st.one_of(*[_entries()] * 7, _hostile()), closing).map("".join)
    return st.one_of(built.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=200))


def cpu_seconds(source: bytes) -> tuple[float, SkillDocument]:
    gc.disable()  # a collection walks the test runner's heap, which is not the parser's cost
    try:
        begin = time.process_time()
        document = parse_document(source)
        return time.process_time() - begin, document
    finally:
        gc.enable()


def _largest_events() -> float:
    """Processor time of PyYAML alone for the events of the largest front matter that is read to its end."""
    begin = time.process_time()
    for _ in yaml.parse("- {}\n" * MAX_NODES, Loader=yaml.CLoader):
        pass
    return time.process_time() - begin


def parse_in_time(source: bytes) -> SkillDocument:
    """Parse, and measure again what looked slow, beside PyYAML: this machine may be slower than others, or busy."""
    seconds, document = cpu_seconds(source)
    if seconds > _MOST_SECONDS:
        seconds = min(cpu_seconds(source)[0] for _ in range(3))
        limit = max(_MOST_SECONDS, 3 * min(_largest_events() for _ in range(3)))
        assert seconds <= limit, f"{seconds * 1000:.0f} ms for {len(source)} bytes: {source[:200]!r}"
    return document


def _consistent(document: SkillDocument) -> None:
    lines = document.text.split("\n")
    for found in document.diagnostics:
        place = found.location
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 2
    for field in document.fields:
        assert 0 <= field.key_node.start <= field.value.start <= len(document.text)


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(_SHARDS))
@pytest.mark.proves("format.parse.never-raises")
def test_no_generated_document_makes_the_parser_raise_or_linger(shard: int) -> None:
    @seed(shard)
    @settings(
        max_examples=_PER_SHARD,
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(documents())
    def run(source: bytes) -> None:
        _consistent(parse_in_time(source))

    run()


@pytest.mark.fuzz
@pytest.mark.parametrize("shard", range(_SHARDS))
@pytest.mark.proves("format.parse.never-raises")
def test_no_mutated_example_makes_the_parser_raise_or_linger(shard: int) -> None:
    generator = random.Random(shard)
    sources = [path.read_bytes() for path in _SEEDS] or [b"---\nname: a\ndescription: d\n---\nB\n"]
    for number in range(_PER_SHARD):
        source = bytearray(generator.choice(sources))
        for _ in range(generator.choice((1, 1, 2, 4, 16))):
            _mutate(source, generator)
        document = parse_in_time(bytes(source))
        _consistent(document)
        if number % 50 == 0:
            for profile in ("spec", "skills-ref", "lenient"):
                validate_skill(document, profile=profile)


def _mutate(source: bytearray, generator: random.Random) -> None:
    # The front matter is what is parsed, so most changes fall into it.
    limit = len(source) if generator.random() < 0.2 else min(len(source), 700)
    at = generator.randrange(limit + 1)
    match generator.randrange(6):
        case 0:
            source[at:at] = generator.choice(
                (b":", b"'", b'"', b"[", b"{", b"#", b"\t", b"\n", b"- ", b"&a ", b"*a", b"---\n")
            )
        case 1:
            del source[at : at + generator.choice((1, 1, 3, 30))]
        case 2:
            source[at:at] = source[at : at + generator.randrange(1, 40)] * generator.choice((1, 2, 50))
        case 3:
            source[at : at + 1] = bytes((generator.randrange(256),))
        case 4:
            source[at:at] = generator.choice(("\u2028", "\x85", "\ufeff", "é", "\U0001f600", "\r\n", "\x00")).encode()
        case _:
            other = generator.randrange(limit + 1)
            low, high = sorted((at, other))
            source[low:high] = source[low:high][::-1]


@pytest.mark.parametrize("fragment", _REPEATED)
@pytest.mark.parametrize("start", ["", "a: ", "a: [", "description: x\nmetadata:\n  k: "])
@pytest.mark.proves("format.frontmatter.size", "format.frontmatter.hazards")
def test_a_front_matter_made_of_one_thing_repeated_is_refused_or_read_quickly(start: str, fragment: str) -> None:
    body = start + fragment * (64 * 1024 // len(fragment.encode()))
    front = body.encode()[: 64 * 1024 - 1].decode("utf-8", "ignore")
    parse_in_time(f"---\n{front}\n---\nB\n".encode())


@pytest.mark.parametrize(
    "prelude", ["<!-- -->", "<!-- -->\n", "<!--", " ", " \n", "\n", "\t", "-", "---x\n", "----\n", "--- x"]
)
@pytest.mark.proves("format.frontmatter.not-first")
def test_a_long_way_to_the_frontmatter_is_walked_quickly(prelude: str) -> None:
    parse_in_time((prelude * (1_000_000 // len(prelude)) + "\n---\nname: a\n---\n").encode())


@pytest.mark.parametrize("size", [70_000, 3_000_000, 10_000_000])
@pytest.mark.parametrize(
    "line", [b"a: b\n", b"---x\n", b"x", b"\n", b"\r", "é".encode(), b"\xff", b"\x00", b"<!-- -->\n"]
)
@pytest.mark.proves("format.frontmatter.size")
def test_a_huge_front_matter_is_refused_quickly(line: bytes, size: int) -> None:
    document = parse_in_time(b"---\n" + line * (size // len(line)))
    assert document.fields == ()
    assert any(found.rule in {"frontmatter.size", "frontmatter.unclosed"} for found in document.diagnostics)
