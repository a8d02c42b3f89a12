"""A campaign of one unit, as a process of its own that can be killed: `one_run.py JSON` prints the outcome as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio

from prowess.evals.hosts.command_host import CommandHost
from prowess.evals.hosts.host import HostLimits, HostRequest
from prowess.evals.hosts.programs import host_program
from prowess.evals.ledger.caps import CapReachedError, Caps
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.recorded_calls import RecordedCalls
from prowess.evals.verdicts.judging import verdict_of

SKILL, QUERY = "pdf-tables", "Get the rows of report.pdf into a spreadsheet"


async def outcome(settings: dict[str, str]) -> dict[str, object]:
    """Run the host once, with a ledger or with a replay of one."""
    place = Path(settings["place"])
    directory, workspace = place / "run", place / "workspace"
    directory.mkdir(parents=True, exist_ok=True)
    workspace.mkdir(exist_ok=True)
    (workspace / "notes.txt").write_text("Rows first.\n")
    journal = Path(settings["journal"])
    calls = (
        RecordedCalls(journal)
        if settings["mode"] == "replay"
        else Ledger(journal, JournalHeader(skill=SKILL), Caps(calls=int(settings.get("calls", "50"))))
    )
    request = HostRequest(
        unit="eval-1.with.1",
        prompt=QUERY,
        skills=(settings["skill"],),
        workspace=str(workspace),
        directory=str(directory),
        limits=HostLimits(seconds=120),
    )
    variables = {
        "OPENAI_API_KEY": "key-0000-secret",
        "ANTHROPIC_API_KEY": "key-0000-secret",
        "GEMINI_API_KEY": "key-0000-secret",
    }
    with calls:
        async with CommandHost(
            host_program(settings["host"]),
            calls,
            model=settings.get("model"),
            upstream=settings["upstream"],
            executable=tuple(settings["executable"].split("\n")) if "executable" in settings else None,
            environment=variables,
        ) as host:
            try:
                run = await host.run(request)
            except CapReachedError as fault:
                return {"cap": fault.cap, "booked": calls.spent.calls}
        spent = calls.spent
    verdict = verdict_of(run.transcript, skill=SKILL, query=QUERY)
    return {
        "verdict": verdict.verdict,
        "calls": len(run.transcript.calls),
        "ended": run.transcript.ended,
        "answer": run.answer,
        "error": run.error,
        "booked": spent.calls,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(anyio.run(outcome, json.loads(sys.argv[1]))))
