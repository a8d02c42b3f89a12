"""Permission for changes of packages: each change is a tool call, with policy, approval and audit record.

The names here are imported lazily: a command without changes asks no question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.lazy_names import lazy_names

if TYPE_CHECKING:
    from prowess.distribution.permission.package_calls import PackageCalls

__all__ = ["PackageCalls"]

if not TYPE_CHECKING:  # hidden from type checkers: they would accept any name
    __getattr__ = lazy_names(__name__, {"package_calls": ("PackageCalls",)})
