"""The reference library, installed from the package index into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from prowess._internal.places import cache_home

_PACKAGE = "skills-ref==0.1.1"
_WAIT_SECONDS = 300

# Reads every skill below a directory, as the reference library offers it: one directory at a time.
READ_ALL = """
import sys
from pathlib import Path
from skills_ref import read_properties
for directory in sorted(Path(sys.argv[1]).iterdir()):
    read_properties(directory)
"""


class PeerMissingError(Exception):
    """The reference library cannot be installed here; the text says why."""


def interpreter() -> str:
    """Return the interpreter of an environment that holds the reference library; it is kept for the next time.

    Raises:
        PeerMissingError: no package index, or no `venv` module.
    """
    home = os.path.join(cache_home(), "benchmarks", _PACKAGE.replace("==", "-"))
    python = os.path.join(home, "bin", "python")
    if _can_import(python):
        return python
    shutil.rmtree(home, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", home],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", _PACKAGE],
    ):
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_WAIT_SECONDS)
        except (OSError, subprocess.SubprocessError) as fault:
            shutil.rmtree(home, ignore_errors=True)
            said = getattr(fault, "stderr", None) or str(fault)
            raise PeerMissingError(f"{_PACKAGE} cannot be installed: {str(said).strip().splitlines()[-1]}") from None
    return python


def _can_import(python: str) -> bool:
    if not os.path.exists(python):
        return False
    return subprocess.run([python, "-c", "import skills_ref"], check=False, capture_output=True).returncode == 0
