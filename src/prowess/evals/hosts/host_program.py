"""Facts about the command line of another agent: how it is started, and which files it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from prowess.evals.hosts.host import HostLimits

if TYPE_CHECKING:
    from collections.abc import Callable


class HostInvocation(Struct, frozen=True, kw_only=True):
    """One start of a command line.

    `provider` is the address, without a path, that the host uses in place of its provider. `model` is None for the
    host's default. `credentials` are replacements of keys, by the variables that `HostProgram.credentials` names.
    """

    prompt: str
    home: str
    provider: str
    model: str | None = None
    credentials: dict[str, str] = field(default_factory=dict)
    limits: HostLimits = HostLimits()


class HostCommand(Struct, frozen=True, kw_only=True):
    """Arguments, standard input, variables, and files to write below the home before the start.

    The prompt is passed so that no part of it can be read as an option.
    """

    arguments: tuple[str, ...]
    stdin: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


class HostProgram(Struct, frozen=True, kw_only=True):
    """A command line that a run can be given to.

    - `agent` is its id in the catalog's map of agents, which `--host` takes as well.
    - `program` is its name on PATH; `package` is its name in npm.
    - `skills` is the folder for skills of the user, below the home; `project_skills` is that of a project.
    - `sessions` are patterns below the home of the files of the session and its sub-agents, in one folder of the home.
    - `upstream` is the provider's address, and `upstream_variable` the variable that replaces it. `provider` is its
      name in genai-prices, for prices behind another address.
    - `credentials` are the variables that may hold the user's key. Of the user's environment only PATH, the
      language and the time zone are passed on.
    - `needs_model` is true if the host has no model without being told one.
    - `judges_session` is true if verdicts come from the session, because the stream does not show sub-agents.
    """

    name: str
    agent: str
    program: str
    package: str
    skills: str
    project_skills: str
    sessions: tuple[str, ...]
    upstream: str
    provider: str
    upstream_variable: str
    credentials: tuple[str, ...]
    command: Callable[[HostInvocation], HostCommand]
    needs_model: bool = False
    judges_session: bool = False
