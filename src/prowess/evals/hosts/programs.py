"""The command lines that `--host` knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import InvalidArgumentsError
from prowess.evals.hosts.claude import CLAUDE
from prowess.evals.hosts.codex import CODEX
from prowess.evals.hosts.copilot import COPILOT
from prowess.evals.hosts.gemini import GEMINI

if TYPE_CHECKING:
    from prowess.evals.hosts.host_program import HostProgram

HOST_PROGRAMS: dict[str, HostProgram] = {host.name: host for host in (CLAUDE, CODEX, COPILOT, GEMINI)}
_BY_AGENT = {host.agent: host for host in HOST_PROGRAMS.values()}


def host_program(name: str) -> HostProgram:
    """Return the command line of this name, or of this id in the catalog's map of agents.

    Raises:
        InvalidArgumentsError: there is none.
    """
    found = HOST_PROGRAMS.get(name) or _BY_AGENT.get(name)
    if found is None:
        known = ", ".join(sorted(HOST_PROGRAMS))
        raise InvalidArgumentsError((f"--host must be one of {known}, not {name!r}",))
    return found
