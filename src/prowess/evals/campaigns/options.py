"""The options of `prowess eval run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.evals.ledger.caps import Caps

if TYPE_CHECKING:
    from prowess.evals.ledger.prices import Price


JOBS = 2  # in this process


class EvalRunOptions(Struct, frozen=True, kw_only=True):
    """The options of a campaign. `None` is the default, or the value of the recording if `replay` is given.

    `host` has to be named for a replay too, unless our own agent was recorded.

    `path` is a skill, or a suite in it. `baseline` is without, none, old, or a revision of git. `judge` is the name of
    a model. `detect` is the smallest difference that matters to `until_decided`. `out` is where the workspace is made,
    beside the skill by default. `replay` is an iteration. `folder` is the last word of the workspace's name.
    `jobs` is the number of runs at the same time; the default is `JOBS`, or the number that an engine can carry out.
    """

    path: str
    model: str | None = None
    host: str | None = None
    baseline: str | None = None
    runs: int | None = None
    jobs: int | None = None
    seed: int | None = None
    caps: Caps = Caps()
    max_output_tokens: int | None = None
    price: Price | None = None
    judge: str | None = None
    until_decided: bool = False
    detect: float | None = None
    neighbours: tuple[str, ...] = ()
    min_pass_rate: float | None = None
    min_delta: float | None = None
    out: str | None = None
    resume: bool = False
    replay: str | None = None
    folder: str = "workspace"
