"""The units of `prowess check -j` and `--on`: small groups of skills. Their results keep the order of the skills."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct

import prowess
from prowess._internal.batch import BatchUnit
from prowess._internal.batch_worker import require_version, worker_name
from prowess.cli.skill_result import Comments, DecidedSilencing, judge_target
from prowess.cli.targets import skill_target
from prowess.errors import UnavailableError
from prowess.format.reading import locate
from prowess.rule_engine import Judgement  # noqa: TC001 -- a field of a Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess._internal.batch import BatchEngine
    from prowess.cli.skill_result import Silencing, StampedResult
    from prowess.cli.targets import Target
    from prowess.config import Configuration

_MOST_AT_A_TIME = 16
_PARTS_EACH = 4  # groups for each process, so that one slow group does not leave the others idle
_ADVICE = "share the folder, so that its path means the same files on each worker"


class SkillToCheck(Struct, frozen=True, kw_only=True):
    """One skill, with all that settings and trust say about it: a worker reads neither.

    `digest` is the SHA-256 of the bytes of its SKILL.md, if the worker may see other files than this process.
    """

    directory: str
    path: str
    named: str
    judgement: Judgement
    comments: Comments
    digest: str | None


class SkillsToCheck(Struct, frozen=True, kw_only=True):
    """The skills of one unit. If `stamped`, the results have the stamps of the files. `version` is that of Prowess."""

    skills: tuple[SkillToCheck, ...]
    stamped: bool
    version: str


def judge_in_batch(
    targets: Sequence[Target], engine: BatchEngine, configuration: Configuration, silencing: Silencing, *, stamped: bool
) -> Iterator[StampedResult]:
    """Yield the result of each skill in order.

    Raises:
        UnavailableError: a worker of the engine sees other files, or has another version of Prowess.
    """
    size = max(1, min(_MOST_AT_A_TIME, len(targets) // (engine.at_once * _PARTS_EACH)))
    parts = [targets[at : at + size] for at in range(0, len(targets), size)]
    units = []
    for at, part in enumerate(parts):
        skills = tuple(_skill(target, configuration, silencing, remote=engine.remote) for target in part)
        task = SkillsToCheck(skills=skills, stamped=stamped, version=prowess.__version__)
        units.append(BatchUnit(id=f"skills-{at:05}", task=task))
    early: dict[str, list[StampedResult]] = {}
    results = engine.run(judge_unit, units)
    for unit in units:
        while unit.id not in early:
            result = next(results)
            early[result.id] = result.value
        yield from early.pop(unit.id)


def judge_unit(unit: SkillsToCheck) -> list[StampedResult]:
    """In a worker: check the skills of one unit.

    Raises:
        UnavailableError: this worker has another version of Prowess, or sees other files.
    """
    require_version(unit.version)
    return [_judge(skill, stamped=unit.stamped) for skill in unit.skills]


def _judge(skill: SkillToCheck, *, stamped: bool) -> StampedResult:
    if skill.digest is not None and skill.digest != _digest(skill.directory):
        raise UnavailableError(f"the skill {skill.path}", reason=f"it differs on {worker_name()}", advice=_ADVICE)
    target = skill_target(skill.directory, skill.path, skill.named)
    return judge_target(target, skill.judgement, DecidedSilencing(skill.comments), stamped=stamped)


def _skill(target: Target, configuration: Configuration, silencing: Silencing, *, remote: bool) -> SkillToCheck:
    directory = target.directory or ""
    return SkillToCheck(
        directory=directory,
        path=target.path,
        named=target.named,
        judgement=configuration.judgement(target.directory),
        comments=silencing.comments(target.directory),
        digest=_digest(directory) if remote else None,
    )


def _digest(directory: str) -> str:
    return hashlib.sha256(locate(directory).data).hexdigest()
