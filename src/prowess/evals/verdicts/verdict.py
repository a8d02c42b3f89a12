"""The verdict on one skill in one run."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

VerdictName = Literal["polluted", "triggered", "not_offered", "error", "not_triggered"]
EvidenceKind = Literal["call", "read", "script", "user", "preload", "twin", "list", "answer", "end"]


class Evidence(Struct, frozen=True, kw_only=True):
    """One fact that a verdict rests on.

    `at` is the number of the record in the transcript, None for the query and for a missing transcript. `detail` is a
    short text from the transcript, foreign data.
    """

    kind: EvidenceKind
    at: int | None
    agent: str
    detail: str


class SkillVerdict(Struct, frozen=True, kw_only=True):
    """The verdict on `skill`, with its evidence.

    Rates are triggered / (triggered + not_triggered); the other verdicts are not counted.
    `offered` is None if the transcript has no list of skills. `unread_lines` are command lines that were not taken
    apart because the shell grammar is not installed: they count as no use.
    """

    skill: str
    verdict: VerdictName
    offered: bool | None
    evidence: tuple[Evidence, ...] = ()
    unread_lines: int = 0
