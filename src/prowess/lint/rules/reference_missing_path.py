"""The rule `reference.missingPath`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import FOLDERS

if TYPE_CHECKING:
    from prowess.format.rules.body_rules import Reference

_MAX_SUGGESTIONS = 10
_REACH = 300  # characters that are searched in the line before a path
_MADE_UP = (  # Words before a path that is only an example, or of a file that is still to be created.
    r"(?i)example|e\.g|such as|for instance|would|could|imagine|instead of|allowed|good:|bad:|\u4f8b\u5982|\u6bd4\u5982"
    r"|\b(?:create|write|add|save|touch|mkdir|tee|append|output|new|put|move|copy|split|extract|emit|produce)\w*\b"
    r"|(?:^|\s)>+ ?$|->|\u2192"
)
_STAND_INS = r"(?a)your|my[-_]|foo|xxx|some[-_]|example|sample|placeholder|[A-Z]{4,}[-_]?[A-Z]*\."
_SHOWN = frozenset({"text", "txt", "plaintext", "output"})  # the output of a program, not a command
_ANY_NAME = frozenset({"file", "script", "name", "doc", "topic", "reference", "x", "template", "guide", "tool"})


class ReferenceMissingPath(LintRule):
    """A path in the text to a file that does not exist in the skill.

    What it does:
        Looks for the files that the body names by a path without a link. A path counts if it is below `scripts/`,
        `references/` or `assets/` and the skill has that directory. Placeholder names, sentences that give an example
        or ask to create the file, output of programs, and skills about skills are ignored.

    Why it matters:
        A model that runs the script or opens the file gets an error in the middle of its task.

    Example:
        `Run python scripts/grade.py`, and `scripts/` has no grade.py.

    Instead:
        Add the file, or name an existing file.
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
        """Yield each missing file, at the first place that names it."""
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
