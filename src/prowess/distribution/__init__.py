"""Packages: finds, fetches, resolves, installs, publishes and deploys skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.distribution.deployment.replica import deployed_skills

__all__ = ["deployed_skills"]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, {"deployment.replica": ("deployed_skills",)})
