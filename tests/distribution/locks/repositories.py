"""Repositories of git with locks on several branches, for tests of merges."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from prowess.lockfile import write_lock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prowess.lockfile import Lockfile

LOCK = "prowess.lock"


class Repository:
    """A repository in `root` whose branch `main` has the lock `base`, and a branch for each other lock."""

    def __init__(self, root: Path, base: Lockfile, branches: Mapping[str, Lockfile]) -> None:
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.commit("base", base)
        for name, lock in branches.items():
            self.git("checkout", "-q", "-b", name, "main")
            self.commit(name, lock)
        self.git("checkout", "-q", "main")

    def git(self, *words: str, fails: bool = False) -> str:
        """Run git; `fails` is whether it must."""
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", "-C", str(self.root), *identity, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) is fails, done.stderr + done.stdout
        return done.stdout + done.stderr

    def commit(self, message: str, lock: Lockfile) -> None:
        write_lock(str(self.root / LOCK), lock)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    @property
    def text(self) -> bytes:
        """The bytes of the lock in the working tree."""
        return (self.root / LOCK).read_bytes()
