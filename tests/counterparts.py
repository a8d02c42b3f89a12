"""Other people's programs that tests start: registries, clients and libraries.

`make counterparts` downloads them into `.cache/counterparts`. Without a program, its tests are skipped and name it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_PLACE = Path(os.environ.get("PROWESS_COUNTERPARTS") or Path(__file__).parents[1] / ".cache" / "counterparts")


def counterpart(name: str) -> Path:
    """Return the directory of a counterpart, or skip the test."""
    if not (_PLACE / name / "ready").exists():
        pytest.skip(f"{name} is not on this machine; `make counterparts` downloads it")
    return _PLACE / name
