"""Diagnostics for people and for machines. A report renders; it judges nothing and prints nothing."""

from __future__ import annotations

from prowess.report.checked import CheckedSkill, Tally

__all__ = ["CheckedSkill", "Tally"]
