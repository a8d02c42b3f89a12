"""Something that the person who runs a host should know, and that is no fault of any one skill."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """`code` is stable (`project_untrusted`, `trust_unreadable`, `no_directory`); `message` is one sentence."""

    code: str
    message: str
