from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.examples.conftest import Outcome

pytestmark = pytest.mark.unmeasured

SCRIPTS = Path(__file__).resolve().parents[2] / "examples" / "skills" / "json-schema-check" / "scripts"
ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
    },
    "required": ["id", "items"],
    "additionalProperties": False,
    "$defs": {"item": {"type": "object", "required": ["sku"], "properties": {"n": {"minimum": 1}}}},
}


def _write(workspace: Path, name: str, value: object) -> str:
    (workspace / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return name


def test_every_fault_is_named_with_its_place(run: Callable[..., Outcome], workspace: Path) -> None:
    schema = _write(workspace, "order.schema.json", ORDER)
    good = _write(workspace, "good.json", {"id": 1.0, "items": [{"sku": "a"}]})
    bad = _write(workspace, "bad.json", {"id": "7", "items": [{"n": 0}], "no/te": 1})
    done = run("json-schema-check", "check.py", schema, good, bad)
    assert (done.code, done.stderr) == (1, "")
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "good.json: valid",
        "bad.json: 4 faults",
        '/id type: expected integer, found string "7"',
        "/items/0 required: 'sku' is missing",
        "/items/0/n minimum: 0 is less than 1",
        "/no~1te additionalProperties: this property is not in the schema",
    ]


def test_lines_are_judged_one_by_one(run: Callable[..., Outcome], workspace: Path) -> None:
    schema = _write(workspace, "s.json", {"type": "integer"})
    lines = _write(workspace, "d.jsonl", '1\n\n"x"\n')
    done = run("json-schema-check", "check.py", schema, lines, "--lines", "--json")
    report = json.loads(done.stdout)
    assert [(one["document"], one["valid"]) for one in report["documents"]] == [
        ("d.jsonl:1", True),
        ("d.jsonl:3", False),
    ]


def test_what_is_outside_the_subset_is_named(run: Callable[..., Outcome], workspace: Path) -> None:
    schema = _write(workspace, "s.json", {"unevaluatedProperties": False, "properties": {"a": {"$ref": "other.json"}}})
    done = run("json-schema-check", "check.py", schema, _write(workspace, "d.json", {"a": 1}))
    assert (
        done.stdout
        == "d.json: valid as far as checked\nnot checked: $ref other.json\nnot checked: unevaluatedProperties\n"
    )
    assert done.code == 0


@pytest.mark.parametrize(
    ("schema", "document", "code", "said"),
    [
        ({"$ref": "#/$defs/none"}, 1, 3, "leads nowhere"),
        ({"$ref": "#"}, 1, 3, "leads to itself"),
        ({"type": "text"}, 1, 3, "no type 'text'"),
        ({"pattern": "("}, "x", 3, "'pattern' does not fit"),
        ({"properties": 3}, {}, 3, "'properties' does not fit"),
        ([], 1, 3, "must be an object or a boolean"),
        ({}, "{", 2, "is not JSON"),
        ({}, "[NaN]", 2, "NaN is not JSON"),
        ({}, "1e999", 2, "too large"),
        ({}, "[" * 100_000, 2, "nested too deeply"),
    ],
)
def test_what_cannot_be_judged_is_said(  # noqa: PLR0917 -- pytest passes by name
    run: Callable[..., Outcome], workspace: Path, schema: object, document: object, code: int, said: str
) -> None:
    text = document if isinstance(document, str) and not document.isalpha() else json.dumps(document)
    done = run("json-schema-check", "check.py", _write(workspace, "s.json", schema), _write(workspace, "d.json", text))
    assert done.code == code
    assert said in done.stderr


def test_doubled_keys_are_a_fault(run: Callable[..., Outcome], workspace: Path) -> None:
    done = run(
        "json-schema-check", "check.py", _write(workspace, "s.json", {}), _write(workspace, "d.json", '{"a":1,"a":2}')
    )
    assert done.code == 1
    assert "duplicate key: 'a' occurs twice" in done.stdout


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text("ab1", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
_SMALL = st.integers(0, 3)


def _schemas() -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=2)
        named = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
        return st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])
                | st.lists(st.sampled_from(["object", "string", "integer"]), min_size=1, max_size=2, unique=True),
                "enum": st.lists(_VALUES, min_size=1, max_size=2),
                "const": _VALUES,
                "allOf": several,
                "anyOf": several,
                "oneOf": several,
                "not": inner,
                "if": inner,
                "then": inner,
                "else": inner,
                "properties": named,
                "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=1),
                "additionalProperties": inner,
                "propertyNames": inner,
                "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
                "minProperties": _SMALL,
                "maxProperties": _SMALL,
                "items": inner,
                "prefixItems": several,
                "contains": inner,
                "minItems": _SMALL,
                "maxItems": _SMALL,
                "uniqueItems": st.booleans(),
                "minLength": _SMALL,
                "maxLength": _SMALL,
                "pattern": st.sampled_from(["a", "^b", "1$"]),
                "minimum": st.integers(-2, 2),
                "maximum": st.integers(-2, 2),
                "exclusiveMinimum": st.integers(-2, 2),
                "exclusiveMaximum": st.integers(-2, 2),
                "multipleOf": st.sampled_from([1, 2, 0.5]),
            },
        )

    return st.recursive(st.booleans(), extend, max_leaves=6)


@settings(max_examples=300)
@given(schema=_schemas(), value=_VALUES)
def test_the_verdict_is_that_of_an_independent_validator(schema: object, value: object) -> None:
    checker = _checker(schema)
    judge = jsonschema.Draft202012Validator(cast("dict[str, object] | bool", schema))
    assert bool(checker.faults(value)) == (not judge.is_valid(value))
    assert checker.not_checked == set()


def _checker(schema: object) -> Any:  # noqa: ANN401 -- a script has no types to import
    import importlib.util

    if "subset_of_json_schema" not in sys.modules:
        spec = importlib.util.spec_from_file_location("subset_of_json_schema", SCRIPTS / "subset.py")
        assert spec is not None
        assert spec.loader is not None
        before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        module = importlib.util.module_from_spec(spec)
        sys.modules["subset_of_json_schema"] = module
        spec.loader.exec_module(module)
        sys.dont_write_bytecode = before
    return sys.modules["subset_of_json_schema"].Checker(schema)


def test_a_large_document_is_judged_quickly(tmp_path: Path) -> None:
    document = {"id": 1, "items": [{"sku": str(number), "n": 1} for number in range(20_000)]}
    (tmp_path / "s.json").write_text(json.dumps(ORDER))
    (tmp_path / "d.json").write_text(json.dumps(document))
    command = [sys.executable, "-B", str(SCRIPTS / "check.py"), "s.json", "d.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout == "d.json: valid\n"
