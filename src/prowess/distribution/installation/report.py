"""The report of a command that changes packages, and the closed list of its problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.distribution.installation.plan import Action  # noqa: TC001 -- msgspec resolves it
from prowess.lockfile import LockedSkill  # noqa: TC001 -- as above
from prowess.lockfile.lock import CopyMode  # noqa: TC001 -- as above
from prowess.lockfile.unmet_requirements import unmet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.lockfile import Lockfile

PROBLEMS: Mapping[str, str] = {
    "drifted": "somebody edited a copy in a target, or another skill is there; it was kept",
    "target_failed": "a copy could not be written to a target",
    "target_unknown": "the lock names a target that this version cannot write to",
    "not_stored": "the lock names a skill that is not in the store",
    "lock_outdated": "with `--frozen`: the lock would have to change",
    "left_out": "a source has a skill that cannot be installed",
    "lock_missing": "there is no lock",
    "lock_invalid": "the lock cannot be read",
    "requirement_unmet": "a locked skill requires another one that the lock does not have",
    "unmapped": "one of two locks has no place for something that the other one has",
}
_REMARKS = frozenset({"left_out", "unmapped"})
TargetState = Literal["current", "placed", "replaced", "removed", "drifted", "missing", "outdated", "failed"]


class Problem(Struct, frozen=True, kw_only=True):
    """One problem: its code from `PROBLEMS`, the skill, a sentence, and the command or step that helps."""

    code: str
    skill: str | None
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.message}; run `{self.fix}`" if self.fix else self.message

    @property
    def is_failure(self) -> bool:
        """Whether something is not as the lock has it, so that a command ends with exit code 1."""
        return self.code not in _REMARKS

    def as_dict(self) -> dict[str, object]:
        """Return the form of `--json`."""
        return {"code": self.code, "skill": self.skill, "message": self.message, "fix": self.fix}


def unmet_problems(lock: Lockfile) -> tuple[Problem, ...]:
    """Return a problem for each demand of a locked skill that no locked skill satisfies. Raises as `unmet`."""
    return tuple(
        Problem(code="requirement_unmet", skill=fault.skill, message=str(fault), fix="prowess lock")
        for fault in unmet(lock)
    )


class TargetReport(Struct, frozen=True, kw_only=True):
    """One skill in one target, as it was read back at the end. `agent` and `mode` are None if it is in no target."""

    agent: str | None
    path: str
    mode: CopyMode | None
    state: TargetState
    name: str

    def as_dict(self) -> dict[str, object]:
        """Return the form of `--json`."""
        return {"agent": self.agent, "path": self.path, "mode": self.mode, "state": self.state}


class SkillReport(Struct, frozen=True, kw_only=True):
    """One skill: what was done, and what its signature is worth (`verified`, `unsigned`, …; None if removed)."""

    skill: LockedSkill
    action: Action
    status: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the form of `--json`."""
        skill = self.skill
        facts = {key: getattr(skill, key) or None for key in ("name", "package", "version", "source", "tree")}
        return {**facts, "action": self.action, "status": self.status, "signer": skill.signer}


class InstallReport(Struct, frozen=True, kw_only=True):
    """The result of a command. `changed` means that the lock, the store or a target was changed."""

    scope: str
    lock: str
    changed: bool
    contacted: tuple[str, ...] = ()
    skills: tuple[SkillReport, ...] = ()
    targets: tuple[TargetReport, ...] = ()
    problems: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the form of `--json`."""
        return {
            "scope": self.scope,
            "lock": self.lock,
            "changed": self.changed,
            "contacted": list(self.contacted),
            "skills": [skill.as_dict() for skill in self.skills],
            "targets": [target.as_dict() for target in self.targets],
            "problems": [problem.as_dict() for problem in self.problems],
        }
