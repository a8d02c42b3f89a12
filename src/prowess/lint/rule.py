"""Base class of lint rules, and the names that every module of `prowess.lint.rules` imports.

A rule is one class in a module of its own. `meta` declares the rule, the docstring of the class is the rule's page, and
`check` yields the findings. The class needs no registration: the registry, the profiles' tables, `prowess rule`, the
documentation and the schemas are derived from the class.
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
    """Base class of a rule about one skill. A rule reads only its subject and raises no errors.

    The docstring of a rule has the sections *What it does*, *Why it matters*, *Example* and *Instead*.
    """

    meta: ClassVar[RuleMeta]

    def check(self, subject: LintSubject) -> Findings:
        """Yield a finding for each violation of the rule, at the default severity."""
        raise NotImplementedError
