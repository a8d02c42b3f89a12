"""Positions in TOML: every key that tomllib reads is found on its line, whatever strings hold."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.files.toml_file import TomlLines

_TEXT = '''\
# a comment with [[rule]]
top = 1
dotted.key = "x # no comment"   # [[rule]]

[audit]
required = true

[[rule]]
reason = """
[[rule]]
effect = 'no'
"""
list = [ # opens
  "a]",
  'b[',
]
[rule.match]
command = "x"
  [[rule]]
"quoted key" = { a = 1, b = ["]", "}"] }
last = \'\'\'
x = 1
\'\'\'
end = 2
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("dotted", "key"), 3),
        (("audit",), 5),
        (("audit", "required"), 6),
        (("rule", 0), 8),
        (("rule", 0, "reason"), 9),
        (("rule", 0, "list"), 13),
        (("rule", 0, "match"), 17),
        (("rule", 0, "match", "command"), 18),
        (("rule", 1), 19),
        (("rule", 1, "quoted key"), 20),
        (("rule", 1, "quoted key", "b"), 20),
        (("rule", 1, "end"), 24),
        (("rule", 2), 1),
        (("nothing",), 1),
        ((), 1),
    ],
    ids=str,
)
def test_a_key_stands_on_its_line(path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(_TEXT)
    assert TomlLines(_TEXT).of(*path) == line


_VALUES = st.sampled_from(
    [
        "1",
        '"a"',
        "'b'",
        '"""x\n"y"\n"""',
        "'''\n[z]\n'''",
        "[1,\n 2] # ]",
        '{ a = "}" }',
        "true",
        '"\\""',
        '""',
        "1979-05-27",
    ]
)


@given(st.lists(st.tuples(_VALUES, st.sampled_from(["\n", "\n\n", " # c\n", "\n[[t]]\n"])), max_size=8))
def test_each_of_many_keys_is_found(pieces: list[tuple[str, str]]) -> None:
    text, expected, table = "", {}, -1
    for number, (value, end) in enumerate(pieces):
        path = (f"k{number}",) if table < 0 else ("t", table, f"k{number}")
        expected[path] = text.count("\n") + 1
        text += f"k{number} = {value}{end}"
        table += end.endswith("]]\n")
    tomllib.loads(text)
    lines = TomlLines(text)
    assert {path: lines.of(*path) for path in expected} == expected


@given(st.text("[]\"'=\n.#{}a \\,", max_size=40))
def test_what_is_no_toml_does_not_hang(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert TomlLines(text).of("a") >= 1
