"""Reports of diagnostics for people and machines.

A report only renders: it does not select findings and does not print.
"""

from __future__ import annotations

from prowess.report.checked import CheckedSkill, Tally

__all__ = ["CheckedSkill", "Tally"]
