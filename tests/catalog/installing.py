"""Installed packages on disk, laid out as installers do, for the tests of packages."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest


def skill_text(name: str, description: str = "Does it.", extra: str = "") -> str:
    """Return the text of a SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n# Do it\n"


def bare_project(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project without packages in `directory`, and the working directory; return it. Our own are not found."""
    root = directory / "project"
    (root / ".git").mkdir(parents=True)
    monkeypatch.setenv("PROWESS_PACKAGES", "project")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(root)
    return root


def site_of(environment: Path) -> Path:
    """Return the directory of distributions of an environment, and make it."""
    site = environment / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True, exist_ok=True)
    return site


def record_row(path: str, data: bytes) -> list[str]:
    """Return the row of RECORD for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return [path, f"sha256={digest}", str(len(data))]


def install(
    site: Path,
    name: str,
    files: Mapping[str, str | bytes],
    *,
    version: str = "1.0",
    metadata: Mapping[str, str] | None = None,
    rows: tuple[list[str], ...] = (),
    record: bool = True,
    hashes: bool = True,
    called: str | None = None,
) -> Path:
    """Install a distribution with these files, and return its metadata directory.

    `metadata` are further files of the metadata directory, `rows` further rows of RECORD, `called` is the name in
    METADATA.
    """
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    written = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {called or name}\nVersion: {version}\n\nText.\n",
        f"{info}/INSTALLER": "test\n",
        **{f"{info}/{file}": text for file, text in (metadata or {}).items()},
        **files,
    }
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    for path, text in written.items():
        data = text if isinstance(text, bytes) else text.encode()
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)
        writer.writerow(record_row(path, data) if hashes or path.startswith(info) else [path, "", ""])
    for row in rows:
        writer.writerow(row)
    writer.writerow([f"{info}/RECORD", "", ""])
    if record:
        (site / info / "RECORD").write_text(table.getvalue())
    return site / info


def install_node(folder: Path, name: str, files: Mapping[str, str], *, version: str = "1.0.0") -> Path:
    """Install a node package below a `node_modules`, and return its directory."""
    root = folder / name
    for path, text in {"package.json": json.dumps({"name": name, "version": version}), **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root
