"""A store and locks on disk, as an installation leaves them, for the tests of locked skills."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import prowess_home
from prowess.lockfile import LockedSkill, Lockfile, lock_path, read_lock, render_lock, stored_tree
from prowess.lockfile.places import signers_file
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from typing import Unpack

    from tests.catalog.making import SkillKeywords


def store(name: str, **skill: Unpack[SkillKeywords]) -> str:
    """Put a skill with a script into the store, read-only, and return its tree."""
    draft = write_skill(Path(prowess_home()) / "draft" / name, **skill)
    (draft / "scripts").mkdir()
    (draft / "scripts" / "run.sh").write_text("#!/bin/sh\necho done\n")
    (draft / "scripts" / "run.sh").chmod(0o755)
    tree = read_tree(str(draft)).digest
    assert tree is not None
    place = Path(stored_tree(prowess_home(), tree, name))
    if place.exists():
        shutil.rmtree(draft)
        return tree
    place.parent.mkdir(parents=True, exist_ok=True)
    draft.rename(place)
    for path in (*sorted(place.rglob("*"), reverse=True), place):
        path.chmod(0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444)
    return tree


def locked(name: str, *, tree: str | None = None, version: str | None = "1.0.0", **block: object) -> LockedSkill:
    """Return the block of a skill. Without `tree`, the skill is put into the store too, with the version in it.

    A signer was verified when the skill came into the store.
    """
    if tree is None:
        tree = store(name, extra=f"metadata:\n  version: {version}\n", description=f"Does {version}.")
        if signer := block.get("signer"):
            path = Path(signers_file(stored_tree(prowess_home(), tree, name)))
            path.write_text(json.dumps([signer]), "utf-8")
    values: dict[str, object] = {"package": "acme", "source": "acme/skills", "requested": "*", "order": 1, **block}
    return LockedSkill(name=name, tree=tree, version=version, **values)  # type: ignore[arg-type]  # each test passes the type of its field


def lock(*skills: LockedSkill, project: Path | None = None) -> Path:
    """Write the lock of a project, or without it of the person, and return its path."""
    path = Path(lock_path("personal") if project is None else lock_path("project", str(project)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render_lock(Lockfile(skills=skills)))
    assert read_lock(str(path)).skills
    return path


def place_of(skill: LockedSkill) -> Path:
    """Return the directory of a locked skill in the store."""
    return Path(stored_tree(prowess_home(), skill.tree, skill.name))


def edit(path: Path, text: str) -> None:
    """Write a file of the store in spite of its mode."""
    for one in (path.parent, path):
        one.chmod(0o755)
    path.write_text(text)
