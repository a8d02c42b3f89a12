"""A skill on disk in one line, and a command of the shim in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def make_skill(tmp_path: Path) -> Callable[..., Path]:
    """Write one skill below the test's directory: `make_skill("name: a", directory="a")`; returns the directory."""

    def make(front_matter: str, *, directory: str = "my-skill", body: str = "Body\n", file: str = "SKILL.md") -> Path:
        folder = tmp_path / directory
        folder.mkdir(exist_ok=True)
        (folder / file).write_bytes(f"---\n{front_matter}\n---\n{body}".encode())
        return folder

    return make
