"""The conformance cases through `read-properties --json-full`: what a host in another language would get."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from prowess.cli.dispatch import run

_CASES = json.loads((Path(__file__).parent / "format-cases.json").read_text(encoding="utf-8"))["cases"]
_KEYS = ("name", "description", "license", "allowed_tools", "metadata", "metadata_raw")


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in _CASES])
def test_the_properties_of_a_case_are_those_it_states(
    case: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = tmp_path / str(case["dir"])
    for name, content in case["files"].items():
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        data = base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode()
        (skill / name).write_bytes(data)
    expected = case["lenient"]
    code = run(["read-properties", "--profile", "lenient", "--json-full", "--", str(skill)])
    read = json.loads(capfd.readouterr().out)
    assert code == (0 if expected["loads"] else 1)
    if not expected["loads"]:
        assert read["loads"] is False
        assert any(found["severity"] == "error" for found in read["diagnostics"])
        return
    for key in _KEYS:
        if key in expected:
            assert read[key] == expected[key], key
    if "body" in expected:
        assert read["body"].strip() == expected["body"]
