"""A session as MCP needs it, with what a server keeps beside it: resources, prompts, and whom to tell of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Unpack

from prowess.mcp_server.elicitation import ClientApprover
from prowess.mcp_server.host_reads import ArtifactResources, HostReads
from prowess.mcp_server.prompts import SkillPrompts
from prowess.mcp_server.skill_resources import SkillResources
from prowess.mcp_server.skills_list import SkillsListTool
from prowess.runtime import Session, SessionOptions
from prowess.runtime.activation.hooks import ToolHookGate
from prowess.runtime.disclosure import model_texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from prowess.catalog import Catalog, SkillEntry
    from prowess.runtime.options import ListeningKeywords

INSTRUCTIONS_BUDGET = 4000  # tokens for the list of skills; names stay, descriptions give way
_AGAIN = "- This list is as of the start of the server. skills_list shows it as it is now, and searches it.\n"


class ServedSession(Session):
    """A session whose bodies stand in results, with `skills.list` beside the four tools; its client is asked.

    `peer` is the connection to notify of changes, None where it listens to a stream instead.
    """

    def __init__(
        self, catalog: Catalog, options: SessionOptions | None = None, **keywords: Unpack[ListeningKeywords]
    ) -> None:
        chosen = SessionOptions.of(options, keywords)
        listing = SkillsListTool(catalog, self._offered, self._active, expose_location=chosen.expose_location)
        approver = ClientApprover() if chosen.approver is None else chosen.approver
        super().__init__(catalog, chosen, body="result", extra_tools=(listing, *chosen.extra_tools), approver=approver)
        self.artifacts = ArtifactResources(self)
        self.skills = SkillResources(catalog, self._context.visibility)
        self.reads = HostReads(
            self.skills,
            self.artifacts,
            audit=chosen.audit,
            session_id=self.session_id,
            gates=(*self._guard.gates, ToolHookGate(self._context.stored, self._hooks)),
        )
        self.prompts = SkillPrompts(self)
        self.peer: ServerSession | None = None
        self.told: tuple[str, ...] = self.tool_names()

    def tool_names(self) -> tuple[str, ...]:
        """Return the names of the tools on offer."""
        return tuple(spec.name for spec in self.tools())

    def host_instructions(self) -> str | None:
        """Return what a host shows its model once: the base rules and the skills there are; None without skills."""
        text = self.instructions(INSTRUCTIONS_BUDGET)
        rules, tag, rest = text.partition(model_texts.AVAILABLE)
        return f"{model_texts.under_wire_names(rules)}{tag}{rest}{_AGAIN}" if text else None

    def _offered(self) -> list[SkillEntry]:
        return [offer.entry for offer in self._context.visibility.offers("model")]

    def _active(self) -> set[tuple[str, str]]:
        return {(skill.key, skill.location) for skill in self.active_skills}


class Sessions(Protocol):
    """Which session a request belongs to."""

    @property
    def catalog(self) -> Catalog:
        """The catalog of every session."""
        ...

    @property
    def instructions(self) -> str | None:
        """What a new connection is told."""
        ...

    async def of(self, context: ServerRequestContext[Any, Any]) -> ServedSession:
        """Return the session of a request, a new one for a new connection."""
        ...

    def open(self) -> Iterable[ServedSession]:
        """Return every session that is open."""
        ...


class OnlySession:
    """One process, one connection, one session."""

    def __init__(self, session: ServedSession) -> None:
        self._session = session

    @property
    def catalog(self) -> Catalog:
        """The catalog of the session."""
        return self._session.catalog

    @property
    def instructions(self) -> str | None:
        """What the host is told."""
        return self._session.host_instructions()

    async def of(self, context: ServerRequestContext[Any, Any]) -> ServedSession:
        """Return the session."""
        del context
        return self._session

    def open(self) -> Iterable[ServedSession]:
        """Return the session alone."""
        return (self._session,)
