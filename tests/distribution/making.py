"""Skills for the tests of distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def make_skill(above: Path, name: str, version: str | None = "1.0.0", *, body: str = "Read.", more: str = "") -> Path:
    """Write the skill `above/name` with a script and a reference; `more` are further lines of front matter."""
    root = above / name
    (root / "scripts").mkdir(parents=True, exist_ok=True)
    (root / "references").mkdir(exist_ok=True)
    metadata = "" if version is None else f"metadata:\n  version: {version}\n"
    text = (
        f"---\nname: {name}\ndescription: Works with {name} files. Use it for {name}.\n{metadata}{more}---\n\n{body}\n"
    )
    (root / "SKILL.md").write_text(text)
    (root / "scripts" / "run.sh").write_text("#!/bin/sh\necho done\n")
    (root / "scripts" / "run.sh").chmod(0o755)
    (root / "references" / "größe.md").write_text(f"More about {name}.\n")
    return root


def files_of(root: Path) -> dict[str, tuple[bytes, bool]]:
    """Return the bytes of each file below a directory, and whether it can be executed."""
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in files}
