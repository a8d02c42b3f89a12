"""The rule `reference.contents`."""

from __future__ import annotations

import re

from prowess._internal.markdown import outline
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import names_whole

_LONG = 150  # lines; the guide says 100, but who reads the beginning of a file has seen most of one of 120
_TOP = 40
_PROMPTS = "agents/"  # of sub-agents, which are read whole
_FEW = 3  # headings that need no list
# A line of its own, without its marks, in small letters.
_TITLE = (
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
        Looks at the first 40 lines of each Markdown file of more than 150 lines that SKILL.md names or `references/`
        holds, for a list of links to its parts, a list of its headings, a sentence that names at least half of them, or
        a word such as contents. A file with fewer than three headings needs none, nor does the prompt of a sub-agent in
        `agents/`.

    Why it matters:
        Agents often read the beginning of a long file; a list of its parts tells them where to go on.

    Example:
        A reference of 400 lines that begins with its first topic

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
        """Yield each long file without contents."""
        named = {link.path.removeprefix("./") for link in subject.named}
        for path, text in subject.other_texts:
            if text.count("\n") <= _LONG or not (path in named or path.startswith("references/")):
                continue
            if path.startswith(_PROMPTS):
                continue
            if text.count("\n#") >= _FEW and not _has_contents(text) and len(outline(text).headings) >= _FEW:
                message = f"{path} has more than {_LONG} lines and no table of contents at its top"
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
    """Return each line without its marks, in small letters."""
    unmarked = re.sub(_MARKUP, "", "\n".join(line[:_WIDEST] for line in lines)).lower().split("\n")
    return [line.strip(" #>-") for line in unmarked]
