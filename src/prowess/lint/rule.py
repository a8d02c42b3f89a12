"""What a file of `prowess.lint.rules` needs: the base class of its rule, and the parts of its declaration.

A rule is one class in a file of its own. `meta` declares it, its docstring is its page, `check` finds. Nothing else has
to be written: the registry, the profiles' tables, `prowess rule`, the documentation and the schemas read the class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from prowess.diagnostics import Diagnostic, Severity
from prowess.format.rules.meta import RuleMeta, Severities
from prowess.lint.subject import LintSubject

__all__ = ["ERROR", "INFO", "WARNING", "Findings", "LintRule", "LintSubject", "RuleMeta", "Severities"]

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
Findings = Iterator[Diagnostic]


class LintRule:
    """One rule over one skill. It reads nothing but the subject and raises nothing.

    The docstring of a rule has the sections *What it does*, *Why it matters*, *Example* and *Instead*.
    """

    meta: ClassVar[RuleMeta]

    def check(self, subject: LintSubject) -> Findings:
        """Yield every place where the subject breaks the rule, at the default severity."""
        raise NotImplementedError
