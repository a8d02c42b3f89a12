"""Baselines: the findings a project had when it began to check, so that only new findings are reported.

The file holds the number of findings for each skill and fingerprint (`prowess.report.json_report.fingerprint`). A
fingerprint does not change when lines move. Skills are named by their path relative to the directory of the baseline,
so the working directory does not matter. A baseline is named on the command line. It must not be inside a skill,
because a skill must not decide which of its findings are reported.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.text.terminal_text import json_text
from prowess.errors import ConfigurationError
from prowess.format.skill_directories import skill_around
from prowess.report.json_report import as_unicode, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

VERSION = 1
_MAX_BYTES = 64 * 1024 * 1024


class Baseline(Struct, kw_only=True):
    """A baseline file: the number of known findings for each skill and fingerprint. `path` is absolute."""

    path: str
    known: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def at(cls, path: str) -> Baseline:
        """Return an empty baseline for `path`; no file is read. ConfigurationError if `path` is inside a skill."""
        skill = skill_around(path)
        if skill is not None:
            raise ConfigurationError((f"{path}: is inside the skill {skill}; keep the baseline outside of skills",))
        return cls(path=os.path.abspath(path))

    @classmethod
    def read(cls, path: str) -> Baseline:
        """Return the baseline stored in the file at `path`.

        Raises:
            ConfigurationError: the file is missing, unreadable, no baseline of this version, or inside a skill.
        """
        baseline = cls.at(path)
        try:
            with open(path, "rb") as file:
                data = file.read(_MAX_BYTES + 1)
        except FileNotFoundError as fault:
            message = f"{path}: there is no such baseline; write one with --write-baseline"
            raise ConfigurationError((message,)) from fault
        except OSError as fault:
            raise ConfigurationError((f"{path}: cannot be read: {fault.strerror}",)) from fault
        try:
            document = json.loads(data if len(data) <= _MAX_BYTES else b"")
            if document["version"] != VERSION:
                raise ConfigurationError(
                    (f"{path}: is a baseline of another version; write it again with --write-baseline",)
                )
            for skill, kinds in document["skills"].items():
                for kind, entry in kinds.items():
                    baseline.known[skill, kind] = int(entry["count"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
            raise ConfigurationError((f"{path}: is not a baseline; write it again with --write-baseline",)) from fault
        return baseline

    def new(self, document: SkillDocument, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the findings beyond the known number. If fingerprints are equal, the first findings count as known."""
        left = Counter(self.known)
        kept = []
        for found in findings:
            key = (self._skill(document), fingerprint(found, document))
            left[key] -= 1
            if left[key] < 0:
                kept.append(found)
        return tuple(kept)

    def gone(self, checked: Iterable[tuple[SkillDocument, Sequence[Diagnostic]]]) -> int:
        """Return the number of known findings that are gone. Skills in `checked` must have all their findings."""
        left: Counter[tuple[str, str]] = Counter()
        for document, findings in checked:
            skill = self._skill(document)
            left += Counter({key: count for key, count in self.known.items() if key[0] == skill})
            left -= Counter((skill, fingerprint(found, document)) for found in findings)
        return left.total()

    def write(self, checked: Iterable[tuple[SkillDocument, Sequence[Diagnostic]]]) -> int:
        """Replace the file by the findings of `checked`; return their number. On OSError the file is unchanged."""
        counts = Counter(
            (self._skill(document), fingerprint(found, document), found.rule)
            for document, findings in checked
            for found in findings
        )
        known: dict[str, dict[str, dict[str, object]]] = {}
        for (skill, kind, rule), count in sorted(counts.items()):
            known.setdefault(skill, {})[kind] = {"rule": rule, "count": count}
        text = json_text({"version": VERSION, "skills": known}, indent=2)
        write_atomically(self.path, f"{text}\n".encode(), 0o644)
        return counts.total()

    def _skill(self, document: SkillDocument) -> str:
        if document.directory is None:
            return document.path or ""
        return as_unicode(os.path.relpath(document.directory, os.path.dirname(self.path)).replace(os.sep, "/"))
