"""Where policies lie: the machine's, the user's, and the one that a command names. Each can only tighten the others."""

from __future__ import annotations

import os

from prowess.errors import PolicyError
from prowess.policy.policy import Policy
from prowess.policy.policy_file import PolicyFile, read_policy_file
from prowess.policy.policy_places import ENTERPRISE_FILE, policy_places


def load_policy(policy_file: str | None = None, *, enterprise_file: str = ENTERPRISE_FILE) -> Policy:
    """Return the policy in force here, with `policy_file` as the lowest layer.

    Raises:
        PolicyError: a file cannot be read; every fault of every file is named. `Policy.closed` goes on from there.
    """
    files: list[PolicyFile] = []
    problems: list[str] = []
    named = [] if policy_file is None else [(policy_file, True)]
    for path, must_exist in [*((path, False) for path in policy_places(enterprise_file)), *named]:
        if not must_exist and not os.path.lexists(path):
            continue
        try:
            files.append(read_policy_file(path))
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(tuple(problems))
    return Policy(files=tuple(files))
