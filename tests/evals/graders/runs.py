"""Finished runs for tests of graders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prowess.evals.graders.material import RunMaterial
from prowess.evals.scenarios.workspaces import digests
from prowess.evals.transcripts.transcript import RunTranscript, SkillUse, TranscriptCall, TranscriptMessage

if TYPE_CHECKING:
    from pathlib import Path


def call(name: str, at: int = 1, result: str | None = None, **arguments: Any) -> TranscriptCall:  # noqa: ANN401 -- JSON
    actions = (SkillUse(skill=str(arguments["skill"])),) if "skill" in arguments else ()
    return TranscriptCall(id=f"c{at}", name=name, arguments=arguments, actions=actions, result=result, at=at)


def material(workspace: Path, answer: str = "", *calls: TranscriptCall, **changes: Any) -> RunMaterial:  # noqa: ANN401 -- any field
    messages = (TranscriptMessage(role="assistant", text=answer, at=99),)
    transcript = RunTranscript(host="prowess", form="session", messages=messages, calls=calls, ended="completed")
    given: dict[str, Any] = {
        "prompt": "Sort it",
        "expected_output": None,
        "answer": answer,
        "transcript": transcript,
        "workspace": str(workspace),
        "before": {},
        "after": digests(str(workspace)),
        "skill": "sort",
        "root": str(workspace),
        "activated": (),
        "turns": 1,
        "tokens": 100,
        "usd": 0.01,
    }
    return RunMaterial(**{**given, **changes})
