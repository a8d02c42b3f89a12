"""Brings the targets of a lock up to date: copies and links are staged, exchanged whole, and read back."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.places import user_home
from prowess.distribution.installation.disk.exchange import exchange
from prowess.distribution.installation.disk.trees import copy_tree, remove_tree
from prowess.distribution.installation.report import Problem, TargetReport
from prowess.distribution.installation.targets.copies import (
    MISSING,
    TargetStep,
    folder_fault,
    found_at,
    steps_to,
    wanted_copies,
)
from prowess.distribution.installation.targets.record import read_record, write_record
from prowess.errors import InvalidArgumentsError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.distribution.installation.disk.staging import Stage
    from prowess.distribution.installation.disk.store import SkillStore
    from prowess.distribution.installation.report import TargetState
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.installation.targets.copies import TargetCopy
    from prowess.lockfile import Lockfile

_REPAIR = "prowess install --repair"


class TargetView(Struct, frozen=True, kw_only=True):
    """The targets of a lock as they are now, what was recorded, and targets that cannot be written at all."""

    steps: tuple[TargetStep, ...]
    record: dict[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()

    def pending(self, *, repair: bool) -> dict[str, TargetStep]:
        """Return the steps to carry out, by path. Drifted copies belong to them only with `repair`."""
        states = {"missing", "outdated", "drifted"} if repair else {"missing", "outdated"}
        # The first step of a path decides; a second agent may read the same directory.
        return {step.path: step for step in reversed(self.steps) if step.state in states}

    def is_settled(self, *, repair: bool) -> bool:
        """Whether there is nothing to do and nothing to record."""
        return not self.pending(repair=repair) and self.settled() == self.record

    def settled(self) -> dict[str, tuple[str, ...]]:
        """Return what should be recorded if no step is carried out any more."""
        record: dict[str, tuple[str, ...]] = {}
        for step in self.steps:
            if step.state == "current" and step.path not in record:
                record[step.path] = (step.found,)
            elif step.path in self.record:
                record[step.path] = self.record[step.path]
        return record


def view_targets(lock: Lockfile, scope: InstallScope, store: SkillStore) -> TargetView:
    """Look at every path of every target, without a change. Hashes the copies."""
    wanted: list[TargetCopy] = []
    problems: list[Problem] = []
    for target in lock.targets:
        try:
            wanted += wanted_copies(target, lock, scope)
        except (InvalidArgumentsError, UnsafePathError) as fault:
            fix = f"prowess remove --target {target.agent}"
            problems.append(Problem(code="target_unknown", skill=None, message=str(fault), fix=fix))
    found = read_record(scope)
    faulty = {folder for folder in map(os.path.dirname, found) if folder_fault(folder, scope) is not None}
    record = {path: contents for path, contents in found.items() if os.path.dirname(path) not in faulty}
    return TargetView(steps=tuple(steps_to(wanted, record, store)), record=record, problems=tuple(problems))


def place_copies(
    lock: Lockfile, scope: InstallScope, store: SkillStore, stage: Stage, *, repair: bool
) -> tuple[tuple[TargetReport, ...], tuple[Problem, ...]]:
    """Bring the targets up to date. Return each path as it was read back, and the problems.

    A copy that cannot be written is a problem, and does not keep the others from being written.
    """
    before = view_targets(lock, scope, store)
    pending = before.pending(repair=repair)
    done: dict[str, TargetState] = {}
    problems = list(before.problems)
    record = before.record
    if pending:
        # Recorded before anything is written: after a kill, the old content and the new one are both known.
        record = dict(before.settled())
        for path, step in pending.items():
            record[path] = (*record.get(path, ()), *_contents(step))
        try:
            write_record(scope, record, stage)
        except OSError as fault:
            return _rows(before, {}), (*problems, *(_failed(step, fault) for step in pending.values()))
        for path, step in pending.items():
            try:
                done[path] = _carried_out(step, scope, store, stage)
            except OSError as fault:
                done[path] = "failed"
                problems.append(_failed(step, fault))
    after = view_targets(lock, scope, store) if pending else before
    if after.settled() != record:
        with suppress(OSError):  # the next command records it
            write_record(scope, after.settled(), stage)
    problems += [_drifted(step) for step in after.steps if step.state == "drifted"]
    return _rows(after, done), tuple(problems)


def target_rows(view: TargetView) -> tuple[tuple[TargetReport, ...], tuple[Problem, ...]]:
    """Return each path of a view that needs no step, and its problems."""
    return _rows(view, {}), (*view.problems, *(_drifted(step) for step in view.steps if step.state == "drifted"))


def _contents(step: TargetStep) -> Iterator[str]:
    yield step.found
    if step.copy is not None:
        yield step.copy.content


def _carried_out(step: TargetStep, scope: InstallScope, store: SkillStore, stage: Stage) -> TargetState:
    copy = step.copy
    if copy is None:
        _staged(step, scope, stage, lambda draft: os.rename(step.path, draft))
        return "removed"
    folder = os.path.dirname(copy.path)
    os.makedirs(folder, exist_ok=True)
    stored = store.path(copy.tree, copy.name)

    def place(draft: str) -> None:
        if copy.mode == "link":
            os.symlink(stored, draft)
        else:
            copy_tree(stored, draft)
        exchange(draft, copy.path)

    _staged(step, scope, stage, place)
    if found_at(copy.path, store) != copy.content:
        raise OSError(errno.EIO, "it was changed by another program while it was being written", copy.path)
    return "placed" if step.found == MISSING else "replaced"


def _staged(step: TargetStep, scope: InstallScope, stage: Stage, act: Callable[[str], None]) -> None:
    """Call `act` with the path of a draft, in the stage or, if that is on another file system, near the target."""
    draft = stage.fresh()
    try:
        act(draft)
    except OSError as fault:
        if fault.errno != errno.EXDEV:
            raise
        near = near_stage(scope)
        remove_tree(near)
        os.makedirs(near, 0o700)
        act(os.path.join(near, os.path.basename(step.path)))
        remove_near_stage(scope)
    remove_tree(draft)


def near_stage(scope: InstallScope) -> str:
    """Return the stage for targets that are on another file system than the home. No agent reads it."""
    return os.path.join(scope.directory if scope.kind == "project" else user_home(), ".prowess", "target-stage")


def remove_near_stage(scope: InstallScope) -> None:
    """Remove the stage near the targets, also that of a killed command. Call it under the exclusive lock."""
    near = near_stage(scope)
    with suppress(OSError):
        remove_tree(near)
        os.rmdir(os.path.dirname(near))


def _rows(view: TargetView, done: dict[str, TargetState]) -> tuple[TargetReport, ...]:
    rows = []
    seen = set()
    for step in view.steps:
        copy = step.copy
        state: TargetState = step.state if step.state != "current" else done.get(step.path, "current")
        if done.get(step.path) == "failed":
            state = "failed"
        seen.add(step.path)
        rows.append(
            TargetReport(
                agent=copy.agent if copy else None,
                path=step.path,
                mode=copy.mode if copy else None,
                state=state,
                name=os.path.basename(step.path),
            )
        )
    gone = (path for path, state in done.items() if state == "removed" and path not in seen)
    rows += [
        TargetReport(agent=None, path=path, mode=None, state="removed", name=os.path.basename(path)) for path in gone
    ]
    return tuple(rows)


def _failed(step: TargetStep, fault: OSError) -> Problem:
    message = f"{step.path} could not be written: {fault.strerror or fault}; the next command tries again"
    return Problem(code="target_failed", skill=os.path.basename(step.path), message=message, fix="prowess install")


def _drifted(step: TargetStep) -> Problem:
    what = "another skill or file is there" if step.found == "foreign" else "its files were edited"
    kept = "it was kept" if step.copy else "it is not needed any more, but was kept"
    message = f"{step.path} has drifted: {what}; {kept}"
    return Problem(code="drifted", skill=os.path.basename(step.path), message=message, fix=_REPAIR)
