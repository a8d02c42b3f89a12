"""Let pre-commit install our hooks from a clone, and run them in a repository of skills.

python tools/peers/pre_commit_hooks.py PRE_COMMIT FOLDER     the program, and a folder that is emptied
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_UNEVEN = "\n---\nname:  good\ndescription: Reads tables. Use when the user has a table.\n---\n# Read\n\nRead it.\n"
_SETTINGS = """\
repos:
  - repo: {repo}
    rev: {rev}
    hooks:
      - id: prowess-fix
      - id: prowess-fmt
      - id: prowess-check
        args: [--profile, skillscraft]
"""


def main(program: str, place: Path) -> int:
    """Return 0 where the hooks mend what they can, stop a commit of a faulty skill, and let a good one pass."""
    shutil.rmtree(place, ignore_errors=True)
    work, clone = place / "work", place / "clone"
    skill = work / "skills" / "good" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    environment = {
        **os.environ, "PRE_COMMIT_HOME": str(place / "home"), "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }  # fmt: skip

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=240
        )

    run("git", "init", "-q")
    run("git", "clone", "-q", str(_ROOT), str(clone))
    rev = run("git", "-C", str(clone), "rev-parse", "HEAD").stdout.strip()
    (work / ".pre-commit-config.yaml").write_text(_SETTINGS.format(repo=clone, rev=rev))
    skill.write_text(_UNEVEN)
    run(program, "install")
    run("git", "add", "-A")
    first = run("git", "commit", "-q", "-m", "uneven")
    run("git", "add", "-A")
    second = run("git", "commit", "-q", "-m", "even")
    skill.with_name("skill.manifest.yaml").write_text("composition: 5\n")
    run("git", "add", "-A")
    third = run("git", "commit", "-q", "-m", "a faulty manifest alone")
    found = {
        "pre-commit takes the manifest of the hooks": run(
            program, "validate-manifest", str(clone / ".pre-commit-hooks.yaml")
        ).returncode == 0,
        "a commit that was mended is stopped once": first.returncode == 1 and "fixed 1 fault in 1 file" in first.stderr,
        "the skill is laid out": skill.read_text().startswith("---\nname: good\n"),
        "what is mended is committed": second.returncode == 0,
        "a faulty manifest stops a commit": third.returncode == 1 and "skill.manifest.yaml:1:" in third.stderr,
    }  # fmt: skip
    for what, holds in found.items():
        print(f"{'yes' if holds else 'NO '} {what}")
    if not all(found.values()):
        print(*(one.stdout + one.stderr for one in (first, second, third)), sep="\n")
    return int(not all(found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
