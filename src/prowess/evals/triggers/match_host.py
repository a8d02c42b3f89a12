"""A host that asks no model: `Catalog.match` chooses the skill whose words fit the request best.

It is an estimate. Words are not meaning: a request in other words finds nothing here, and a model may find it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog import Catalog
from prowess.evals.hosts.host import HostRun
from prowess.evals.transcripts.transcript import RunTranscript, SkillUse, TranscriptCall, TranscriptMessage

if TYPE_CHECKING:
    from prowess.evals.hosts.host import HostRequest

MATCH_HOST = "match"


class MatchHost:
    """Chooses the skills with the best score for a request; none if no skill fits. Runs cost nothing."""

    name = MATCH_HOST

    def __init__(self) -> None:
        self._catalogs: dict[tuple[str, ...], Catalog] = {}

    async def run(self, request: HostRequest) -> HostRun:
        """Return a transcript in which the chosen skills are called."""
        catalog = self._catalog(request.skills)
        entries = [entry for entry in catalog.entries() if entry.is_open_to_models]
        matches = catalog.match(request.prompt, limit=len(entries) or 1, among=entries)
        best = [match for match in matches if match.score == matches[0].score]
        calls = tuple(
            TranscriptCall(id=match.name, name="match", arguments={}, actions=(SkillUse(skill=match.name),), at=2)
            for match in best
        )
        transcript = RunTranscript(
            host="prowess",
            form="stream",
            messages=(TranscriptMessage(role="user", text=request.prompt, at=1),),
            calls=calls,
            offered=tuple(entry.name for entry in entries),
            ended="completed",
        )
        return HostRun(transcript=transcript, transcript_path=None, answer="", seconds=0.0)

    def _catalog(self, skills: tuple[str, ...]) -> Catalog:
        if skills not in self._catalogs:
            self._catalogs[skills] = Catalog(*skills, index=False)
        return self._catalogs[skills]
