"""The fast path agrees with the full parser or hands over; there is no third outcome."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prowess.format.source.plain_front_matter import plain_properties, read_plain_skill
from tests.format.two_readers import agree as _agrees
from tests.simple_corpus import skill_text

_CASES = json.loads((Path(__file__).parents[1] / "conformance" / "format-cases.json").read_text(encoding="utf-8"))


_KEYS = st.sampled_from(
    ["name", "description", "license", "compatibility", "allowed-tools", "metadata", "version", "x y"]
)
_TEXT = st.text(alphabet="aB1 :#-'\"\\|>&*!%@`[]{}(),?~=.\t\r\n\xe9\x85\xa0\u2028\U0001f600\0", max_size=24)
_WORDS = st.text(alphabet="ab :#'\"-,.", min_size=1, max_size=24)
_VALUES = st.one_of(
    _TEXT,
    _WORDS,
    st.sampled_from(
        ["d", "null", "~", "true", "|", ">", "|-", ">-", "|+", ">2", "", "a: b", "a #b", "a:", "- a", "<<"]
    ),
    _WORDS.map(lambda text: f'"{text}"'),
    _WORDS.map(lambda text: f"'{text}'"),
    _TEXT.map(lambda text: json.dumps(text, ensure_ascii=False)),
    _TEXT.map(lambda text: "'{}'".format(text.replace("'", "''"))),
)
_INDENTED = st.tuples(st.sampled_from([" ", "  ", "   ", "    ", "\t"]), st.one_of(_WORDS, _VALUES)).map("".join)
_NESTED = st.tuples(
    st.sampled_from(["  ", "   "]), st.sampled_from(["k", "k2", "a.b", "1", "k k", '"q"', "#"]), _VALUES
).map(lambda parts: f"{parts[0]}{parts[1]}: {parts[2]}")
_LINE = st.one_of(
    st.tuples(_KEYS, st.sampled_from([": ", ":", ":  ", " : "]), _VALUES).map("".join),
    _INDENTED,
    _NESTED,
    st.sampled_from(
        ["", " ", "# note", "  # note", "---", "...", "--- x", "metadata:", "description: >-", "description: |"]
    ),
)
_FRONT = st.lists(_LINE, max_size=7).map("\n".join)
_SOUND = st.tuples(
    st.sampled_from(["name: a\n", "name: 'a'\n", 'name: "a"\n']),
    st.one_of(
        st.just("description: d\n"),
        st.tuples(
            st.sampled_from(["|", ">", "|-", ">-"]),
            st.lists(st.one_of(_INDENTED, _WORDS.map("  {}".format), st.just("")), min_size=1, max_size=6),
        ).map(lambda parts: "description: {}\n{}\n".format(parts[0], "\n".join(parts[1]))),
        _VALUES.map("description: {}\n".format),
        st.tuples(_WORDS, st.lists(_WORDS.map("  {}".format), max_size=3)).map(
            lambda parts: "description: {}\n{}".format(parts[0], "".join(f"{line}\n" for line in parts[1]))
        ),
    ),
    st.lists(
        st.one_of(
            st.sampled_from(
                ["# note\n", "\n", "license: MIT\n", "allowed-tools: Read Bash(git add:*)\n", "compatibility: git\n"]
            ),
            _VALUES.map("license: {}\n".format),
            _VALUES.map("allowed-tools: {}\n".format),
            st.lists(_NESTED, min_size=1, max_size=3).map(lambda lines: "metadata:\n{}\n".format("\n".join(lines))),
        ),
        max_size=3,
    ).map("".join),
).map("".join)


@given(
    st.one_of(_FRONT, _SOUND), st.sampled_from(["\n---\n", "---\n", "\n---", "\n--- \n", "\n---x\n---\n", "\n"]), _TEXT
)
@example("name: a\ndescription: d", "\n---\n", "")
def test_any_front_matter_is_read_alike_or_handed_over(front: str, closing: str, body: str) -> None:
    _agrees(f"---\n{front}{closing}{body}".encode())


@given(_SOUND)
def test_front_matter_that_is_nearly_sound_is_read_alike_or_handed_over(front: str) -> None:
    _agrees(f"---\n{front}---\nB\n".encode())


def test_a_corpus_of_simple_skills_is_answered_whole_by_the_fast_path() -> None:
    for number in range(300):
        text = skill_text(random.Random(number), f"skill-{number}")
        assert _agrees(text.encode(), f"skill-{number}")


@pytest.mark.unmeasured
def test_small_damage_to_realistic_files_never_makes_the_two_differ() -> None:
    pieces = [
        b"",
        b" ",
        b":",
        b"#",
        b" #",
        b": ",
        b"'",
        b'"',
        b"\n",
        b"\n\n",
        b"  ",
        b"-",
        b"\\",
        b"\xff",
        b"\0",
        b"\r",
        b"\t",
        b"|",
        b"&a ",
        b"\xe2\x80\xa8",
    ]
    answered = 0
    for number in range(1200):
        chance = random.Random(number)
        data = bytearray(skill_text(chance, "a")[: chance.randint(300, 5000)].encode())
        for _ in range(chance.randint(1, 2)):
            at = chance.randrange(min(len(data), 700))
            data[at : at + chance.randint(0, 2)] = chance.choice(pieces)
        answered += _agrees(bytes(data))
    assert answered > 200  # the damage often falls into the body


@pytest.mark.parametrize("case", _CASES["cases"], ids=lambda case: case["id"])
def test_every_format_case_is_read_alike_or_handed_over(case: dict[str, object]) -> None:
    files = case["files"]
    assert isinstance(files, dict)
    for content in files.values():
        if isinstance(content, dict) and "link" in content:
            continue  # a link has no text
        data = base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode()
        _agrees(data, str(case["dir"]).rpartition("/")[2])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one line", "one line"),
        ("one\n  two\n   three", "one two three"),
        ('"a: b \\"c\\""', 'a: b "c"'),
        ("'it''s: #1'", "it's: #1"),
        ("|\n  a\n   b\n\n  c", "a\n b\n\nc\n"),
        (">-\n  a\n  b\n\n  c", "a b\nc"),
        ("a---b", "a---b"),
        ("null", "null"),
        ("数据 ü 😀", "数据 ü 😀"),
    ],
)
def test_the_common_forms_of_a_text_are_plain(value: str, text: str) -> None:
    data = f"---\nname: a\ndescription: {value}\n---\nB\n".encode()
    assert _agrees(data)
    assert _fields_of(data)["description"] == text


def _fields_of(data: bytes) -> dict[str, object]:
    """Return the fields that the plain reader reads; fail if it does not answer."""
    plain = read_plain_skill(data, "a", complete=True)
    assert plain is not None
    fields = plain_properties(plain.source)
    assert fields is not None
    return dict(fields)


@pytest.mark.parametrize(
    ("more", "key", "value"),
    [
        ("version: 1.0", "version", "1.0"),
        ("tags: [a b, \"c, d\", 'e']", "tags", ["a b", "c, d", "e"]),
        ("tags: []", "tags", []),
        ("tags:\n  - a b\n  # note\n  - 'c: d'", "tags", ["a b", "c: d"]),
        ("tags:\n- a\n- b", "tags", ["a", "b"]),
        ("argument-hint: >-\n  one\n  two", "argument-hint", "one two"),
        ("allowed-tools: Read, Grep", "allowed-tools", "Read, Grep"),
        ("allowed-tools:\n  - Read\n  - Bash(git:*)", "allowed-tools", ["Read", "Bash(git:*)"]),
        ("metadata:\n  a:\n    b: [c]\n    d:\n    - e\n  f: g", "metadata", {"a": {"b": ["c"], "d": ["e"]}, "f": "g"}),
        ("scope:\n  agents: [x]", "scope", {"agents": ["x"]}),
        ("license: [MIT]", "license", ["MIT"]),
        ("description: " + "x" * 1025, "description", "x" * 1025),
        ("compatibility: " + "x" * 501, "compatibility", "x" * 501),
        ('compatibility: ""', "compatibility", ""),
    ],
)
def test_fields_that_the_full_parser_warns_about_are_read_and_marked(more: str, key: str, value: object) -> None:
    described = "" if key == "description" else "description: d\n"
    data = f"---\nname: a\n{described}{more}\n---\nB\n".encode()
    assert _agrees(data)
    plain = read_plain_skill(data, "a", complete=True)
    assert plain is not None
    assert plain.has_findings
    assert _fields_of(data)[key] == value


@pytest.mark.parametrize("name", ["b", "A", "My Skill", "a-", "'a '"])
def test_a_name_that_differs_from_the_directory_or_is_not_valid_is_read(name: str) -> None:
    assert _agrees(f"---\nname: {name}\ndescription: d\n---\nB\n".encode())


def test_fields_of_the_specification_alone_are_not_marked() -> None:
    data = b"---\nname: a\ndescription: d\nallowed-tools: Read Bash(a,b)\nmetadata:\n  k: v\n---\nB\n"
    plain = read_plain_skill(data, "a", complete=True)
    assert plain is not None
    assert not plain.has_findings


@pytest.mark.parametrize("opened", ["|", "|-", "|+", ">", ">-", ">+", "|2", "| # c", ">-  "])
@pytest.mark.parametrize(
    "after", ["", "\n", "\n\n", "# c\n", "  # c\n", "  \n", "  x\n", "\n  x\n", "  x\n y\n", "  x\n\n# c\n  y\n"]
)
@pytest.mark.parametrize(
    "place",
    [
        "name: a\ndescription: d\nlicense: {}",
        "name: a\nlicense: {}description: d\n",
        "name: a\ndescription: {}license: MIT\n",
        "name: a\ndescription: {}",
        "name: a\ndescription: d\nmetadata:\n  k: {}",
        "name: a\ndescription: d\nmetadata:\n  k: {}  l: m\n",
        "name: a\ndescription: d\nmetadata:\n  k: {}license: MIT\n",
    ],
)
def test_block_scalars_of_every_kind_are_read_alike_or_handed_over(place: str, opened: str, after: str) -> None:
    _agrees("---\n{}---\nB\n".format(place.format(f"{opened}\n{after}")).encode())


@pytest.mark.parametrize(
    "front",
    [
        "name: größe\ndescription: d",
        "name: a",
        "description: d",
        "name: [a]\ndescription: d",
        "name: a\ndescription: d\nversion: 1\nversion: 1",
        "name: a\ndescription: d\nversion:",
        "name: a\ndescription: d\nversion: {a: b}",
        "name: a\ndescription: d\nversion : 1",
        "name: a\ndescription: d\n'version': 1",
        "name: a\ndescription: d\nx y: 1",
        "name: a\ndescription: d\nHooks: x",
        "name: a\ndescription: d\nuser_invocable: no",
        "name: a\ndescription: d\nhooks:\n  pre:\n    - command: x",
        "name: a\ndescription: d\ntags: [a,]",
        "name: a\ndescription: d\ntags: [a, [b]]",
        "name: a\ndescription: d\ntags: [a: b]",
        "name: a\ndescription: d\ntags: [a:, b]",
        "name: a\ndescription: d\ntags: [a?, b]",
        "name: a\ndescription: d\ntags: [it's, b]",
        "name: a\ndescription: d\ntags: [a,\n  b]",
        "name: a\ndescription: d\ntags: [a] # note",
        "name: a\ndescription: d\ntags:\n  - a\n  -",
        "name: a\ndescription: d\ntags:\n  - a\n    b",
        "name: a\ndescription: d\ntags:\n  - a\n   - b",
        "name: a\ndescription: d\ntags:\n  - - a",
        "name: a\ndescription: d\ntags:\n  - a: b",
        "name: a\ndescription: d\ntags:\n  - |\n    a",
        "name: a\ndescription: d\nx:\n  a: b\n c: d",
        "name: a\ndescription: d\nx:\n  a: b\n    c: d",
        "name: a\ndescription: d\nx:\n  a:\n  b: c",
        "name: a\ndescription: d\nx:\n  a: [b]\n  a: [c]",
        "name: a\ndescription: d\n" + "x" * 1025 + ": y",
        "name: a\ndescription: d\nname: a",
        "name: a\ndescription: [d]",
        "name: a\ndescription: &x d",
        "name: a\ndescription: 'd' e",
        "name: a\ndescription: 'd",
        'name: a\ndescription: "d\\n"',
        "name: a\ndescription: d: e",
        "name: a\ndescription: d\n  e: f",
        "name: a\ndescription: d\n\n  e",
        "name: a\ndescription:\n  d",
        "name: a\ndescription: >\n  d\n    e",
        "name: a\ndescription: |\n\n  d",
        "name: a\ndescription: |\n  d\n e",
        "name: a\ndescription: |",
        "name: a\ndescription: d\nlicense:",
        "name: a\ndescription: d\nmetadata:",
        "name: a\ndescription: d\nmetadata: x",
        "name: a\ndescription: d\nmetadata:\n  k:",
        "name: a\ndescription: d\nmetadata: [v]",
        "name: a\ndescription: d\nmetadata:\n  - v",
        "name: a\ndescription: d\nmetadata:\n  k: |\n  l: v",
        "name: a\ndescription: d\nmetadata:\n  k: v\n    l: w",
        "name: a\ndescription: d\nmetadata:\n  k: v\n  k: w",
        "name: a\ndescription: d\nmetadata:\n  : v",
        "name: a\ndescription: d\nallowed-tools: Bash (x)",
        "name: a\ndescription: d\nallowed-tools: Bash(x",
        "name: a\ndescription: d\nallowed-tools: Bash()",
        "name: a\ndescription: d\nallowed-tools: Bash(x)y",
        'name: a\ndescription: d\nallowed-tools: ""',
        "name: a\ndescription: d\nallowed-tools: Read, Bash(x)",
        "name: a\ndescription: d\nallowed-tools: mcp__a-b",
        "name: a\ndescription: x\x85y",
        "name: a\ndescription: x\u2028y",
        "name: a\ndescription: x\ty",
    ],
)
def test_what_needs_a_closer_look_is_handed_over(front: str) -> None:
    assert read_plain_skill(f"---\n{front}\n---\nB\n".encode(), "a", complete=True) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Title\n",
        b"\xef\xbb\xbf---\nname: a\ndescription: d\n---\n",
        b"---\r\nname: a\r\ndescription: d\r\n---\r\n",
        b"---\nname: a\ndescription: d\n",
        b"---\nname: a\ndescription: d\n---x\n---\n",
        b"---\nname: a\ndescription: caf\xe9\n---\n",
        b"---\nname: a\ndescription: d\n---\nB\0\n",
        b"---\nname: a\ndescription: d\n---\nB\xff\n",
    ],
)
def test_other_bytes_and_fences_are_handed_over(data: bytes) -> None:
    assert read_plain_skill(data, "a", complete=True) is None


def test_a_character_cut_by_the_end_of_the_head_is_no_fault() -> None:
    head = b"---\nname: a\ndescription: d\n---\n" + "é".encode() * 10
    assert read_plain_skill(head[:-1], "a", complete=False) is not None
    assert read_plain_skill(head[:-1], "a", complete=True) is None
    assert read_plain_skill(head[:-1] + b"x", "a", complete=False) is None


def test_a_closing_fence_at_the_very_end_of_the_head_waits_for_the_rest() -> None:
    head = b"---\nname: a\ndescription: d\n---"
    assert read_plain_skill(head, "a", complete=True) is not None
    assert read_plain_skill(head, "a", complete=False) is None


@pytest.mark.parametrize("source", [b"name: caf\xe9", b"name: a\x07", "name: x\u2028".encode()])
def test_a_source_with_what_cannot_be_shown_is_handed_over(source: bytes) -> None:
    assert plain_properties(source) is None
