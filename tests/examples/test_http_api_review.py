from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.examples.conftest import Outcome

SHOP = Path(__file__).parent / "data" / "shop.yaml"
SCRIPTS = Path(__file__).resolve().parents[2] / "examples" / "skills" / "http-api-review" / "scripts"


@pytest.fixture
def shop(workspace: Path) -> str:
    (workspace / "shop.yaml").write_bytes(SHOP.read_bytes())
    return "shop.yaml"


def test_the_findings_name_rule_and_place(run: Callable[..., Outcome], shop: str) -> None:
    done = run("http-api-review", "review.py", shop, "--json")
    assert (done.code, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert report["counts"] == {"error": 7, "warning": 6, "advice": 8}
    found = {(one["rule"], one["place"]) for one in report["findings"]}
    assert {
        ("plain-http", "http://api.example.com"),
        ("path-parameter", "GET /orders/{id}"),
        ("operation-id", "GET /orders"),
        ("reference", "/paths/~1orders/get/responses/200/content/application~1json/schema/items"),
        ("body-not-allowed", "DELETE /createOrder/"),
        ("no-response", "DELETE /createOrder/"),
        ("unlimited-list", "GET /orders"),
        ("no-security", "POST /orders"),
        ("verb-in-path", "/createOrder/"),
        ("unused", "components/schemas/Unused"),
    } <= found


def test_a_good_description_has_no_findings(run: Callable[..., Outcome], workspace: Path) -> None:
    good = {
        "openapi": "3.1.0",
        "security": [{"key": []}],
        "paths": {
            "/orders/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "get": {
                    "operationId": "readOrder",
                    "summary": "Read one order",
                    "responses": {"200": {"description": "it"}, "404": {"description": "none"}},
                },
            }
        },
    }
    (workspace / "good.json").write_text(json.dumps(good))
    done = run("http-api-review", "review.py", "good.json")
    assert (done.code, done.stdout) == (0, "0 errors, 0 warnings, 0 advice in 1 operations\n")


def test_what_breaks_clients_is_an_error(run: Callable[..., Outcome], workspace: Path, shop: str) -> None:
    text = SHOP.read_text().replace("note: {type: string}", "").replace("required: [id]", "required: [id, n]")
    text = text.replace("/createOrder/:", "/other:").replace("name: state\n", "name: kind\n        required: true\n")
    (workspace / "new.yaml").write_text(text)
    done = run("http-api-review", "review.py", "new.yaml", "--against", shop, "--json")
    broken = {
        (one["place"], one["message"])
        for one in json.loads(done.stdout)["findings"]
        if one["rule"].startswith("breaking")
    }
    assert broken == {
        ("DELETE /createOrder/", "the operation is gone"),
        ("GET /orders", "query parameter 'kind' is new and required"),
        ("POST /orders", "request: 'n' is required now"),
        ("GET /orders/{id}", "200: 'note' is gone"),
    }
    same = run("http-api-review", "review.py", shop, "--against", shop, "--json")
    assert json.loads(same.stdout)["counts"]["error"] == 7


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (None, 2, "cannot read api.yaml"),
        ("swagger: '2.0'\n", 3, "not an OpenAPI 3 description"),
        ("openapi: 3.1.0\npaths: []\n", 3, "paths must be an object"),
        ("openapi: 3.1.0\nx: &anchor 1\n", 2, "line 2: '&anchor' is outside plain YAML"),
        ("openapi: 3.1.0\nx: !tag 1\n", 2, "line 2"),
        ("openapi: 3.1.0\nx: one\n  two\n", 2, "line 3: the indentation does not fit"),
        ("openapi: 3.1.0\nopenapi: 3.1.0\n", 2, "line 2: the key 'openapi' occurs twice"),
        ("openapi: 3.1.0\nx: [1, 2\n", 2, "line 2: a bracket does not end"),
        ("openapi: 3.1.0\nx: " + "[" * 5000, 2, "line 2"),
        ("{", 2, "is not JSON"),
    ],
)
def test_what_cannot_be_reviewed_is_said(
    run: Callable[..., Outcome], workspace: Path, text: str | None, code: int, said: str
) -> None:
    if text is not None:
        (workspace / "api.yaml").write_text(text)
    done = run("http-api-review", "review.py", "api.yaml")
    assert done.code == code
    assert said in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        SHOP.read_text(),
        'a: {b: c d, e: [1, "x, y", {z: http://u/v}], n: {}}',
        "a: 'it''s'\nb: \"q\\n\"\nc: plain # comment\nd: a#b\n",
        "- 1\n- - 2\n  - x: 3\n    y: 4\n-\n  z: 5\n",
        "a: >\n  one\n  two\n\n  three\nb: |-\n  x\n   y\nc: |\n  z\n",
        "a:\n- 1\n- 2\nb: -1.5\nc: 1e3x\nd: ~\ne:\nf: true\n",
    ],
)
def test_plain_yaml_reads_what_a_full_reader_reads(text: str) -> None:
    assert _as_json(_plain_yaml().parse(text)) == _as_json(yaml.safe_load(text))


def _as_json(value: object) -> object:
    return json.loads(json.dumps(value))  # keys become text, as they are in JSON


def _plain_yaml() -> Any:  # noqa: ANN401 -- a script has no types to import
    if "plain_yaml_of_example" not in sys.modules:
        spec = importlib.util.spec_from_file_location("plain_yaml_of_example", SCRIPTS / "plain_yaml.py")
        assert spec is not None
        assert spec.loader is not None
        before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        module = importlib.util.module_from_spec(spec)
        sys.modules["plain_yaml_of_example"] = module
        spec.loader.exec_module(module)
        sys.dont_write_bytecode = before
    return sys.modules["plain_yaml_of_example"]
