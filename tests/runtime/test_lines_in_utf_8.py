"""JSON lines of a session on a root whose name is not UTF-8: every reader of JSON can read them."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.runtime import SyncSession
from prowess.runtime.json_lines import answer
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="only here may a file name be any bytes")
@pytest.mark.parametrize("body", ["instructions", "result"])
def test_no_line_holds_half_of_a_surrogate_pair(tmp_path: Path, body: str) -> None:
    root = os.fsencode(tmp_path) + b"/root\xff"
    write_skill(tmp_path / "skills", "alpha", body="In ${SKILL_DIR}.\n")
    os.rename(tmp_path / "skills", root)
    with SyncSession(Catalog(os.fsdecode(root)), body=body) as session:  # type: ignore[arg-type]  # both are a Body
        for request in (
            {"id": 1, "tool": "skills.load", "arguments": {"names": ["alpha"]}},
            {"id": 2, "method": "instructions"},
            {"id": 3, "tool": "skills.load", "arguments": {"names": ["alpha"], "location": "/no"}},
        ):
            line = answer(session, json.dumps(request).encode())
            assert b"\\ud" not in line.lower()
            assert "\udcff" not in line.decode()
            assert b"root" not in line or "root\ufffd" in line.decode()
