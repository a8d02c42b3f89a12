"""The rule `reference.missingPath`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import FOLDERS

if TYPE_CHECKING:
    from prowess.format.rules.body_rules import Reference

_MAX_SUGGESTIONS = 10
_REACH = 300  # characters of the line before a path
# A path that stands for any other, or one that is still to be made.
_MADE_UP = (
    r"(?i)example|e\.g|such as|for instance|would|could|imagine|instead of|allowed|good:|bad:|\u4f8b\u5982|\u6bd4\u5982"
    r"|\b(?:create|write|add|save|touch|mkdir|tee|append|output|new|put|move|copy|split|extract|emit|produce)\w*\b"
    r"|(?:^|\s)>+ ?$|->|\u2192"
)
_STAND_INS = r"(?a)your|my[-_]|foo|xxx|some[-_]|example|sample|placeholder|[A-Z]{4,}[-_]?[A-Z]*\."
_SHOWN = frozenset({"text", "txt", "plaintext", "output"})  # what a program prints, no command
_ANY_NAME = frozenset({"file", "script", "name", "doc", "topic", "reference", "x", "template", "guide", "tool"})


class ReferenceMissingPath(LintRule):
    """A path in the text to a file that the skill does not have.

    What it does:
        Looks for the files of paths below `scripts/`, `references/` and `assets/` that the body names without a link,
        where the skill has that directory. Names that stand for any file, sentences that give an example or tell to
        make the file, what a program prints, and skills about skills are left out.

    Why it matters:
        A model that runs the script or opens the file gets an error in the middle of its task.

    Example:
        `Run python scripts/grade.py`, and `scripts/` has no grade.py.

    Instead:
        Add the file, or name one that is there.
    """

    meta = RuleMeta(
        id="reference.missingPath",
        order=2,
        most=20,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="A file that the text names by path exists.",
        source="Agent Skills specification, file references",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each path, at its first place."""
        files = subject.files
        if not subject.paths or "skill" in (subject.document.text_of("name") or ""):
            return
        top = files.entries("")
        seen: set[str] = set()
        found = 0
        for path in subject.paths:
            folder = path.path.partition("/")[0]
            if path.path in seen or folder not in FOLDERS or top.get(folder) != "directory":
                continue
            seen.add(path.path)
            if files.look_for(path.path).kind != "missing" or _is_made_up(subject, path):
                continue
            near = files.suggest(path.path) if found < _MAX_SUGGESTIONS else None
            found += 1
            location = subject.document.origin.location(path.start, path.end)
            yield self.meta.found(f"{path.path} does not exist{f'; did you mean {near}?' if near else ''}", location)


def _is_made_up(subject: LintSubject, path: Reference) -> bool:
    name = path.path.rpartition("/")[2]
    if name.partition(".")[0] in _ANY_NAME or re.search(_STAND_INS, name) or "." in path.path.rpartition("/")[0]:
        return True
    start = path.start - subject.document.body_offset
    if re.compile(_MADE_UP).search(subject.body, max(subject.body.rfind("\n", 0, start) + 1, start - _REACH), start):
        return True
    if (block := subject.block_at(start)) is not None and (block.info or "") in _SHOWN:
        return True
    return "<!--" in subject.body and any(begin <= start < end for begin, end in subject.outline.comments)
