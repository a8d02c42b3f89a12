"""The peers of the benchmarks and a registry, each installed from the package index into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from prowess._internal.places import cache_home

_PACKAGE = "skills-ref==0.1.1"
_LINTER = "agnix==0.59.3"
_RETRIEVAL = "agentskills-retrieval==0.7.0"
_REGISTRY = "ra-skills==1.0.0"
_RETRIEVAL_PYTHONS = ("python3.14", "python3.13", "python3.12")  # it needs one of these
_WAIT_SECONDS = 300

# Each skill below a directory as the reference library offers it: one directory at a time, and faults are raised.
READ_ALL = """
import sys
from pathlib import Path
from skills_ref import read_properties
for directory in sorted(Path(sys.argv[1]).iterdir()):
    try:
        read_properties(directory)
    except Exception:
        pass
"""
VALIDATE_ALL = """
import sys
from pathlib import Path
from skills_ref import validate
for directory in sorted(Path(sys.argv[1]).iterdir()):
    try:
        validate(directory)
    except Exception:
        pass
"""


class PeerMissingError(Exception):
    """The reference library cannot be installed here; the text says why."""


def interpreter() -> str:
    """Return the interpreter of an environment that holds the reference library; it is kept for the next time.

    Raises:
        PeerMissingError: no package index, or no `venv` module.
    """
    return os.path.join(_environment(_PACKAGE, "agentskills"), "python")


def agnix() -> str:
    """Return the path of the linter agnix in an environment of its own.

    Raises:
        PeerMissingError: as `interpreter`.
    """
    return os.path.join(_environment(_LINTER, "agnix"), "agnix")


def retrieval() -> str:
    """Return the interpreter of an environment that holds agentskills-retrieval.

    Raises:
        PeerMissingError: as `interpreter`, or no Python that the package supports.
    """
    managed = sorted(str(path) for path in Path.home().glob(".pyenv/versions/*/bin"))
    search = os.pathsep.join([*managed, os.environ.get("PATH", "")])
    for name in _RETRIEVAL_PYTHONS:
        if (python := shutil.which(name, path=search)) is not None:
            return os.path.join(_environment(_RETRIEVAL, "python", base=python), "python")
    raise PeerMissingError(f"{_RETRIEVAL} needs one of {', '.join(_RETRIEVAL_PYTHONS)}")


def registry() -> str:
    """Return the path of a registry of skills, a JSON file in a package.

    Raises:
        PeerMissingError: as `interpreter`.
    """
    library = os.path.join(os.path.dirname(_environment(_REGISTRY, "python")), "lib")
    (python,) = os.listdir(library)
    return os.path.join(library, python, "site-packages", "ra_skills", "_data", "registry.json")


def _environment(package: str, command: str, base: str = sys.executable) -> str:
    """Return the folder of the commands of an environment that holds the package, made with the interpreter `base`."""
    home = os.path.join(cache_home(), "benchmarks", package.replace("==", "-"))
    commands = os.path.join(home, "bin")
    if os.path.exists(os.path.join(commands, command)):
        return commands
    shutil.rmtree(home, ignore_errors=True)
    python = os.path.join(commands, "python")
    for step in (
        [base, "-m", "venv", home],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package],
    ):
        try:
            subprocess.run(step, check=True, capture_output=True, text=True, timeout=_WAIT_SECONDS)
        except (OSError, subprocess.SubprocessError) as fault:
            shutil.rmtree(home, ignore_errors=True)
            reason = getattr(fault, "stderr", None) or str(fault)
            raise PeerMissingError(f"{package} cannot be installed: {str(reason).strip().splitlines()[-1]}") from None
    return commands
