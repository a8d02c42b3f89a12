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
_SKILLKIT = "skillkit==0.4.0 aiofiles"
_MODEL_SIGNING = "model-signing==1.1.1 pyOpenSSL"  # it imports pyOpenSSL without requiring it
_SDK = "agentskills-fs==0.7.0"  # brings agentskills-core
_GOVERNANCE = "agent-governance-toolkit-core==5.0.0"
_OPENSKILLS = "openskills@1.5.0"
_LATER_PYTHONS = ("python3.14", "python3.13", "python3.12")  # it needs one of these
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


DISCOVER_SKILLKIT = """
import sys
from pathlib import Path
from skillkit import SkillManager
manager = SkillManager(project_skill_dir=Path(sys.argv[1]), anthropic_config_dir="")
manager.discover()
manager.list_skills()
"""
REGISTER_SDK = """
import asyncio, sys
from pathlib import Path
from agentskills_core import SkillRegistry
from agentskills_fs import LocalFileSystemSkillProvider
try:
    asyncio.run(SkillRegistry().register_all(LocalFileSystemSkillProvider(Path(sys.argv[1]))))
except ValueError:  # it reads all skills, and then refuses them together for the form of one field
    pass
"""
VERIFY_ALL = """
import sys
from pathlib import Path
from model_signing import verifying
for skill in sorted(Path(sys.argv[1]).iterdir()):
    if (skill / "skill.oms.sig").exists():
        config = verifying.Config().use_certificate_verifier(certificate_chain=[sys.argv[2]])
        try:
            config.set_ignore_unsigned_files(True).verify(skill, skill / "skill.oms.sig")
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
    return os.path.join(_environment(_RETRIEVAL, "python", base=_later_python(_RETRIEVAL)), "python")


def skillkit() -> str:
    """Return the interpreter of an environment that holds skillkit. Raises PeerMissingError as `interpreter`."""
    return os.path.join(_environment(_SKILLKIT, "python"), "python")


def model_signing() -> str:
    """Return the interpreter of an environment that holds model-signing. Raises PeerMissingError as `interpreter`."""
    return os.path.join(_environment(_MODEL_SIGNING, "python"), "python")


def governance_toolkit() -> str:
    """Return the interpreter of an environment that holds agent-governance-toolkit-core.

    Raises:
        PeerMissingError: as `interpreter`.
    """
    return os.path.join(_environment(_GOVERNANCE, "agentmesh"), "python")


def sdk() -> str:
    """Return the interpreter of an environment that holds agentskills-fs. Raises PeerMissingError as `retrieval`."""
    return os.path.join(_environment(_SDK, "python", base=_later_python(_SDK)), "python")


def openskills() -> str:
    """Return the path of the command openskills.

    Raises:
        PeerMissingError: no npm, or no package index.
    """
    home = os.path.join(cache_home(), "benchmarks", _OPENSKILLS.replace("@", "-"))
    command = os.path.join(home, "node_modules", ".bin", "openskills")
    if not os.path.exists(command):
        _run_steps(_OPENSKILLS, home, [["npm", "install", "--silent", "--no-save", "--prefix", home, _OPENSKILLS]])
    return command


def _later_python(package: str) -> str:
    managed = sorted(str(path) for path in Path.home().glob(".pyenv/versions/*/bin"))
    search = os.pathsep.join([*managed, os.environ.get("PATH", "")])
    for name in _LATER_PYTHONS:
        if (python := shutil.which(name, path=search)) is not None:
            return python
    raise PeerMissingError(f"{package} needs one of {', '.join(_LATER_PYTHONS)}")


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
    home = os.path.join(cache_home(), "benchmarks", package.replace("==", "-").replace(" ", "-"))
    commands = os.path.join(home, "bin")
    if os.path.exists(os.path.join(commands, command)):
        return commands
    python = os.path.join(commands, "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *package.split()]
    _run_steps(package, home, [[base, "-m", "venv", home], install])
    return commands


def _run_steps(package: str, home: str, steps: list[list[str]]) -> None:
    shutil.rmtree(home, ignore_errors=True)
    for step in steps:
        try:
            subprocess.run(step, check=True, capture_output=True, text=True, timeout=_WAIT_SECONDS)
        except (OSError, subprocess.SubprocessError) as fault:
            shutil.rmtree(home, ignore_errors=True)
            reason = str(getattr(fault, "stderr", None) or fault).strip() or str(fault)
            raise PeerMissingError(f"{package} cannot be installed: {reason.splitlines()[-1]}") from None
