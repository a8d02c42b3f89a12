"""A policy file held against its own expectations, before it is put where it decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.policy.decision import Decision, effect_of
from prowess.policy.policy import Policy

if TYPE_CHECKING:
    from prowess.policy.policy_file import Expectation, PolicyFile


class ExpectationOutcome(Struct, frozen=True, kw_only=True):
    """What was expected of one call, and what the file decides."""

    expectation: Expectation
    decision: Decision

    @property
    def holds(self) -> bool:
        """Whether the two agree."""
        return effect_of(self.decision) == self.expectation.effect


def check_expectations(file: PolicyFile, workspace: str | None) -> tuple[ExpectationOutcome, ...]:
    """Decide each expected call by this file alone; `workspace` is the directory that path globs hang from."""
    policy = Policy(files=(file,))
    return tuple(
        ExpectationOutcome(expectation=expectation, decision=policy.decide(expectation.call, workspace))
        for expectation in file.expectations
    )
