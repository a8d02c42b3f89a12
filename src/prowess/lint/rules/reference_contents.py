"""The rule `reference.contents`."""

from __future__ import annotations

import re

from prowess._internal.markdown import outline
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import names_whole

_LONG = 150  # lines; the guide's limit is 100, but the top of a file of 120 lines shows most of it
_TOP = 40
_PROMPTS = "agents/"  # directory of prompts for sub-agents, which are read in full
_FEW = 3  # with fewer headings, a file needs no table of contents
_TITLE = (  # Matches a line without Markdown marks, in lower case.
    r"(?:.{0,30}\b)?table of contents\b|contents\b|toc$|outline$|sections$|index$|quick (?:nav|links)"
    r"|navigation$|jump to|on this page|in this (?:file|document|guide|reference)$|overview of (?:sections|contents)"
    r"|inhalt|sommaire|table des mati|\u00edndice|sum\u00e1rio|\u76ee\u5f55|\u76ee\u6b21|\ubaa9\ucc28"
)
_HEADING = r"(?m)^#{1,4} +(.+)$"
_SECTION = r"(?m)^## +(.+)$"
_ENTRY = r"(?m)^\s*(?:[-*+]|\d+[.)]|\|)\s*(.+)$"
_MARKUP = r"[*_`\[\]|:]|\([^()\n]*\)"
_WIDEST = 300  # characters of a line


class ReferenceContents(LintRule):
    """A long reference file without a table of contents.

    What it does:
        Checks the Markdown files of more than 150 lines that SKILL.md names or that are in `references/`. The first 40
        lines must have links to the sections, a list of the headings, a title such as Contents, or a text that names at
        least half of the sections. Files with fewer than three headings and prompts of sub-agents in `agents/` are
        ignored.

    Why it matters:
        Agents often read only the beginning of a long file. A list of the sections shows them where to read on.

    Example:
        A reference file of 400 lines that begins with its first topic

    Instead:
        Begin with `## Contents` and a list of the headings.
    """

    meta = RuleMeta(
        id="reference.contents",
        order=18,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="A long reference file begins with its contents.",
        source="Claude guide on writing skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each long file without a table of contents."""
        named = {link.path.removeprefix("./") for link in subject.named}
        for path, text in subject.other_texts:
            if text.count("\n") <= _LONG or not (path in named or path.startswith("references/")):
                continue
            if path.startswith(_PROMPTS):
                continue
            if text.count("\n#") >= _FEW and not _has_contents(text) and len(outline(text).headings) >= _FEW:
                message = f"{path} has more than {_LONG} lines and no table of contents at its top; add one"
                yield self.meta.found(message, subject.file_place(path))


def _has_contents(text: str) -> bool:
    lines = text.split("\n", _TOP)[:_TOP]
    top = "\n".join(lines)
    if "](#" in top or any(re.match(_TITLE, line) for line in _plain(lines)):
        return True
    headings = set(_plain(re.findall(_HEADING, text)))
    if len(headings) < _FEW or len(headings.intersection(_plain(re.findall(_ENTRY, top)))) >= _FEW:
        return True
    sections = set(_plain(re.findall(_SECTION, text))) - {""}
    before = " ".join(_plain(top.partition("\n## ")[0].split("\n")))
    return sum(names_whole(before, section) for section in sections) >= max(_FEW, len(sections) / 2)


def _plain(lines: list[str]) -> list[str]:
    """Return each line without Markdown marks, in lower case."""
    unmarked = re.sub(_MARKUP, "", "\n".join(line[:_WIDEST] for line in lines)).lower().split("\n")
    return [line.strip(" #>-") for line in unmarked]
