"""What the unused pytest plugin costs a run of pytest.

The two sides are fresh environments that differ in one package: Prowess and pytest, with and without `pytest-prowess`,
which registers the plugin. pip installs wheels and compiles their modules, as for users, because pytest reads the list
of all files of a package with a plugin. Both sides run one empty test without any other plugin.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Command, Figure, paired_ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_REPOSITORY = Path(__file__).parents[1]
_PLUGIN = "packages/pytest-prowess"
_PAIRS_A_ROUND = 5  # the difference is small
_WAIT_SECONDS = 300


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes in turns; the corpora are not used."""
    name = "`pytest` with one empty test and the unused plugin, against `pytest` without it"
    pairs = rounds * _PAIRS_A_ROUND
    with tempfile.TemporaryDirectory(prefix="prowess-bench-pytest-") as place:
        (Path(place) / "test_nothing.py").write_text("def test_nothing() -> None:\n    pass\n", encoding="utf-8")
        try:
            ours, theirs = (_command(place, with_plugin=with_plugin) for with_plugin in (True, False))
        except (OSError, subprocess.SubprocessError) as fault:
            return [Figure(name=name, value=None, at_most=1.02, note=f"no environment could be made: {fault}")]
        ratio = paired_ratio(ours, theirs, pairs)
    note = f"processor time of whole processes in fresh environments, median of {pairs} pairs"
    return [Figure(name=name, value=ratio, at_most=1.02, note=note)]


def _command(place: str, *, with_plugin: bool) -> Command:
    python = _environment(os.path.join(place, "with" if with_plugin else "without"), with_plugin=with_plugin)
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:anyio"]
    options = subprocess.run([*pytest, "--help"], cwd=place, capture_output=True, text=True, check=True, timeout=60)
    if ("--prowess=PATH" in options.stdout) is not with_plugin:
        message = f"{python} has the wrong plugins"
        raise RuntimeError(message)
    return Command(arguments=[*pytest, "test_nothing.py"], directory=place)


def _environment(home: str, *, with_plugin: bool) -> str:
    """Make an environment with the wheels of this repository, and return its interpreter."""
    wheels = os.path.join(home, "wheels")
    for package in (".", _PLUGIN) if with_plugin else (".",):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels]
        _done(build, cwd=_REPOSITORY / package)
    python = os.path.join(home, "bin", "python")
    _done([sys.executable, "-m", "venv", home])
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _done([*pip, "pytest", *(os.path.join(wheels, name) for name in sorted(os.listdir(wheels)))])
    return python


def _done(command: Sequence[str], cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=_WAIT_SECONDS)
