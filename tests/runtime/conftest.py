from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.runtime import Session
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Three skills; `alpha` has files of every kind."""
    root = tmp_path.resolve() / "skills"
    write_skill(
        root,
        "alpha",
        body="# Alpha\n\nRead [the guide](references/guide.md).\n",
        files={
            "references/guide.md": "# Guide\n\nBegin.\n\n## Use ü\n\nUse it.\n\n## End\n\nBye.\n",
            "references/deep/note.txt": "note\n",
            "assets/dot.png": b"\x89PNG\r\n\x1a\n\x00\xff\xfe",
            "scripts/run.py": "import sys\nprint('SECRET-SOURCE'[7:].lower(), *sys.argv[1:])\n",
            "scripts/data.bin": b"\x00\xff",
        },
        extra="license: MIT\nallowed-tools: Read Bash(git:*)\nmetadata:\n  team: core\n",
    )
    write_skill(root, "beta", files={"references/secret.md": "beta's secret\n"})
    write_skill(root, "gamma")
    return root


@pytest.fixture
def catalog(skills: Path) -> Catalog:
    return Catalog(skills)


@pytest.fixture
def session(catalog: Catalog) -> Session:
    return Session(catalog)
