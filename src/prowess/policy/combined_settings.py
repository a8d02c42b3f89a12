"""Settings that several policy files give together: the strictest value, or what all of them permit.

If a file cannot be read, every setting has its strictest value.
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess.policy.machine.machine_rules import AUDIT_SINKS
from prowess.policy.packages.package_rules import TOO_OLD
from prowess.policy.restriction import RESTRICTION_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.policy.machine.machine_rules import AuditSink
    from prowess.policy.packages.package_rules import PackageRules, TooOld
    from prowess.policy.policy_file import AuditDetail, PolicyFile
    from prowess.policy.restriction import RestrictionMode


class CombinedSettings(Struct, frozen=True, kw_only=True, dict=True):
    """The settings of `files`, from the highest layer to the lowest.

    `fault` is set if a file could not be read; refusals then go to the logs that were demanded before (`known_sinks`).
    """

    files: tuple[PolicyFile, ...] = ()
    fault: str | None = None
    known_sinks: frozenset[AuditSink] = frozenset({"file"})

    @property
    def audit_required(self) -> bool:
        """Whether a call that cannot be recorded must not run. False unless a file requires it."""
        return self.fault is not None or any(file.audit_required for file in self.files)

    @property
    def audit_sink(self) -> AuditSink:
        """The log that must have a record before a call goes on: the strictest that a file sets, else `file`."""
        return max(self.audit_sinks, key=AUDIT_SINKS.index)

    @property
    def audit_sinks(self) -> frozenset[AuditSink]:
        """The logs of which each must have a record before a call goes on: those that the files set, else `file`."""
        return frozenset(file.audit_sink for file in self.files if file.audit_sink is not None) or self.known_sinks

    @property
    def audit_command(self) -> AuditDetail:
        """Whether records have command lines of scripts: as the highest layer that sets it, else `kept`."""
        return self._detail(file.audit_command for file in self.files)

    @property
    def audit_output(self) -> AuditDetail:
        """Whether records have the output of scripts: as the highest layer that sets it, else `kept`."""
        return self._detail(file.audit_output for file in self.files)

    def _detail(self, values: Iterable[AuditDetail | None]) -> AuditDetail:
        if self.fault is not None:
            return "digest"
        return next((value for value in values if value is not None), "kept")

    @property
    def require_signature(self) -> bool:
        """Whether only signed skills may be installed."""
        return self.fault is not None or any(one.require_signature for one in self.package_rules)

    @property
    def max_age(self) -> int | None:
        """Seconds after which a deployment that was not confirmed is too old: the least that a file sets."""
        return min((one.max_age for one in self.package_rules if one.max_age is not None), default=None)

    @property
    def too_old(self) -> TooOld:
        """The effect on a deployment that is too old: the strictest that a file sets, else `warn`."""
        if self.fault is not None:
            return "hide"
        set_here: list[TooOld] = [one.too_old for one in self.package_rules if one.too_old is not None]
        return max(set_here, key=TOO_OLD.index, default="warn")

    @cached_property
    def hides_old(self) -> bool:
        """Whether the skills of a deployment that is too old must not be used."""
        return self.max_age is not None and self.too_old == "hide"

    @property
    def package_rules(self) -> tuple[PackageRules, ...]:
        """The tables `[packages]` of the files."""
        return tuple(file.packages for file in self.files if file.packages is not None)

    @property
    def allowed_tools(self) -> RestrictionMode:
        """How `allowed-tools` of skills are interpreted: the strictest mode that a file sets, else `restrict`."""
        return self.mode_of_sessions()

    def mode_of_sessions(
        self, chosen: RestrictionMode | None = None, default: RestrictionMode = "restrict"
    ) -> RestrictionMode:
        """Return the strictest mode for `allowed-tools` that the files or the host set, else `default`."""
        if self.fault is not None:
            return "restrict"
        said = {chosen, *(file.allowed_tools for file in self.files)}
        return next((mode for mode in RESTRICTION_MODES if mode in said), default)

    @property
    def dynamic_commands(self) -> bool:
        """Whether commands inside instructions may run: at least one file enables it and no file disables it."""
        return _switched_on(file.dynamic_commands for file in self.files)

    @property
    def read_scripts(self) -> bool:
        """Whether a model may read the text of scripts: at least one file enables it and no file disables it."""
        return _switched_on(file.read_scripts for file in self.files)

    @property
    def script_dirs(self) -> tuple[str, ...]:
        """The directories of a skill whose scripts may run. If several files set a list, each list must permit them."""
        said = [file.script_dirs for file in self.files if file.script_dirs is not None]
        if not said:
            return () if self.fault else ("scripts",)
        common = reduce(_inside_both, said)
        return tuple(dict.fromkeys(common))

    @property
    def env_allow(self) -> tuple[str, ...]:
        """The host's variables that scripts receive. If several files set a list, each list must have the variable."""
        said = [file.env_allow for file in self.files if file.env_allow is not None]
        return tuple(name for name in said[0] if all(name in other for other in said[1:])) if said else ()

    def files_that_set(self, setting: Literal["script_dirs", "env_allow"]) -> tuple[str, ...]:
        """Return the paths of the files that set `setting`, highest layer first."""
        return tuple(file.path for file in self.files if getattr(file, setting) is not None)


def _switched_on(values: Iterable[bool | None]) -> bool:
    return {value for value in values if value is not None} == {True}


def _inside_both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories that both lists permit. If one list has a parent of a directory, return the inner one."""
    return tuple(
        one if _is_below(one, other) else other
        for one in some
        for other in others
        if _is_below(one, other) or _is_below(other, one)
    )


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory}/")
