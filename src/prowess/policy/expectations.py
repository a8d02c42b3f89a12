"""Tests a policy file against its own `[[expect]]` entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.policy.decision import Decision, effect_of
from prowess.policy.policy import Policy

if TYPE_CHECKING:
    from prowess.policy.policy_file import Expectation, PolicyFile


class ExpectationOutcome(Struct, frozen=True, kw_only=True):
    """An expected call, and what the policy file decides about the call."""

    expectation: Expectation
    decision: Decision

    @property
    def holds(self) -> bool:
        """Whether the decision has the expected effect."""
        return effect_of(self.decision) == self.expectation.effect

    @property
    def sentence(self) -> str:
        """What was expected where, and what decided, in one line."""
        decision, expected = self.decision, self.expectation
        arguments = ", ".join(f"{name}={value!r}" for name, value in expected.call.arguments.items())
        rule = f"rule '{decision.rule}' at {decision.origin}: {decision.reason}"
        by = decision.reason if decision.origin is None else rule
        decided = f"decided {effect_of(decision)} by {by}"
        call = f"{expected.call.tool}({arguments})"
        return printable_line(f"{expected.origin}: expected {expected.effect} for {call}, {decided}")


def check_expectations(file: PolicyFile, workspace: str | None) -> tuple[ExpectationOutcome, ...]:
    """Decide each expected call by this file, without any other layer. Path globs are relative to `workspace`."""
    policy = Policy(files=(file,))
    return tuple(
        ExpectationOutcome(expectation=expectation, decision=policy.decide(expectation.call, workspace))
        for expectation in file.expectations
    )
