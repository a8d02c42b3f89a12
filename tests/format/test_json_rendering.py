from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from prowess.format import parse_document
from prowess.format.json_rendering import as_json, renders

FRONT = """\
---
name: pdf
description: "1.0"
license:
allowed-tools: [Read, 'Bash(git:*)']
metadata:
  version: 1.0
  count: 12
  quoted: "12"
  on: true
  off: No
  octal: 0o17
  older: 017
  hex: 0xFF
  nothing: ~
  huge: 1e999
  date: 2024-01-02
  block: |
    12
---
Body.
"""


def test_values_are_typed_as_a_yaml_parser_types_them() -> None:
    written = as_json(parse_document(FRONT))
    assert written["description"] == "1.0"
    assert written["license"] is None
    assert written["allowed-tools"] == ["Read", "Bash(git:*)"]
    assert json.loads(json.dumps(written["metadata"])) == {
        "version": 1.0,
        "count": 12,
        "quoted": "12",
        "on": True,
        "off": "No",
        "octal": 15,
        "older": 17,
        "hex": 255,
        "nothing": None,
        "huge": "1e999",
        "date": "2024-01-02",
        "block": "12\n",
    }


def test_what_we_render_says_the_same_and_so_does_another_parser() -> None:
    document = parse_document(FRONT)
    assert renders(document, as_json(document))
    older = yaml.safe_load(FRONT.split("---\n")[1].replace("date: 2024-01-02", "date: '2024-01-02'"))
    older["metadata"] = {{True: "on"}.get(key, key): value for key, value in older["metadata"].items()}
    older["metadata"] = {{False: "off"}.get(key, key): value for key, value in older["metadata"].items()}
    older["metadata"]["huge"] = "1e999"
    assert older["metadata"]["older"] == 15
    assert older["metadata"]["off"] is False
    assert renders(document, older)


@pytest.mark.parametrize(
    ("change"),
    [
        {"description": 1.0},
        {"name": "pdf2"},
        {"license": "MIT"},
        {"allowed-tools": ["Read"]},
        {"allowed-tools": "Read Bash(git:*)"},
        {"allowed-tools": ["Bash(git:*)", "Read"]},
        {"metadata": None},
        {"metadata": {"version": 1.0}},
        {"hooks": {}},
    ],
)
def test_every_difference_is_noticed(change: dict[str, object]) -> None:
    document = parse_document(FRONT)
    assert not renders(document, {**as_json(document), **change})
    assert not renders(document, {key: value for key, value in as_json(document).items() if key != "license"})
    assert not renders(document, [as_json(document)])


def test_true_is_not_one() -> None:
    document = parse_document("---\nname: a\ndescription: b\nx: 1\ny: true\n---\n")
    assert not renders(document, {"name": "a", "description": "b", "x": True, "y": True})
    assert not renders(document, {"name": "a", "description": "b", "x": 1, "y": 1})
    assert renders(document, {"name": "a", "description": "b", "x": 1.0, "y": True})


def test_the_first_of_two_keys_wins() -> None:
    document = parse_document("---\nname: a\nname: b\ndescription: c\nmetadata: {k: 1, k: 2}\n---\n")
    assert as_json(document) == {"name": "a", "description": "c", "metadata": {"k": 1}}
    assert renders(document, as_json(document))


@given(st.dictionaries(st.sampled_from("klmn"), st.one_of(st.integers(), st.booleans(), st.none(), st.text())))
def test_a_rendering_always_survives_json_and_says_the_same(values: dict[str, object]) -> None:
    lines = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())
    document = parse_document(f"---\nname: a\ndescription: b\n{lines}---\n")
    rendered = json.loads(json.dumps(as_json(document)))
    assert renders(document, rendered)
    if document.complete:
        assert rendered == {"name": "a", "description": "b", **values}
