"""What `prowess check` does not report though a rule found it: comments in a skill, and a baseline.

A comment is something that a skill says about itself, so it counts only where somebody outside of the skill says so:
the setting `suppressions` is `on`, or it is `trusted`, the default, and the skill lies in a project that
`prowess trust` knows. A file of settings of an untrusted project cannot open the family `security` to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.lint import RULES
from prowess.rule_engine.selection import names_rule, selector_fault
from prowess.rule_engine.suppression import UNUSED_SUPPRESSION, suppress, suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.config import Configuration
    from prowess.config.baseline import Baseline
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.rule_engine import Judgement
    from prowess.rule_engine.suppression import Suppression


class Silencing:
    """Comments and baseline of one command line; `not_honoured` counts the findings that comments name in vain."""

    def __init__(self, configuration: Configuration, baseline: Baseline | None) -> None:
        self._configuration = configuration
        self._baseline = baseline
        self._trusted: dict[str, bool] = {}
        self.not_honoured = 0

    def by_comments(
        self, document: SkillDocument, judgement: Judgement, findings: Sequence[Diagnostic]
    ) -> tuple[Diagnostic, ...]:
        """Return the findings that no comment silences, and the comments that silence nothing."""
        asked = suppressions(document)
        if not asked:
            return tuple(findings)
        setting = self._configuration.value("suppressions", document.directory)
        if setting.value == "off" or (setting.value == "trusted" and not self._is_trusted(document)):
            self.not_honoured += suppress(findings, asked, document, security=True).silenced
            return tuple(findings)
        security = self._configuration.trusted or setting.origin.kind != "project"
        result = suppress(findings, asked, document, security=security)
        unused = judgement.judge((_unused(one) for one in result.unused if _could_silence(one, judgement)), RULES)
        return (*result.kept, *unused)

    def by_baseline(
        self, read: Callable[[], SkillDocument], findings: tuple[Diagnostic, ...]
    ) -> tuple[Diagnostic, ...]:
        """Return the findings that are not known yet; `read` returns the document that they are about."""
        return findings if self._baseline is None else self._baseline.new(read(), findings)

    def _is_trusted(self, document: SkillDocument) -> bool:
        # Imported here, not at the top: few skills ask for silence.
        from prowess.catalog.project import project_root
        from prowess.catalog.trust import TrustStore

        if document.directory is None:
            return False
        root = project_root(document.directory)
        if root not in self._trusted:
            self._trusted[root] = TrustStore().is_trusted(root)
        return self._trusted[root]


def _could_silence(asked: Suppression, judgement: Judgement) -> bool:
    """Whether a rule that it names has run, or none has this name at all."""
    named = [rule for rule in RULES.values() if names_rule(asked.selector, rule.id, rule.family)]
    return not named or any(map(judgement.keeps, named))


def _unused(asked: Suppression) -> Diagnostic:
    message = selector_fault(asked.selector, RULES) or f"nothing here is silenced by {asked.selector}; remove it"
    return UNUSED_SUPPRESSION.found(message, asked.location)
