"""Something that the person who runs a host should know, and that is no fault of any one skill."""

from __future__ import annotations

from msgspec import Struct


class Notice(Struct, frozen=True, kw_only=True):
    """`code` is stable (`project_untrusted`, `trust_unreadable`, `no_directory`); `message` is one sentence."""

    code: str
    message: str
