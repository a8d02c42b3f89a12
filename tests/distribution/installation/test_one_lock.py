"""One request gives one text of the lock, whatever the home, path, locale, umask and Python are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

import prowess
from tests.counterparts import counterpart
from tests.distribution.installation.projects import make_project, write_skill
from tests.distribution.sources.git_repository import commit, new_repository, skill

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.unmeasured

NO_MORE: Mapping[str, str] = MappingProxyType({})
_LOCALES = (("da_DK", "ISO-8859-1"), ("et_EE", "ISO-8859-15"))


@pytest.fixture
def beginning(tmp_path: Path) -> Path:
    """Return a directory with a project, skills whose files have names beyond ASCII, and a repository."""
    place = tmp_path / "beginning"
    make_project(place, "ledger", "mail")
    for name in ("aa.md", "B.md", "z.md", "ž.md", "æ.md", "õ.md"):
        (place / "skills" / "ledger" / name).write_text(name)
    report = write_skill(place / "skills" / "report") / "SKILL.md"
    report.write_text(report.read_text().replace("metadata:\n", 'metadata:\n  dependencies: "ledger@^1 mail"\n'))
    repository, tide = new_repository(place / "repository"), skill("tide", version="2.0.0")
    commit(repository, {"skills/tide/SKILL.md": tide, "skills/tide/øre.md": "1"}, tag="v2.0.0")
    return place


def _lock(
    beginning: Path, place: Path, more: Mapping[str, str] = NO_MORE, *, python: str = sys.executable, umask: int = 0o022
) -> bytes:
    """Install in a copy of `beginning` at `place`, with a home of its own; return the lock."""
    shutil.copytree(beginning, place)
    home = place.with_name(f"{place.name}-home")
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(Path(prowess.__file__).parents[1])}
    for words in (
        ("../skills", "--skill", "report", "--target", "claude-code=copy", "--target", "codex"),
        ("git+file:../repository@^2", "--skill", "*"),
    ):
        done = subprocess.run(
            [python, "-m", "prowess", "install", *words],
            cwd=place / "project",
            env={**environment, **more},
            umask=umask,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
    return (place / "project" / "prowess.lock").read_bytes()


def _locales(place: Path) -> list[str]:
    """Make the locales of which Debian has the sources, and return their names."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/et_EE").exists():
        return []
    place.mkdir()
    for language, encoding in _LOCALES:
        subprocess.run(["localedef", "-i", language, "-f", encoding, place / f"{language}.{encoding}"], check=True)
    return [f"{language}.{encoding}" for language, encoding in _LOCALES]


def test_home_path_umask_and_language_change_no_byte_of_a_lock(beginning: Path, tmp_path: Path) -> None:
    first = _lock(beginning, tmp_path / "one")
    assert (first.count(b"[[skill]]"), first.count(b"[[target]]")) == (4, 2)
    shutil.rmtree(tmp_path / "one")
    other = _lock(
        beginning, tmp_path / "deep" / "nested" / "other place", {"TZ": "Asia/Tokyo", "LC_ALL": "C"}, umask=0o077
    )
    assert other == first
    more = {"LOCPATH": str(tmp_path / "locales"), "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for name in _locales(tmp_path / "locales"):
        assert _lock(beginning, tmp_path / f"{name} žæ", {**more, "LC_ALL": name}) == first, name


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_another_python_changes_no_byte_of_a_lock(version: str, beginning: Path, tmp_path: Path) -> None:
    python = str(counterpart(f"python-{version}") / "bin" / "python")
    assert _lock(beginning, tmp_path / "two", python=python) == _lock(beginning, tmp_path / "one")
