"""Processes that read and build the index are killed at random moments: no wrong answer, no index lost for good.

`PROWESS_INDEX_KILLS` is the number of kills; `make stress` kills 1000.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.catalog import Catalog
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("PROWESS_INDEX_KILLS", "12"))
_SKILLS = 300
_AT_ONCE = 2
_PROGRAM = """
import sys
from prowess._internal.files import file_mark
from prowess.catalog import Catalog

file_mark.SETTLED_NS = 0
print("ready", flush=True)
while True:
    catalog = Catalog(sys.argv[1])
    if len(sys.argv) > 2:
        catalog.index.remove()
    catalog.entries()
"""


def _answer(catalog: Catalog) -> list[tuple[str, str]]:
    return [(entry.name, entry.description) for entry in catalog.entries()]


@pytest.mark.unmeasured
def test_kills_change_no_answer_and_lose_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)  # here too, or a run of less than two seconds stores no row
    chance = random.Random(7)
    root = tmp_path / "skills"
    for number in range(_SKILLS):
        write_skill(root / f"skill-{number:03}")
    for kill in range(0, KILLS, _AT_ONCE):
        words = [[sys.executable, "-c", _PROGRAM, str(root), *(["remove"] if rebuilds else [])] for rebuilds in (0, 1)]
        running = [subprocess.Popen(one, stdout=subprocess.PIPE) for one in words]
        try:
            for process in running:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
            write_skill(root / f"skill-{chance.randrange(_SKILLS):03}", description=f"After kill {kill}.")
            time.sleep(chance.random() * 0.1)
        finally:
            for process in running:
                process.send_signal(signal.SIGKILL)
                process.communicate()
        assert _answer(Catalog(root)) == _answer(Catalog(root, index=False))
    catalog = Catalog(root)
    catalog.entries()
    index = Catalog(root).index
    assert index is not None
    index.load()
    assert index.unread is None
    assert index.counts()["skills"] > 0
