"""A scheduler with two workers, a provider that counts, and campaigns that run there."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.running import run_evals
from tests.adapters.dask_cluster import cluster
from tests.evals.campaigns.provider import MODEL, ScriptedProvider, obedient
from tests.evals.campaigns.skills import an_eval, skill_at
from tools.hosts.scripted_provider import Part
from tools.hosts.scripted_provider import ScriptedProvider as ProviderOfHosts
from tools.hosts.wire_forms import ScriptedCall, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.adapters.dask import DaskBatch
    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.campaigns.running import EvalRun
    from tests.adapters.dask_cluster import Cluster
    from tests.evals.campaigns.provider import Answer, Request

FAKE_HOST = Path(__file__).parents[1] / "hosts" / "fake_host.py"
TWO_DECIMALS = {"text": "two decimals", "type": "contains_phrase", "phrase": "12.50"}
EVALS, RUNS = 4, 2
UNITS = EVALS * RUNS * 2
CALLS = EVALS * RUNS * 3  # with the skill: load it, and answer; without it: answer


class Machines(Struct, kw_only=True):
    """The cluster and the provider.

    `on_request` is called with the number of each request since it was set, before the request is answered.
    """

    cluster: Cluster
    provider: ScriptedProvider
    rule: Callable[[Request], Answer] = obedient
    on_request: Callable[[int], object] | None = None
    numbers: Iterator[int] = count(1)

    @contextmanager
    def watched(self, on_request: Callable[[int], object]) -> Iterator[None]:
        """Set `on_request`."""
        self.on_request, self.numbers = on_request, count(1)
        yield
        self.on_request = None

    def answer(self, request: Request) -> Answer:
        """Tell `on_request`, and answer by the rule."""
        if self.on_request is not None:
            self.on_request(next(self.numbers))
        return self.rule(request)


@contextmanager
def machines(place: Path) -> Iterator[Machines]:
    """Run a provider, and a scheduler with two workers whose environment leads there.

    The workers, and not this process, have a program `claude`, whose provider chooses the skill `sums`.
    """
    programs = place / "programs"
    programs.mkdir()
    (programs / "claude").write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE_HOST} "$@"\n')
    (programs / "claude").chmod(0o755)
    chooses = (Turn(calls=(ScriptedCall(name="Skill", arguments={"skill": "sums"}),)), Turn(text="It is 12.50 EUR."))
    path = {"PATH": os.pathsep.join([str(programs), os.environ["PATH"]]), "ANTHROPIC_API_KEY": "key"}
    found: list[Machines] = []
    with (
        ScriptedProvider(lambda request: found[0].answer(request), delay=0.03) as provider,  # noqa: PLW0108 -- made below
        ProviderOfHosts([Part(turns=chooses)]) as of_hosts,
        cluster(place, environment={**provider.environment, **path, "ANTHROPIC_BASE_URL": of_hosts.url}) as running,
    ):
        found.append(Machines(cluster=running, provider=provider))
        yield found[0]


def skill_with_evals(place: Path) -> Path:
    """Write a skill with evals that need `CALLS` calls for `UNITS` units."""
    return skill_at(place, *(an_eval(number, TWO_DECIMALS) for number in range(1, EVALS + 1)))


def run_on(
    engine: DaskBatch,
    skill: Path,
    on_result: Callable[[UnitResult], object] | None = None,
    **options: Any,  # noqa: ANN401 -- each test names its options
) -> EvalRun:
    """Run its evals on an engine."""
    given = EvalRunOptions(path=str(skill), model=MODEL, **{"runs": RUNS, **options})
    return run_evals(given, engine=engine, on_result=on_result)
