"""The two skills for which the tools wrote the samples."""

from __future__ import annotations

from pathlib import Path

from prowess.lockfile.foreign.hashes import SkillFile

SAMPLES = Path(__file__).parent / "samples"

_MAIL = '---\nname: mail\ndescription: Does mail. Use when mail.\nmetadata:\n  version: "1.2.0"\n---\nBody\n'
_PDF = "---\nname: pdf\ndescription: Does pdf. Use when pdf.\n---\nBody\n"
MAIL = {"SKILL.md": SkillFile(data=_MAIL.encode())}
SMALL_PDF = {
    "SKILL.md": SkillFile(data=_PDF.encode()),
    "scripts/x.py": SkillFile(data=b"print(1)\n", executable=True),
}
PDF = SMALL_PDF | {
    ".hid/x": SkillFile(data=b"h\n"),
    "B.md": SkillFile(data=b"B\n"),
    "a.md": SkillFile(data=b"a\n"),
}


def write_skill(directory: Path, files: dict[str, SkillFile]) -> Path:
    """Write a skill and return its directory."""
    for path, file in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
        target.chmod(0o755 if file.executable else 0o644)
    return directory
