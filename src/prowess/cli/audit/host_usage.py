"""What `prowess report` shows beside the audit log: feedback, and the sessions of agent hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from prowess._internal.text.terminal_text import counted
from prowess.evals.usage.feedback import FeedbackCounts, feedback_counts, read_feedback
from prowess.evals.usage.host_usage import HostSessions, HostUsage, host_usage
from prowess.evals.verdicts.skill_names import same_skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.cli.options.catalog_options import CatalogOptions
    from prowess.governance.usage import WeakSkill

_DIGEST = len("sha256:") + 12
_COUNTS = ("sessions", "by_model", "by_user", "by_host", "refusals", "errors", "unfinished", "tokens")
_NAME = 64  # characters


class UsageBesideLog(Struct, frozen=True, kw_only=True):
    """Feedback by version, and the sessions of the named folders; None if no folder was named."""

    feedback: tuple[FeedbackCounts, ...]
    hosts: HostSessions | None

    @property
    def is_known(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.feedback) or self.hosts is not None

    def as_dict(self) -> dict[str, Any]:
        """Return the members of the JSON document; none if there is nothing beside the log."""
        found: dict[str, Any] = {"feedback": to_builtins(self.feedback)} if self.feedback else {}
        return found if self.hosts is None else {**found, "hosts": to_builtins(self.hosts)}

    def without_used(self, never_chosen: tuple[WeakSkill, ...]) -> tuple[WeakSkill, ...]:
        """Leave out the skills that a session of a host used."""
        used = [row.skill for row in self._rows()]
        return tuple(one for one in never_chosen if not any(same_skill(name, one.skill) for name in used))

    def lines(self) -> Iterator[str]:
        """Yield lines for people."""
        if self.hosts is not None:
            unread = f", {counted(self.hosts.unread, 'file')} of no known host" if self.hosts.unread else ""
            yield f"{counted(self.hosts.sessions, 'session')} of agent hosts{unread}"
        for row in self._rows():
            counts = ", ".join(f"{name} {getattr(row, name)}" for name in _COUNTS if getattr(row, name))
            yield f"  {_shown(row.skill)}  {row.host}: {counts}, last {row.last}"
        for row in self._rows():
            if row.often_abandoned:
                share = f"{row.unfinished} of {counted(row.sessions, 'session')}"
                yield f"often abandoned: {_shown(row.skill)} on {row.host} ({share})"
        for one in self.feedback:
            notes = "".join(f"; {note}" for note in one.notes)
            yield f"feedback: {_shown(one.skill)}  {one.digest[:_DIGEST]}: good {one.good}, bad {one.bad}{notes}"

    def _rows(self) -> Sequence[HostUsage]:
        return () if self.hosts is None else self.hosts.rows


def _shown(name: str) -> str:
    """Return as much of a name as a line has room for. A session may name anything."""
    return name if len(name) <= _NAME else f"{name[:_NAME]}..."


def usage_beside_log(folders: Sequence[str], skills: CatalogOptions) -> UsageBesideLog:
    """Return what is known beside the log.

    Raises:
        InvalidArgumentsError: a folder does not exist, or has too many files; or the feedback cannot be read.
    """
    names = [entry.name for entry in skills.open(quiet=True, asks=False).entries()] if folders else []
    hosts = host_usage(folders, names) if folders else None
    return UsageBesideLog(feedback=tuple(feedback_counts(read_feedback())), hosts=hosts)
