"""The findings of `prowess check` on a single skill. Each skill is checked independently of the other skills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.tree_stamp import TreeStamp, stamp_tree
from prowess.diagnostics import Diagnostic  # noqa: TC001 -- msgspec decodes it
from prowess.format.name import normalise
from prowess.format.reading import place_in_report, raw_findings
from prowess.lint import RULES, lint_findings
from prowess.lint.catalog_budget import listed_characters
from prowess.rule_engine.rules import UNUSED_SUPPRESSION, names_rule, selector_fault, suppress, suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.cli.targets import Target
    from prowess.config import Configuration
    from prowess.config.baseline import Baseline
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement
    from prowess.rule_engine.rules import Suppression

# How far the suppression comments of a skill count.
Comments = Literal["ignored", "all", "not_security"]
_MOST_STAMPED = 2000  # files and directories of one skill


class SkillResult(Struct, frozen=True, kw_only=True):
    """The findings on one skill in report order, and the facts that are needed to check the set of skills.

    `name` is the skill's name in reports. `listed` is the length of its name and description. `not_honoured` is the
    number of findings whose suppression comments are ignored. `has_comments` is true if the skill has suppression
    comments. Then the result also depends on the settings and on whether the skill's project is trusted.
    """

    name: str | None
    listed: int
    findings: tuple[Diagnostic, ...]
    not_honoured: int = 0
    has_comments: bool = False


class StampedResult(Struct, frozen=True, kw_only=True):
    """A result, and the stamp of the files that it was made from. The stamp is None if files may have changed since."""

    result: SkillResult
    stamp: TreeStamp | None


class JudgedSkill(Struct, frozen=True, kw_only=True):
    """One skill of a run with its judgement and the findings about this skill, without findings about the set."""

    target: Target
    judgement: Judgement
    result: SkillResult


def judge_document(document: SkillDocument, judgement: Judgement, silencing: CommentSilencing) -> SkillResult:
    """Return the findings of the rules on a document and its files, without those that its comments suppress."""
    raw = [*judgement.judge(raw_findings(document, judgement.profile)), *lint_findings(document, judgement)]
    before = silencing.not_honoured
    findings = silencing.by_comments(document, judgement, raw)
    if not judgement.profile.reference_wording:  # the profile skills-ref keeps the order of its tool
        findings = tuple(sorted(findings, key=place_in_report))
    return SkillResult(
        name=_name(document),
        listed=listed_characters(document),
        findings=findings,
        not_honoured=silencing.not_honoured - before,
        has_comments=bool(suppressions(document)),
    )


def judge_target(target: Target, judgement: Judgement, silencing: CommentSilencing, *, stamped: bool) -> StampedResult:
    """Check one skill. If `stamped`, the result has the stamp of the skill's files."""
    stamp = stamp_tree(target.directory, most=_MOST_STAMPED) if stamped and target.directory is not None else None
    result = judge_document(target.read(), judgement, silencing)
    return StampedResult(result=result, stamp=stamp if stamp is not None and stamp.holds() else None)


def _name(document: SkillDocument) -> str | None:
    """Return the skill's name, or the name of its directory if it has none or its front matter cannot be read."""
    name = document.text_of("name") if document.complete else None
    if name is None or name == document.directory_name:
        return document.directory_name
    return normalise(name) or normalise(document.directory_name or "")


class CommentSilencing(ABC):
    """Filters findings by the suppression comments of skills. `not_honoured` counts those whose comments are ignored.

    A skill must not silence findings about itself, so its comments count only if a setting allows them.
    """

    def __init__(self) -> None:
        self.not_honoured = 0

    @abstractmethod
    def comments(self, directory: str | None) -> Comments:
        """How far the comments of the skill in `directory` count."""

    def by_comments(
        self, document: SkillDocument, judgement: Judgement, findings: Sequence[Diagnostic]
    ) -> tuple[Diagnostic, ...]:
        """Return the findings that no comment suppresses, plus a finding for each comment that suppresses none."""
        asked = suppressions(document)
        if not asked:
            return tuple(findings)
        comments = self.comments(document.directory)
        if comments == "ignored":
            self.not_honoured += suppress(findings, asked, document, security=True).silenced
            return tuple(findings)
        result = suppress(findings, asked, document, security=comments == "all")
        unused = judgement.judge((_unused(one) for one in result.unused if _could_silence(one, judgement)), RULES)
        return (*result.kept, *unused)


class DecidedSilencing(CommentSilencing):
    """The filter of a worker: how far comments count was decided elsewhere."""

    def __init__(self, comments: Comments) -> None:
        super().__init__()
        self._comments = comments

    def comments(self, directory: str | None) -> Comments:
        """Return what was decided."""
        del directory
        return self._comments


class Silencing(CommentSilencing):
    """Filters findings by the suppression comments of skills and by a baseline, for one command line.

    Comments count if `suppressions` is `on`, or if it is `trusted` (the default) and the skill is in a project that
    `prowess trust` has recorded. Settings of an untrusted project cannot allow comments for the family `security`.
    """

    def __init__(self, configuration: Configuration, baseline: Baseline | None) -> None:
        super().__init__()
        self._configuration = configuration
        self._baseline = baseline
        self._trusted: dict[str, bool] = {}

    def comments(self, directory: str | None) -> Comments:
        """How far the comments of the skill in `directory` count, by the settings and the trust of its project."""
        setting = self._configuration.value("suppressions", directory)
        if setting.value == "off" or (setting.value == "trusted" and not self._is_trusted(directory)):
            return "ignored"
        return "all" if self._configuration.trusted or setting.origin.kind != "project" else "not_security"

    def by_baseline(
        self, read: Callable[[], SkillDocument], findings: tuple[Diagnostic, ...]
    ) -> tuple[Diagnostic, ...]:
        """Return the findings that the baseline does not contain. `read` returns their document."""
        return findings if self._baseline is None else self._baseline.new(read(), findings)

    def _is_trusted(self, directory: str | None) -> bool:
        # Imported here because a check in one process needs it for skills with suppression comments only.
        from prowess.catalog.ownership import project_root
        from prowess.catalog.trust import TrustStore

        if directory is None:
            return False
        root = project_root(directory)
        if root not in self._trusted:
            self._trusted[root] = TrustStore().is_trusted(root)
        return self._trusted[root]


def _could_silence(asked: Suppression, judgement: Judgement) -> bool:
    """Whether the comment could have an effect: a rule that it names was run, or it names no known rule."""
    named = [rule for rule in RULES.values() if names_rule(asked.selector, rule.id, rule.family)]
    return not named or any(map(judgement.keeps, named))


def _unused(asked: Suppression) -> Diagnostic:
    message = (
        selector_fault(asked.selector, RULES) or f"this comment suppresses no finding of {asked.selector}; remove it"
    )
    return UNUSED_SUPPRESSION.found(message, asked.location)
