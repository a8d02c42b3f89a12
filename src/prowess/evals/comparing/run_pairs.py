"""Finished runs of two iterations, paired by eval and number of the run.

An iteration is a folder in the layout of the guide: `EVAL/CONFIG/outputs/`, or `EVAL/CONFIG/run-N/outputs/`, with the
prompt in `EVAL/eval_metadata.json`. It may have been written by another tool, so it is read as foreign data.

A run without a result is not compared: one that failed to run, saw a skill that it should not see, or was not finished.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.evals.campaigns.report import WITH_SKILL, UnitResult

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTPUTS = "outputs"
_METADATA = "eval_metadata.json"
_CAMPAIGN, _RESULT = "campaign.json", "unit.json"  # that `eval run` writes; the result is the last file of a run
_RUN = re.compile(r"run-([1-9][0-9]{0,8})")
_MOST_FILES, _FILE_BYTES = 12, 24_000  # that a judge sees of one run
_METADATA_BYTES, _RESULT_BYTES = 1 << 20, 16 << 20


class FinishedRun(Struct, frozen=True, kw_only=True):
    """The outputs of one run: texts by path, shortened for a judge. `more` is the number of further files."""

    files: dict[str, str]
    more: int = 0


class RunPair(Struct, frozen=True, kw_only=True):
    """Two runs of one eval. `prompt` is None if neither folder tells it."""

    eval: str
    run: int
    prompt: str | None
    a: FinishedRun
    b: FinishedRun

    @property
    def unit(self) -> str:
        """The id of the pair, `EVAL/run-N`."""
        return f"{self.eval}/run-{self.run}"


class PairedRuns(Struct, frozen=True, kw_only=True):
    """The pairs, and the other runs (`EVAL/run-N`): only one side has them, or one side has no result of them."""

    pairs: tuple[RunPair, ...]
    alone: tuple[str, ...]


class RunsPlace(Struct, frozen=True, kw_only=True):
    """The runs of one configuration in an iteration."""

    iteration: str
    configuration: str

    @classmethod
    def parse(cls, text: str) -> RunsPlace:
        """Read `ITERATION` or `ITERATION@CONFIGURATION`; without one it is `with_skill`."""
        if os.path.isdir(text):
            return cls(iteration=text, configuration=WITH_SKILL)
        folder, mark, name = text.rpartition("@")
        return cls(iteration=folder if mark else text, configuration=name if mark else WITH_SKILL)


def paired_runs(a: RunsPlace, b: RunsPlace) -> PairedRuns:
    """Return the runs of two places in pairs, sorted by eval and number.

    Raises:
        InvalidArgumentsError: a place has no runs, or both have none of the same eval.
    """
    ours, theirs = dict(_runs(a)), dict(_runs(b))
    for place, found in ((a, ours), (b, theirs)):
        if not any(found.values()):
            problem = f"{place.iteration} has no finished run of the configuration {place.configuration!r}"
            remedy = "name a folder iteration-N, and another configuration with @NAME"
            raise InvalidArgumentsError((f"{problem}; {remedy}",))
    common = [(*key, one, other) for key, one in sorted(ours.items()) if one and (other := theirs.get(key))]
    if not common:
        raise InvalidArgumentsError((f"{a.iteration} and {b.iteration} have no eval in common",))
    pairs = [
        RunPair(eval=name, run=run, prompt=_prompt(a, name) or _prompt(b, name), a=one, b=other)
        for name, run, one, other in common
    ]
    alone = sorted((ours.keys() | theirs.keys()) - {(pair.eval, pair.run) for pair in pairs})
    return PairedRuns(pairs=tuple(pairs), alone=tuple(f"{name}/run-{run}" for name, run in alone))


def _runs(place: RunsPlace) -> Iterator[tuple[tuple[str, int], FinishedRun | None]]:
    """Yield each run by eval and number, None for one without a result."""
    try:
        with ContainedRoot(place.iteration) as root:
            is_own = (_CAMPAIGN, "file") in root.entries()
            for name in _folders(root, "."):
                if place.configuration not in _folders(root, name):
                    continue
                inner = f"{name}/{place.configuration}"
                inside = _folders(root, inner)
                numbered = [(int(found[1]), f"{inner}/{run}") for run in inside if (found := _RUN.fullmatch(run))]
                for number, folder in numbered or [(1, inner)]:
                    if OUTPUTS in _folders(root, folder):
                        counts = _has_result(root, folder, is_own=is_own)
                        yield (name, number), _finished(root, f"{folder}/{OUTPUTS}") if counts else None
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        problem = f"{place.iteration} cannot be read: {reason}; name a folder iteration-N that prowess eval run made"
        raise InvalidArgumentsError((problem,)) from None


def _has_result(root: ContainedRoot, folder: str, *, is_own: bool) -> bool:
    """Return whether a run counts. Another tool writes no result, so its outputs are all that tells of the run."""
    try:
        with root.open(f"{folder}/{_RESULT}", allow_hard_links=True) as file:
            return msgspec.json.decode(file.read(_RESULT_BYTES), type=UnitResult).counted
    except FileNotFoundError:
        return not is_own
    except (OSError, UnsafePathError, msgspec.DecodeError):
        return False


def _folders(root: ContainedRoot, path: str) -> list[str]:
    return [name for name, kind in root.entries(path) if kind == "directory"]


def _finished(root: ContainedRoot, folder: str) -> FinishedRun:
    paths = sorted(_files(root, folder))
    texts = {path.removeprefix(f"{folder}/"): _text(root, path) for path in paths[:_MOST_FILES]}
    return FinishedRun(files=texts, more=max(len(paths) - _MOST_FILES, 0))


def _files(root: ContainedRoot, folder: str) -> Iterator[str]:
    for name, kind in root.entries(folder):
        if kind == "file":
            yield f"{folder}/{name}"
        elif kind == "directory":
            yield from _files(root, f"{folder}/{name}")


def _text(root: ContainedRoot, path: str) -> str:
    with root.open(path, allow_hard_links=True) as file:
        data = file.read(_FILE_BYTES)
        rest = file.size - len(data)
    if b"\0" in data:
        return f"[binary, {len(data) + rest} bytes]"
    return data.decode("utf-8", "replace") + (f" [cut here: {rest} more bytes]" if rest > 0 else "")


def _prompt(place: RunsPlace, name: str) -> str | None:
    try:
        with ContainedRoot(place.iteration) as root, root.open(f"{name}/{_METADATA}", allow_hard_links=True) as file:
            data = msgspec.json.decode(file.read(_METADATA_BYTES))
    except (OSError, UnsafePathError, msgspec.DecodeError):
        return None
    prompt = data.get("prompt") if isinstance(data, dict) else None
    return prompt if isinstance(prompt, str) else None
