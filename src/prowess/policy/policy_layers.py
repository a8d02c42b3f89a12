"""The policy files in force: the machine's, the user's, and the one that a command names.

Each file can only tighten the others. A file is checked against its own expectations before it is put in force.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.places import prowess_home
from prowess.errors import PolicyError
from prowess.policy.decision import Decision, effect_of
from prowess.policy.policy import Policy
from prowess.policy.policy_file import PolicyFile, read_policy_file

if TYPE_CHECKING:
    from prowess.policy.policy_file import Expectation


ENTERPRISE_FILE = "/etc/prowess/policy.toml"
FILE_NAME = "policy.toml"


def policy_places(enterprise_file: str = ENTERPRISE_FILE) -> tuple[str, str]:
    """Return the files that hold wherever they exist, the stronger first: the machine's and the user's."""
    return enterprise_file, os.path.join(prowess_home(), FILE_NAME)


def load_policy(policy_file: str | None = None, *, enterprise_file: str = ENTERPRISE_FILE) -> Policy:
    """Return the policy in force here, with `policy_file` as the lowest layer.

    Raises:
        PolicyError: a file cannot be read; every fault of every file is named. `Policy.closed` goes on from there.
    """
    files: list[PolicyFile] = []
    problems: list[str] = []
    for path in (
        *filter(os.path.lexists, policy_places(enterprise_file)),
        *([] if policy_file is None else [policy_file]),
    ):
        try:
            files.append(read_policy_file(path))
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(tuple(problems))
    return Policy(files=tuple(files))


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
