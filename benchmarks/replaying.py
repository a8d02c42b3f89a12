"""`prowess policy replay` of generated records beside `json.loads` over the same lines, in processor time."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from typing import TYPE_CHECKING

from benchmarks.figures import Command, Figure, beside, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.corpora import Corpus

RECORDS = 1_000_000
FACTS = 20_000  # different facts among them
KINDS = ("tool.started", "tool.started", "tool.refused")
_LOADS = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)\n"
POLICY = """
default = "allow"
[[rule]]
id = "no-contractors"
effect = "deny"
tool = "skills.*"
match = { who.role = "contractor", skill.layer = "project" }
[[rule]]
id = "pushes"
effect = "ask"
tool = "Bash"
match = { command = "git push:*" }
"""


def lines(records: int, facts: int, seed: int = 7) -> Iterator[str]:
    """Yield records as `audit show --json` prints them, one on each line."""
    draw = random.Random(seed)  # noqa: S311 -- nothing here is secret
    kept = [drawn_data(draw) for _ in range(facts)]
    for sequence in range(1, records + 1):
        record = {
            "sequence": sequence,
            "at": f"2026-11-{1 + sequence % 28:02}T{sequence % 24:02}:00:00.000000Z",
            "kind": draw.choice(KINDS),
            "session_id": f"s{sequence % 997}",
            "call_id": str(sequence),
            "data": draw.choice(kept),
            "previous": f"sha256:{sequence - 1:064x}",
            "hash": f"sha256:{sequence:064x}",
        }
        yield json.dumps(record)


def drawn_data(draw: random.Random) -> dict[str, object]:
    """Return the data of a record."""
    number = draw.randrange(500)
    return {
        "tool": draw.choice(("skills.load", "skills.read", "skills.run_script", "Bash", "Read", "publish")),
        "skill": f"skill-{number}",
        "digest": f"sha256:{number:064x}",
        "source": f"/srv/skills-{number % 7}",
        "publisher": None,
        "layer": draw.choice(("project", "enterprise", "personal", "plugin")),
        "rule": "default",
        "approval": None,
        "user": f"user-{draw.randrange(200)}",
        "team": draw.choice(("finance", "sales", None)),
        "roles": draw.choice((["author"], ["contractor"], [], None)),
        "agent": draw.choice(("main", "reviewer", None)),
        "tenant": "acme",
        "environment": draw.choice(("production", "staging")),
        "client": "editor 1.0",
        "host": f"host-{draw.randrange(20)}",
        "trigger": "model",
        "uid": 1000,
        "identified_by": "system",
        "arguments": {"names": 14},
        "arguments_bytes": 40,
        "arguments_sha256": f"sha256:{number:064x}",
        "policy_version": f"sha256:{number:064x}",
    }


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes; the corpora are not used."""
    del corpora
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        path, policy = os.path.join(place, "records.jsonl"), os.path.join(place, "new.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines(RECORDS, FACTS))
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        commands = {
            "replay": Command(arguments=[PROWESS, "policy", "replay", policy, "--records", path, "--json"]),
            "loads": Command(arguments=[sys.executable, "-c", _LOADS, path]),
        }
        times = spent(commands, max(2, rounds // 10))
    return [
        Figure(
            name="`prowess policy replay` of 1 000 000 records from a file, against `json.loads` over its lines",
            value=times["replay"].processor / times["loads"].processor,
            at_most=3,
            note=f"processor time of whole processes: {beside(times['replay'], '`json.loads`', times['loads'])}",
        )
    ]
