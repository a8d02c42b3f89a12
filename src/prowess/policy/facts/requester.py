"""Facts about who makes a call, for keys of `match` such as `who.team`.

    match = { who.role = "contractor", skill.layer = "project" }

A requester is a mapping from facts to values. A fact that it lacks is unknown: a rule that denies or asks then applies,
and a rule that allows does not. The first value of a fact is the one that the call claims. Further values, such as the
login name of the process that a host uses for its users, count for rules that deny or ask; of the roles, all count.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prowess._internal.globs import fits_text
from prowess._internal.process_user import login
from prowess.policy.decision import CERTAIN, Fit

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUESTER_PREFIX = "who."
REQUESTER_FACTS = ("role", "team", "user", "agent", "tenant", "environment", "client", "host")
Requester = Mapping[str, tuple[str, ...]]


def this_process() -> dict[str, tuple[str, ...]]:
    """Return the facts of the operating system: the user of this process, and the host."""
    host = os.environ.get("COMPUTERNAME", "") if sys.platform == "win32" else os.uname().nodename
    return {name: (value,) for name, value in (("user", login()), ("host", host)) if value}


def fit_of_requester(wanted: Mapping[str, Sequence[str]], who: Requester, *, refuses: bool) -> Fit:
    """Compare who makes a call with the patterns for each fact. `refuses` states whether the rule denies or asks."""
    for fact, patterns in wanted.items():
        if (values := who.get(fact)) is None:
            continue
        counted = values if refuses or fact == "role" else values[:1]
        if not any(fits_text(value, pattern) for value in counted for pattern in patterns):
            return Fit(certain=False, possible=False, kind="who", reason="it is about other requesters")
    if unknown := [fact for fact in wanted if fact not in who]:
        return Fit(certain=False, possible=True, kind="who", reason=f"the {', '.join(unknown)} is not known")
    return CERTAIN
