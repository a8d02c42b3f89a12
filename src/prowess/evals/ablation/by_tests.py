"""Ablation with the tests of a skill: no model, no network, and the same result every time."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio

from prowess._internal.files.tree_digest import read_tree
from prowess.errors import InvalidArgumentsError, LimitExceededError, SkillParseError, UnavailableError
from prowess.evals.ablation.passages import passages_of
from prowess.evals.ablation.report import AblatedPassage, AblationReport, EvalNotice
from prowess.evals.iterations.snapshots import copy_files
from prowess.evals.scenarios.planning import planned_cases
from prowess.evals.scenarios.running import run_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.evals.ablation.passages import Passage, PassageFile, PassageKind
    from prowess.evals.ablation.trials import TrialDecision
    from prowess.evals.scenarios.planning import PlannedCase
    from prowess.evals.scenarios.report import CaseResult

OnPassage = Callable[[AblatedPassage], object]


def ablate_by_tests(
    path: str, by: PassageKind, *, negate: bool = False, on_passage: OnPassage | None = None
) -> AblationReport:
    """Remove each passage of a copy of the skill in turn, or negate it, and run the tests that pass with all of them.

    Raises:
        InvalidArgumentsError: the skill has no test that passes, or cannot be copied.
        UnavailableError: the sandbox that a test needs is not available.
    """
    directory = os.path.realpath(path)
    with TemporaryDirectory(prefix="prowess-ablation-") as made:
        ablation = _TestAblation(directory, os.path.realpath(made), by, negate=negate)
        return anyio.run(ablation.report, on_passage)


class _TestAblation:
    """One ablation, on a copy of the skill in the directory `place`."""

    def __init__(self, directory: str, place: str, by: PassageKind, *, negate: bool) -> None:
        try:
            found = planned_cases(directory)
        except SkillParseError as fault:
            raise InvalidArgumentsError((f"{directory} has no skill that can be loaded: {fault}",)) from None
        if found.diagnostics:
            first = found.diagnostics[0]
            raise InvalidArgumentsError((f"{first.location}: {first.message}",))
        self._by, self._negate = by, negate
        self._copy = os.path.join(place, os.path.basename(directory))
        _copied(directory, self._copy, found.cases, place)
        self._files = passages_of(self._copy, by)
        self._decisions: dict[int, list[TrialDecision]] = defaultdict(list)  # by the place of the case

    async def report(self, on_passage: OnPassage | None) -> AblationReport:
        """Run the tests with every passage, and then without each."""
        planned = planned_cases(self._copy)
        before = [await run_case(case) for case in planned.cases]
        passing = [place for place, result in enumerate(before) if result.outcome == "passed"]
        if not passing:
            raise InvalidArgumentsError((_no_test(before),))
        found: list[AblatedPassage] = []
        for file, passage in _all(self._files):
            found.append(await self._ablated(file, passage, passing))
            if on_passage is not None:
                on_passage(found[-1])
        silent = [_label(result) for result in before if result.outcome != "passed"]
        return AblationReport(
            skill=planned.cases[0].skill,
            by=self._by,
            tried_by="tests",
            units=tuple(found),
            evals=tuple(EvalNotice.of(_label(before[at]), self._decisions[at]) for at in passing),
            without_verdict=tuple(silent),
        )

    async def _ablated(self, file: PassageFile, passage: Passage, passing: Sequence[int]) -> AblatedPassage:
        place = os.path.join(self._copy, *file.path.split("/"))
        changed = file.negated(passage) if self._negate else file.without(passage)
        _write(place, changed)
        try:
            cases = planned_cases(self._copy).cases
            results = [await run_case(cases[at]) for at in passing]
        finally:
            _write(place, file.text)
        lost = [result for result in results if result.outcome != "passed"]
        if unavailable := next((result for result in lost if result.unavailable), None):
            raise UnavailableError(str(unavailable.reason))
        for at, result in zip(passing, results, strict=True):
            self._decisions[at].append("no_effect" if result.outcome == "passed" else "needed")
        delta = -len(lost) / len(passing)
        noticed = tuple(name for result in lost for name in _noticed(result))
        return AblatedPassage.of(
            passage,
            "needed" if lost else "no_effect",
            delta=delta,
            low=delta,
            high=delta,
            failing=noticed,
            runs=len(results),
        )


def _copied(directory: str, target: str, planned: Sequence[PlannedCase], place: str) -> None:
    """Copy the skill, and the neighbours beside it that its tests name. No link is followed or copied."""
    beside = os.path.dirname(directory)
    scripts = [case.script for case in planned if case.script is not None]
    names = {os.path.realpath(os.path.join(directory, name)) for one in scripts for name in one.context.neighbours}
    neighbours = [
        name for name in sorted(names) if os.path.dirname(name) == beside and name != directory and os.path.isdir(name)
    ]
    copies = {directory: target, **{name: os.path.join(place, os.path.basename(name)) for name in neighbours}}
    for source, copy in copies.items():
        try:
            manifest = read_tree(source)
        except (OSError, LimitExceededError) as fault:
            raise InvalidArgumentsError((f"{source} cannot be read: {fault}",)) from None
        copy_files(source, manifest, copy)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)


def _all(files: Sequence[PassageFile]) -> Iterator[tuple[PassageFile, Passage]]:
    return ((file, passage) for file in files for passage in file.passages)


def _no_test(before: Sequence[CaseResult]) -> str:
    if not before:
        return "the skill has no tests; add them to skill.manifest.yaml and evals/tests.yaml"
    return (
        f"no test passes with the whole skill, so none can miss a part of it; {_label(before[0])}: {before[0].reason}"
    )


def _label(result: CaseResult) -> str:
    return " / ".join(filter(None, (result.scenario, result.case)))


def _noticed(result: CaseResult) -> Iterator[str]:
    """Yield the assertions of a case that fail, or the case itself if it could not be judged."""
    failed = [row for row in result.assertions if not row.passed]
    if result.outcome == "error" or not failed:
        yield f"{_label(result)}: {result.reason}"
    for row in failed:
        yield f"{_label(result)}: {row.type} {json.dumps(row.value, ensure_ascii=False)}"
