from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tools.builtin.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A workspace that may be written, and one call that runs a tool on it."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Desk(workspace)
