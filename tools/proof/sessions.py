"""Sessions: what is active, and what runs inside what, after any row of events.

An event is one letter and skills as digits: L loads in place of all, A adds, U unloads, E enters (an activation inside
the one that runs), R reads and X runs.
"""

from __future__ import annotations

import random
from itertools import chain, product
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.errors import LimitExceededError
from prowess.runtime import state
from prowess.runtime.activation import stack as activation_stack
from prowess.runtime.activation.stack import ActivationCycleError
from prowess.runtime.state import ActiveSkill, SessionState
from tools.proof.subjects import SEED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SOME = ("L", "L0", "L01", "A0", "A1", "A12", "A00", "U0", "U12", "E0", "E1", "R0", "X1")


def sessions() -> Iterator[tuple[str, str]]:
    """All rows of three events out of thirteen, and rows drawn with the seed."""
    for events, cap, depth in chain(product(product(_SOME, repeat=3), (2,), (1, 2)), _drawn(15000)):
        yield "\t".join(("session", str(cap), str(depth), *events)), _replayed(events, cap, depth)


def _drawn(count: int) -> Iterator[tuple[Sequence[str], int, int]]:
    draw = random.Random(SEED)  # noqa: S311 -- the same rows on every run are wanted

    def event() -> str:
        letter = draw.choice("LAUERX")
        return letter + "".join(draw.choices("0123", k=draw.randint(0, 3) if letter in "LAU" else 1))

    for _ in range(count):
        yield [event() for _ in range(draw.randint(1, 10))], draw.randint(0, 4), draw.randint(0, 3)


def _replayed(events: Sequence[str], cap: int, depth: int) -> str:
    now, said = SessionState(), []
    for event in events:
        try:
            now = _after(now, event, cap, depth)
            verdict = "+"
        except (LimitExceededError, ActivationCycleError, LookupError):
            verdict = "-"
        said.append(f"{verdict}{''.join(now.names)}|{''.join(now.stack)}")
    return " ".join(said)


def _after(now: SessionState, event: str, cap: int, depth: int) -> SessionState:
    letter, keys = event[0], event[1:]
    match letter:
        case "L" | "A":
            return state.loaded(now, [_skill(key) for key in keys], "replace" if letter == "L" else "add", cap).state
        case "U":
            return state.unloaded(now, keys).state
        case "E":
            stack = activation_stack.entered(now.stack, keys, depth)
            return replace(state.loaded(now, [_skill(keys)], "add", cap).state, stack=stack)
        case _:
            if now.named(keys) is None:
                raise LookupError(keys)
            return now


def _skill(key: str) -> ActiveSkill:
    return ActiveSkill(
        name=key, key=key, location=f"/{key}/SKILL.md", root_dir=f"/{key}", digest=key, content_digest=key,
        document_digest=key,
    )  # fmt: skip
