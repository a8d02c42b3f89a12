"""The conformance cases: inputs as data, and the outcome in each of the six profiles."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FILES = ("format-cases.json", "format-cases-more.json")
CASES: list[dict[str, Any]] = [
    case for name in FILES for case in json.loads((HERE / name).read_text(encoding="utf-8"))["cases"]
]
PROFILES = ("spec", "skills-ref", "skillscraft", "boxxy", "claude-code", "lenient")


def parameters(*keys: str) -> list[Any]:
    """The cases that have all of the keys, by their ids."""
    return [pytest.param(case, id=case["id"]) for case in CASES if all(key in case for key in keys)]


def lay_out(case: dict[str, Any], root: Path) -> Path:
    """Write the files of a case, and those around its skill, and return the skill's directory."""
    skill = root / str(case["dir"])
    skill.mkdir(parents=True)
    for base, files in ((skill, case["files"]), (root, case.get("around", {}))):
        for name, content in files.items():
            file: Path = base / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, dict) and "link" in content:
                os.symlink(content["link"], file)
                continue
            file.write_bytes(base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode())
    return skill
