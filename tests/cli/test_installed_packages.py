"""A package that was installed by a real installer: found, trusted, listed, loaded, run; and never imported."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.catalog.installing import record_row, skill_text

if TYPE_CHECKING:
    from pathlib import Path

SKILL = "acme/.agents/skills/report"


def write_wheel(directory: Path, files: dict[str, str]) -> Path:
    info = "acme-1.0.dist-info"
    written = {
        **files,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [",".join(record_row(path, text.encode())) for path, text in written.items()]
    wheel = directory / "acme-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**written, f"{info}/RECORD": "\n".join([*rows, f"{info}/RECORD,,", ""])}.items():
            archive.writestr(path, text)
    return wheel


@pytest.mark.proves("catalog.package.no-import", "catalog.package.held-back", "catalog.package.every-file")
def test_a_package_installed_by_pip_is_used_as_it_was_recorded_and_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, project = tmp_path / "mark", tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    wheel = write_wheel(
        tmp_path,
        {
            "acme/__init__.py": f"open({str(mark)!r}, 'w').close()\n",
            f"{SKILL}/SKILL.md": skill_text("report"),
            f"{SKILL}/scripts/make.py": "print('made')\n",
        },
    )
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(project / ".venv")], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(project / ".venv" / "bin" / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", "--disable-pip-version-check", str(wheel)], check=True)
    (skill,) = project.glob(f".venv/lib/*/site-packages/{SKILL}")
    assert list(skill.glob("scripts/__pycache__/*.pyc"))  # pip compiled the script and recorded no hash of the result
    monkeypatch.setenv("PROWESS_PACKAGES", "project")

    def prowess(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "prowess", *arguments]
        return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)

    assert "acme 1.0 (report)" in prowess("list").stderr
    assert prowess("trust", "--package", "acme").returncode == 0
    assert prowess("list").stdout.startswith("report")
    assert "# Do it" in prowess("load", "report").stdout
    assert prowess("run", "report", "make.py").stdout == "made\n"
    assert not mark.exists()
    script = skill / "scripts" / "make.py"
    script.write_text("print('mad3')\n")
    assert prowess("list").stdout.startswith("report")
    refused = prowess("load", "report")
    assert refused.returncode != 0
    assert "scripts/make.py is not the file that acme 1.0 recorded" in refused.stderr
    script.write_text("print('made')\n")
    (skill / "SKILL.md").write_text(skill_text("report").replace("# Do it", "# Do is"))
    listed = prowess("list")
    assert listed.stdout == ""
    assert "catalog.package" in listed.stderr


def test_an_unknown_limit_of_the_search_is_a_configuration_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "prowess", "list"]
    environment = {**os.environ, "HOME": str(tmp_path), "PROWESS_PACKAGES": "of"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: PROWESS_PACKAGES: 'of' is not one of off, project\n"
