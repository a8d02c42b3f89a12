"""What a tool answered, held against what a profile expects: by topic, and one difference at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.conformance.runner import Answer

Verdict = Literal["agrees", "accepts wrongly", "rejects wrongly", "no answer", "skipped"]


class Agreement(Struct, frozen=True, kw_only=True):
    """How far the answers agree with one profile. `skipped` cases were not asked and count for nothing."""

    cases: int = 0
    agrees: int = 0
    accepts_wrongly: int = 0
    rejects_wrongly: int = 0
    no_answer: int = 0
    skipped: int = 0

    @property
    def whole(self) -> bool:
        """Whether every case was asked and every answer agrees."""
        return self.agrees == self.cases


def verdict(answer: Answer, profile: str) -> Verdict:
    """Hold one answer against the profile."""
    if answer.said == "skipped":
        return "skipped"
    if answer.said == "none":
        return "no answer"
    if answer.said == answer.case.expect[profile].outcome:
        return "agrees"
    return "accepts wrongly" if answer.said == "accept" else "rejects wrongly"


def agreement(answers: Sequence[Answer], profile: str) -> Agreement:
    """Count the verdicts."""
    verdicts = [verdict(answer, profile) for answer in answers]
    return Agreement(
        cases=len(answers),
        agrees=verdicts.count("agrees"),
        accepts_wrongly=verdicts.count("accepts wrongly"),
        rejects_wrongly=verdicts.count("rejects wrongly"),
        no_answer=verdicts.count("no answer"),
        skipped=verdicts.count("skipped"),
    )


def by_topic(answers: Sequence[Answer], profile: str) -> dict[str, Agreement]:
    """Count the verdicts of each topic, in the order of the cases."""
    topics = dict.fromkeys(answer.case.topic for answer in answers)
    return {topic: agreement([one for one in answers if one.case.topic == topic], profile) for topic in topics}
