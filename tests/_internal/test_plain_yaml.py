"""The fast path of the YAML reader gives libyaml's nodes at libyaml's places, or hands over."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.corpus import skill_text
from prowess._internal.plain_yaml import read_plain
from prowess._internal.yaml_reader import YamlReading, _Reader, read_yaml
from tests.conformance.format_cases import CASES

_BASE = 7
_LINES = (
    *("name: a", "description: d e", "key:", "  k: v", '  k2: "q"', "- a", "  - b", "   - c", "", "  ", "# c", "  # c"),
    *("a: |", "a: >-", "t: >", "u: |-", "  text", "    deep", 'a: "x" ', "b: 'it''s'", "c: x: y", "d: x #y", "e: ~"),
    *("f: [a]", "g:", "  h:", "    i: j", "k:  two  ", "l: -a", "m: ...", "...", "---", "n: x:", "o: 1.0", "\xe9: a"),
    *("p: \xe9 \u6280", "q : x", "r:x", "  s", '"v": w', "x: '", 'y: "', 'z: "a" b', "- k: v", "  - k: v", "  - - n"),
    *("<<: a", "w: <<", "A: =", "- ", "-", "B: a\\b", 'C: "a\\n"', "D: ? a", "E: !x", "F: &a b", "G: *a", " H: i"),
    *("  I: j", "J:   # c", "K: a\tb", "L:\tx", '  - "q"', "  - |", "M: |  ", "N: -", 'O: "a: b"', "P: http://x"),
    *("Q: a,b", "R: {", "S: a{b}", "T: %", "U: a%", 'V: ","', "W: '#'", "X: \u2028", "Y: \x85", "Z: \xa0", "a: b\0"),
)


def _agrees(text: str) -> bool:
    """Compare both readers; return whether the fast path answered."""
    plain = read_plain(text, _BASE)
    if plain is None:
        return False
    assert YamlReading(plain.root, (), plain.nodes) == _Reader(text, _BASE, None).read()
    return True


@given(st.lists(st.sampled_from(_LINES), min_size=1, max_size=7))
def test_any_lines_are_read_alike_or_handed_over(lines: list[str]) -> None:
    _agrees("\n".join(lines) + "\n")


@given(st.text(alphabet="ab:-#'\"|> \n\\[]{}&*!%@~\t\xe9", max_size=40))
def test_any_text_is_read_alike_or_handed_over(text: str) -> None:
    _agrees(f"{text}\n")


def test_seeded_lines_are_often_plain_and_always_alike() -> None:
    chance = random.Random(3)
    texts = ["\n".join(chance.choices(_LINES, k=chance.randint(1, 4))) + "\n" for _ in range(4000)]
    assert sum(map(_agrees, texts)) > 200


def test_the_front_matter_of_every_case_is_read_alike_or_handed_over() -> None:
    plain = 0
    for case in CASES:
        text = case["files"].get("SKILL.md", "")
        if isinstance(text, str) and text.startswith("---\n"):
            plain += _agrees(text[4:].partition("\n---")[0] + "\n")
    assert plain > 20


def test_ordinary_front_matter_is_plain() -> None:
    for number in range(200):
        text = skill_text(random.Random(number), "a")
        assert _agrees(text[4:].partition("\n---\n")[0] + "\n"), text


@pytest.mark.parametrize(
    "text",
    [
        "name: a\n",
        "a: x\n\n\nb: y\n\n",
        "a:\nb: y\n",
        "a:\n  b: 'it''s'\n  c: \"q\"\nd: e\n",
        "a:\n- x\n- 'y'\nb: z\n",
        "a:\n  - x\n  # why\n  - y\n",
        "# first\na: |\n  text\n\n  more\n\n# why\nb: >-\n  folded\n  on\n",
        "a:\n  b:\n  c: d\n",
        "a:\n  b:\n    - c\n",
    ],
)
def test_these_forms_are_plain(text: str) -> None:
    assert _agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b",
        "- a\n",
        "a: b\n  c\n",
        "a: [b]\n",
        "a: b: c\n",
        "a: 'b\n",
        "a: |\n text\n  \n",
        "a:\n  b: |\n    text\n  c: d\n",
        "a:\n  b:\n    c: d\n",
        "a: \x07\n",
        "a: b\u2028c: d\n",
        "a: b\n" * 3000,
    ],
)
def test_these_forms_are_handed_over(text: str) -> None:
    assert read_plain(text, _BASE) is None
    read_yaml(text, base=_BASE)


def test_a_plain_text_is_read_without_loading_pyyaml() -> None:
    code = (
        "import sys; from prowess._internal.yaml_reader import read_yaml; "
        "read_yaml(sys.argv[1]); print('yaml' in sys.modules)"
    )
    for text, loaded in (("a: b\n", "False"), ("a: [b]\n", "True")):
        done = subprocess.run(
            [sys.executable, "-c", code, text], capture_output=True, text=True, check=True, env=os.environ
        )
        assert done.stdout.strip() == loaded
