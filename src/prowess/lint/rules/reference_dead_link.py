"""The rule `reference.deadLink`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess._internal.markdown import outline
from prowess.format.rules.body_rules import IS_ABSOLUTE, LEADS_OUT, inner_components, leads, percent_decoded
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

if TYPE_CHECKING:
    from prowess._internal.markdown import MarkdownLink
    from prowess.lint.skill_files import SkillFiles

_MAX_FILES = 100
_SHOWN = 3
_TARGET = r"\]\(\s*<?([^)\s>]{1,300})"
_ENDING = r"[^/.]\.[A-Za-z][A-Za-z0-9]{0,5}$"
_NO_FILE = r"[A-Za-z][A-Za-z0-9+.-]+:|[#?{$<]|.*(?:\{|\.\.\.|\$|[<>*])"
# Words in the names of files that are ignored: templates and examples, whose links are made up, and files for people.
_MADE_UP = ("template", "example", "sample", "readme", "changelog", "skill-card", "benchmark")


class ReferenceDeadLink(LintRule):
    """A dead link in another Markdown file of the skill.

    What it does:
        Checks the links in the Markdown files that SKILL.md names, and in the Markdown files beside SKILL.md and in
        `references/`. A target may be relative to the skill's directory or to the file's own directory. Templates,
        examples, files for people (such as `skill-card.md`), links in code and links with placeholders are ignored.
        Each target is reported once per file; targets outside the skill are reported together.

    Why it matters:
        A model that follows the link gets an error in the middle of its task. A link that leads out of the skill works
        only in the author's repository.

    Example:
        `[limits](limits.md)` in `references/api.md`, and limits.md does not exist.

    Instead:
        Add the file, link to an existing file, or name the other skill in words.
    """

    meta = RuleMeta(
        id="reference.deadLink",
        order=3,
        most=50,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="Links in reference files lead to files.",
        source="Agent Skills specification, file references",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each dead link, at its place."""
        for at, (path, text) in enumerate(subject.other_texts):
            if at == _MAX_FILES:
                return
            if "](" not in text or any(word in path.lower() for word in _MADE_UP):
                continue
            here = path.rpartition("/")[0]
            dead = {target: why for target in _targets(text) if (why := _fault(target, here, subject.files))}
            if not dead:
                continue
            outside: list[MarkdownLink] = []
            for link in _first_of_each([link for link in outline(text).links if link.target in dead]):
                if dead[link.target] == LEADS_OUT:
                    outside.append(link)
                else:
                    place = subject.file_place(path, link.start, text)
                    yield self.meta.found(f"{_file(link)} {dead[link.target]}", place)
            if outside:
                also = [_file(link) for link in outside[1 : 1 + _SHOWN]]
                rest = f" and {len(outside) - 1 - _SHOWN} more" if len(outside) > 1 + _SHOWN else ""
                others = f"; other such links: {', '.join(also)}{rest}" if also else ""
                place = subject.file_place(path, outside[0].start, text)
                yield self.meta.found(f"{_file(outside[0])} {LEADS_OUT}{others}", place)


def _file(link: MarkdownLink) -> str:
    return link.target.partition("#")[0][:100]


def _first_of_each(links: list[MarkdownLink]) -> list[MarkdownLink]:
    """Return the first link to each file."""
    first: dict[str, MarkdownLink] = {}
    for link in links:
        first.setdefault(_file(link), link)
    return list(first.values())


def _targets(text: str) -> set[str]:
    """Return the possible targets of links to files, without parsing the text."""
    return {match[1] for match in re.finditer(_TARGET, text) if not re.match(_NO_FILE, match[1])}


def _fault(target: str, here: str, files: SkillFiles) -> str:
    """Return the fault of a link target; empty if the target exists or is not a file."""
    path = percent_decoded(target.partition("#")[0].partition("?")[0])
    if not re.search(_ENDING, path):
        return ""
    if leads(path) == "absolute":
        return IS_ABSOLUTE
    reached = [
        "/".join(components)
        for candidate in (path, f"{here}/{path}")
        if (components := inner_components(candidate)) is not None
    ]
    if any(files.look_for(one).kind != "missing" for one in reached if one):
        return ""
    return "does not exist" if reached else LEADS_OUT
