"""The scan of a skill that a policy can demand: the worst finding of the family `security`.

The result depends on the bytes that the skill's digest covers, and on nothing else. No setting, preset, baseline or
comment hides a finding or lowers its severity, because whoever writes the skill or the project could write them too.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from prowess.diagnostics import Severity
from prowess.format.profiles import PROFILES
from prowess.lint.linting import LINT_RULES, RULES
from prowess.lint.skill_files import SkillFiles, is_known_script
from prowess.lint.subject import LintSubject
from prowess.rule_engine import Judgement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.format.skill import Skill

WorstFinding = Literal["none", "info", "warning", "error"]

_MOST_KEPT = 1024
_ORDER = (Severity.INFO, Severity.WARNING, Severity.ERROR)
_NAMES: dict[Severity, WorstFinding] = {
    Severity.INFO: "info",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}
_known: dict[str, WorstFinding | None] = {}


def worst_security_finding(skill: Skill) -> WorstFinding | None:
    """Return the worst severity of the skill's security findings; None if not everything could be scanned.

    Without a digest nothing is scanned. Each text has the bytes that were hashed, so a file that was changed since is
    not scanned. A digest is scanned once in a process, and again only if a file could not be read as it was hashed.
    """
    digest = skill.digest
    if digest is None:
        return None
    if digest in _known:
        return _known[digest]
    files = _HashedFiles(skill.root_dir, skill.manifest)
    worst = _scanned(skill, files)
    if not files.is_changed:  # else another look may find the bytes that were hashed
        if len(_known) >= _MOST_KEPT:
            _known.clear()
        _known[digest] = worst
    return worst


def _scanned(skill: Skill, files: _HashedFiles) -> WorstFinding | None:
    judgement = Judgement(profile=PROFILES["spec"])
    subject = LintSubject(skill.document, judgement.profile, files)
    rules = (rule for rule in LINT_RULES if rule.meta.family == "security")
    found = judgement.judge((one for rule in rules for one in rule.check(subject)), RULES)
    if not files.is_whole:
        return None
    worst = max((one.severity for one in found), key=_ORDER.index, default=None)
    return "none" if worst is None else _NAMES[worst]


class _HashedFiles(SkillFiles):
    """The files of a skill as they were hashed. A file that differs from its hash has no text.

    `is_whole` states whether the rules that have read the files missed none of the texts that they asked for, and
    `is_changed` whether a file that they asked for is missing or differs from its hash.
    """

    def __init__(self, directory: str, manifest: TreeManifest) -> None:
        super().__init__(directory)
        self.is_changed = False
        self._hashes = {file.path: file.sha256 for file in manifest.files}
        self._entries: dict[str, dict[str, str]] = {}
        for path in self._hashes:
            above, _, name = path.rpartition("/")
            self._entries.setdefault(above, {})[name] = "file"
            while above:
                above, _, name = above.rpartition("/")
                self._entries.setdefault(above, {})[name] = "directory"

    @property
    def is_whole(self) -> bool:
        """Whether every script and every text that a rule asked for was read, with the bytes that were hashed."""
        read = {path for path, text in self._texts.items() if text is not None}
        asked = {path for path in self._texts if path in self._hashes}
        return (asked | set(filter(is_known_script, self._hashes))) <= read

    @cached_property
    def listed(self) -> list[str]:
        """The sorted paths of all files."""
        return sorted(self._hashes)

    def entries(self, directory: str) -> Mapping[str, str]:
        """Return the kind of each entry of a directory by name."""
        return self._entries.get(directory, {})

    def _data(self, path: str) -> bytes | None:
        if path not in self._hashes:
            return None
        data = super()._data(path)
        if data is None or hashlib.sha256(data).hexdigest() != self._hashes[path]:
            self.is_changed = True
            return None
        return data
