"""What `prowess check` finds in one skill by itself; the skills of a set are judged one by one, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.tree_stamp import TreeStamp, stamp_tree
from prowess.diagnostics import Diagnostic  # noqa: TC001 -- msgspec decodes it
from prowess.format.name import normalise
from prowess.format.validation import place_in_report, raw_findings
from prowess.lint import lint_findings
from prowess.lint.catalog_budget import listed_characters
from prowess.rule_engine.suppression import suppressions

if TYPE_CHECKING:
    from prowess.cli.silencing import Silencing
    from prowess.cli.targets import Target
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement

_MOST_STAMPED = 2000  # files and directories of one skill


class SkillResult(Struct, frozen=True, kw_only=True):
    """The findings on one skill in the order of a report, and what judging the set needs to know of it.

    `name` is what a report calls it; `listed` is the length of its name and description; `not_honoured` is how many
    findings its comments name in vain; `has_comments`: they ask for silence, so that more than its files decides.
    """

    name: str | None
    listed: int
    findings: tuple[Diagnostic, ...]
    not_honoured: int = 0
    has_comments: bool = False


class StampedResult(Struct, frozen=True, kw_only=True):
    """A result, and the stamp of the files that it was found in; None if they may have changed meanwhile."""

    result: SkillResult
    stamp: TreeStamp | None


class JudgedSkill(Struct, frozen=True, kw_only=True):
    """A skill of a run, how it is judged, and what was found in it by itself."""

    target: Target
    judgement: Judgement
    result: SkillResult


def judge_document(document: SkillDocument, judgement: Judgement, silencing: Silencing) -> SkillResult:
    """Return what the rules find in a document and its files, without what its comments silence."""
    raw = [*judgement.judge(raw_findings(document, judgement.profile)), *lint_findings(document, judgement)]
    before = silencing.not_honoured
    findings = silencing.by_comments(document, judgement, raw)
    if not judgement.profile.reference_wording:  # that profile has the reference tool's order
        findings = tuple(sorted(findings, key=place_in_report))
    return SkillResult(
        name=_name(document),
        listed=listed_characters(document),
        findings=findings,
        not_honoured=silencing.not_honoured - before,
        has_comments=bool(suppressions(document)),
    )


def judge_target(target: Target, judgement: Judgement, silencing: Silencing, *, stamped: bool) -> StampedResult:
    """Return the result of one skill, with the stamp of its files if that is asked for."""
    stamp = stamp_tree(target.directory, most=_MOST_STAMPED) if stamped and target.directory is not None else None
    result = judge_document(target.document, judgement, silencing)
    return StampedResult(result=result, stamp=stamp if stamp is not None and stamp.holds() else None)


def _name(document: SkillDocument) -> str | None:
    """Return the name; that of the directory if there is none or it cannot be read."""
    name = document.text_of("name") if document.complete else None
    if name is None or name == document.directory_name:
        return document.directory_name
    return normalise(name) or normalise(document.directory_name or "")
