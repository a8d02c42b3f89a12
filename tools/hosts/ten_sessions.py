"""Ten fresh sessions of the real Claude Code with one request, through the gateway, with a provider that chooses.

    python -m tools.hosts.ten_sessions OUT         in a network namespace with loopback alone

The provider knows nothing but the request that the host sends: it takes the skill of the host's own list whose
description shares most words with what the user wrote. In the sixth session it chooses nothing, as a model with a
temperature may. OUT gets the ten transcripts, without the host's own texts, and `sessions.json`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prowess.evals.hosts.claude import CLAUDE
from tools.hosts.capture import BODIES, PROGRAMS, is_loopback_alone
from tools.hosts.scripted_provider import ScriptedProvider
from tools.hosts.scrub import OURS, Places, scrubbed
from tools.hosts.wire_forms import ScriptedCall, Turn

if TYPE_CHECKING:
    from tools.hosts.wire_forms import Conversation

SKILL = "pdf-tables"
QUERY = "Get the tables of report.pdf into a spreadsheet"
SESSIONS, FORGETFUL = 10, 6
_PLACES = (
    (re.compile(r"/\w+/prowess-home-\w+"), "/home/user"),
    (re.compile(r"/\w+/prowess-triggers-\w+/workspace"), "/home/user/project"),
    (re.compile(r"-\w+-prowess-triggers-[A-Za-z0-9-]+-workspace"), "-home-user-project"),
)
_LISTED = re.compile(r"^- ([a-z0-9:-]+): (.+)$", re.MULTILINE)


class ChoosingProvider(ScriptedProvider):
    """Chooses a skill from the list in the request, in all sessions but one. `listed` are our skills in each list."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions = 0
        self.listed: list[list[str]] = []

    def answer(self, body: dict[str, Any], conversation: Conversation) -> Turn:
        """Choose at the start of a session, and end at the second turn."""
        if not conversation.has_tools or conversation.answered:
            return Turn(text="Done.")
        self.sessions += 1
        skills = dict(_LISTED.findall("\n".join(_texts(body))))
        self.listed.append(sorted(name for name in skills if name in OURS))
        if self.sessions == FORGETFUL:
            return Turn(text="I read the file myself.")
        wanted = _words(QUERY)
        best = max(sorted(skills), key=lambda name: len(wanted & _words(skills[name])))
        return Turn(text="A skill fits.", calls=(ScriptedCall(name="Skill", arguments={"skill": best}),))


def main() -> int:
    """Record the sessions."""
    if not is_loopback_alone():
        print("this machine has a network: run it under unshare -n (make hosts does)", file=sys.stderr)
        return 2
    found = record(Path(sys.argv[1]))
    print(json.dumps({name: found[name] for name in ("row", "first_requests", "listed")}))
    return 0


def record(out: Path) -> dict[str, Any]:
    """Run the ten sessions with `prowess eval triggers`, keep their transcripts in `out`, and return what is known."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sessions-") as made, ChoosingProvider() as provider:
        place = Path(os.path.realpath(made))
        report = _triggers(place, provider.url)
        iteration = Path(report["iteration"])
        runs = sorted(iteration.glob(f"request-*/{SKILL}/run-*"), key=lambda path: int(path.name[4:]))
        for number, text in enumerate(_scrubbed([(run / "stream.jsonl").read_text("utf-8") for run in runs]), 1):
            (out / f"session-{number:02}.jsonl").write_text(text, encoding="utf-8")
        found = {
            "skill": SKILL,
            "query": QUERY,
            "host": report["host"],
            "row": report["results"][0],
            "first_requests": len(_first_requests(iteration / "journal.jsonl")),
            "listed": provider.listed[0] if len({tuple(names) for names in provider.listed}) == 1 else provider.listed,
            "calls": report["spent"]["calls"],
        }
    (out / "sessions.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return found


def _scrubbed(transcripts: list[str]) -> list[str]:
    """Return the transcripts, cut together: what differs between sessions, such as their ids, still does."""
    joined = "\x00".join(transcripts)
    for pattern, fixed in _PLACES:
        joined = pattern.sub(fixed, joined)
    places = Places(home="/home/user", workspace="/home/user/project", temporary="/home/user/tmp")
    return scrubbed(joined, "claude", places, separator="\x00").split("\x00")


def _triggers(place: Path, address: str) -> dict[str, Any]:
    for name in ("pdf-tables", "release-notes", "invoices"):
        description, body = BODIES[name]
        (place / name / "evals").mkdir(parents=True)
        (place / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}")
    (place / SKILL / "evals/triggers.json").write_text(json.dumps([{"query": QUERY, "should_trigger": True}]))
    (place / "bin").mkdir()
    program = place / "bin/claude"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAMS["claude"])} "$@"\n')
    program.chmod(0o755)
    neighbours = ("--with", str(place / "release-notes"), "--with", str(place / "invoices"))
    words = ("--runs", str(SESSIONS), "--all-runs", "--min-consistency", "0.9", "--jobs", "1", "--json")
    given = {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", CLAUDE.upstream_variable: address}
    prowess = Path(sys.executable).with_name("prowess")
    done = subprocess.run(
        [prowess, "eval", "triggers", place / SKILL, "--host", "claude", *neighbours, *words],
        env={**os.environ, **given, CLAUDE.credentials[0]: "key-scripted-0000"},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _first_requests(journal: Path) -> Counter[str]:
    """Return how many sessions began with each request; requests are equal but for the host's volatile parts."""
    first: dict[str, str] = {}
    for line in journal.read_text("utf-8").splitlines():
        record = json.loads(line)
        if "request" in record:
            first.setdefault(record["unit"], record["request"])
    return Counter(first.values())


def _texts(value: object) -> list[str]:
    """Return all texts in JSON data."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3}  # noqa: PLR2004 -- no "of", "the"


if __name__ == "__main__":
    sys.exit(main())
