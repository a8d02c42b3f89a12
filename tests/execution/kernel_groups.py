"""Directories of control groups as the kernel makes them, where the real ones cannot be written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest


def as_the_kernel(monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str]) -> None:
    """Let a new directory hold these files, as one does that the kernel makes."""
    make = os.mkdir

    def made(path: str, mode: int = 0o777) -> None:
        make(path, mode)
        for name, text in files.items():
            Path(path, name).write_text(text)

    monkeypatch.setattr(os, "mkdir", made)
