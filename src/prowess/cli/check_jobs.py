"""Worker processes of `prowess check -j`. Skills are checked in small groups; results keep their order."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from prowess.cli.skill_result import Silencing, judge_target
from prowess.cli.targets import skill_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from prowess.cli.skill_result import StampedResult
    from prowess.cli.targets import Target
    from prowess.config import Configuration

    Opening = Callable[[], Configuration]

_MOST_AT_A_TIME = 16
_PARTS_EACH = 4  # groups for each process, so that one slow group does not leave the others idle
_judge: Callable[[Target], StampedResult] | None = None  # set in a worker process


def judge_in_processes(
    targets: Sequence[Target],
    jobs: int,
    opening: Opening,
    judge_here: Callable[[Target], StampedResult],
    *,
    stamped: bool,
) -> Iterator[StampedResult]:
    """Yield the result of each skill in order.

    If a worker process dies, its skills are checked in this process with `judge_here`. `opening` loads the settings in
    each worker; it must be picklable, because some systems start workers as new processes.
    """
    size = max(1, min(_MOST_AT_A_TIME, len(targets) // (jobs * _PARTS_EACH)))
    parts = [targets[at : at + size] for at in range(0, len(targets), size)]
    executor = ProcessPoolExecutor(min(jobs, len(parts)), initializer=_start, initargs=(opening, stamped))
    try:
        for part, future in zip(parts, [_submitted(executor, part) for part in parts], strict=True):
            try:
                found = None if future is None else future.result()
            except BrokenProcessPool:
                found = None
            yield from map(judge_here, part) if found is None else found
    finally:
        executor.shutdown(cancel_futures=True)


def _submitted(executor: ProcessPoolExecutor, part: Sequence[Target]) -> Future[list[StampedResult]] | None:
    try:
        return executor.submit(_judge_part, [(target.directory or "", target.path, target.named) for target in part])
    except BrokenProcessPool:
        return None


def _start(opening: Opening, stamped: bool) -> None:  # noqa: FBT001 -- an initializer gets its arguments by position
    # Ctrl-C reaches every process of a terminal: a worker ends at once, and the main process reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    global _judge  # noqa: PLW0603 -- state of one worker process
    configuration = opening()
    silencing = Silencing(configuration, None)

    def judge(target: Target) -> StampedResult:
        return judge_target(target, configuration.judgement(target.directory), silencing, stamped=stamped)

    _judge = judge


def _judge_part(part: Sequence[tuple[str, str, str]]) -> list[StampedResult]:
    if _judge is None:
        raise RuntimeError("a process of the pool was not started by `_start`")
    return [_judge(skill_target(directory, path, named)) for directory, path, named in part]
