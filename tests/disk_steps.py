"""Records in which order a program puts files on the disk and replaces others with them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the path of a descriptor is not known")


def record_steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets `sync PATH` and `replace PATH` with each call. Both are still carried out."""
    steps: list[str] = []

    def recording(call: Callable[..., None], path_of: Callable[..., str]) -> Callable[..., None]:
        def recorded(*arguments: object) -> None:
            steps.append(f"{call.__name__.removeprefix('f')} {path_of(*arguments)}")
            call(*arguments)

        return recorded

    monkeypatch.setattr(os, "fsync", recording(os.fsync, lambda number: os.readlink(f"/proc/self/fd/{number}")))
    monkeypatch.setattr(os, "replace", recording(os.replace, lambda draft, path: f"{path} by {draft}"))
    return steps


def steps_around(steps: list[str], path: str) -> tuple[bool, bool]:
    """Return whether the draft of `path` was synced just before it replaced `path`, and the directory just after."""
    at, draft = next((at, one.partition(" by ")[2]) for at, one in enumerate(steps) if f"replace {path} by " in one)
    return steps[at - 1] == f"sync {draft}", steps[at + 1 :][:1] == [f"sync {os.path.dirname(path)}"]
