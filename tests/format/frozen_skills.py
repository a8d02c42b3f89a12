"""Skills as one release of Prowess loaded them, kept for all later ones with the same major version.

`releases/VERSION.json` holds, one a line, the files of a skill and what loading gave. It is written once, when a
version is released, and never again:

    python -m tests.format.frozen_skills 0.2.0

The skills are the cases of the conformance files that load, and a few that use every field. Which they are at a release
does not matter later: each file carries its own.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prowess.errors import SkillParseError
from prowess.format import PROFILES, Skill, read_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

RELEASES = Path(__file__).parent / "releases"
_LARGEST = 2000  # characters of the files of a skill; a larger one shows nothing further
_FULL = """\
---
name: everything
description: >
  Uses every field there is.
  Use when asked for everything.
license: Apache-2.0
compatibility: Needs git and Python 3.11+
metadata: {author: someone, version: "1.0", nested: {tags: [a, 'b']}}
allowed-tools: Read Bash(git:*), Grep
model: small
context: fork
agent: tester
hooks:
  pre: scripts/pre.sh
  PreToolUse:
    - matcher: Bash
      hooks:
        - script: scripts/pre.sh
          timeout: 5s
priority: -7
tags: [ops, ci]
scope: {agents: [coder], environments: production}
execution: {mode: autonomous, max-iterations: 20}
disable-model-invocation: true
user-invocable: 'false'
arguments: cluster region
argument-hint: '[cluster]'
paths: 'src/*.{ts,tsx}, docs/**'
own-field: [kept, {as: written}]
---

# Everything

Run `scripts/pre.sh`, read [more](references/more.md).
"""
_MANIFEST = """\
security:
  capabilities:
    - capability: file:read
      reason: reads the files
  fileSystemScope: workspace
  requiresNetwork: false
tools:
  dependencies:
    - tool: Bash(git:*)
      required: true
      purpose: history
composition:
  dependencies:
    - skillName: ledger
      reason: has the accounts
  conflicts: [old-everything]
tests:
  - name: sums
    description: adds
    cases:
      - name: two
        input: 1 and 1
        assertions: [{type: contains, value: '2'}]
"""
_FILES = {
    "SKILL.md": _FULL,
    "skill.manifest.yaml": _MANIFEST,
    "scripts/pre.sh": "true\n",
    "references/more.md": "More.\n",
    "assets/form.txt": "Form\n",
    "notes.txt": "Notes\n",
}


def frozen() -> dict[str, list[dict[str, Any]]]:
    """Version → its skills, each with `id`, `directory`, `files` and `loads`."""
    return {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted(RELEASES.glob("*.json"))
    }


def lay_out(skill: dict[str, Any], root: Path) -> Path:
    """Write the files of a skill below `root`; return its directory. What lies in `scripts` may be executed."""
    directory: Path = root / skill["directory"]
    directory.mkdir(parents=True)
    for name, content in skill["files"].items():
        file: Path = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode())
        file.chmod(0o755 if name.startswith("scripts/") else 0o644)
    return directory


def facts(skill: Skill) -> dict[str, Any]:
    """Return what was promised about a loaded skill, as plain data; the messages of findings are not."""
    front = skill.frontmatter
    found = {
        "name": skill.name,
        "description": skill.description,
        "license": front.license,
        "compatibility": front.compatibility,
        "allowed_tools": None if front.allowed_tools is None else [str(token) for token in front.allowed_tools],
        "metadata": dict(front.metadata),
        "metadata_raw": dict(front.metadata_raw),
        "extra": dict(front.extra),
        "properties": front.properties(),
        "body": skill.body,
        "digest": skill.digest,
        "document_digest": skill.document_digest,
        "resources": [[one.path, one.kind, one.size, one.sha256, one.executable] for one in skill.resources],
        "extended": front.extended.as_dict(),
        "sidecar": skill.sidecar.as_dict(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def accepting(directory: Path) -> list[str]:
    """Return the profiles that load the skill."""
    return [profile for profile in PROFILES if _loads(directory, profile)]


def _loads(directory: Path, profile: str) -> bool:
    try:
        read_skill(directory, profile=profile)
    except SkillParseError:
        return False
    return True


def _sources() -> Iterator[dict[str, Any]]:
    # Imported here, not at the top: a release that is frozen needs no cases.
    from tests.conformance.format_cases import CASES

    yield {"id": "everything", "directory": "everything", "files": _FILES}
    for case in CASES:
        links = any(isinstance(content, dict) and "link" in content for content in case["files"].values())
        if not links and "around" not in case and len(json.dumps(case["files"])) < _LARGEST:
            yield {"id": case["id"], "directory": case["dir"], "files": case["files"]}


def freeze(version: str, place: Path) -> Path:
    """Write the file of a release; `place` is an empty directory to work in.

    Raises:
        FileExistsError: the release is frozen already.
    """
    lines = []
    for skill in _sources():
        directory = lay_out(skill, place / skill["id"])
        if _loads(directory, "lenient"):
            loads = {"profiles": accepting(directory), **facts(read_skill(directory))}
            lines.append(json.dumps({**skill, "loads": loads}, separators=(",", ":")) + "\n")
    path = RELEASES / f"{version}.json"
    with path.open("x", encoding="ascii") as file:
        file.writelines(lines)
    return path


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as where:
        sys.stdout.write(f"{freeze(sys.argv[1], Path(where))}\n")
