"""The captured transcripts have the verdicts of the scripts. Texts of the hosts and paths of a machine are cut out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.hosts.cases import cases
from tools.hosts.scrub import OURS, Places, scrubbed

if TYPE_CHECKING:
    from collections.abc import Iterator

CAPTURED = Path(__file__).parent.parent / "transcripts/captured"
LINES = [json.loads(line) for line in (CAPTURED / "cases.jsonl").read_text().splitlines()]


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def test_every_transcript_has_the_verdict_that_stands_beside_its_script() -> None:
    stated = {
        (f"{case.id}.{form}", case.host, case.skill, case.query, case.verdict, form)
        for case in cases()
        for form in ("stream", "session")
        if case.form in (None, form)
    }
    kept = {
        (
            line["transcript"].removesuffix(".jsonl"),
            line["host"],
            line["skill"],
            line["query"],
            line["verdict"],
            line["form"],
        )
        for line in LINES
    }
    assert kept == stated
    assert len(LINES) == len(kept) >= 250
    assert all((CAPTURED / line["transcript"]).exists() for line in LINES)


@pytest.mark.unmeasured
def test_no_text_of_a_host_and_no_path_of_a_machine_is_kept() -> None:
    for path in CAPTURED.rglob("*.jsonl"):
        content = path.read_text(encoding="utf-8")
        assert re.findall(r"(?<![\w/])/(?!home/user\b)(?:tmp|root|var|opt|work|home)\b", content) == [], path.name
        for line in content.splitlines():
            long = [text for text in texts(json.loads(line)) if len(text) > 200]
            assert all(any(name in text for name in (*OURS, "notes.txt")) for text in long), path.name


def test_texts_of_a_host_are_cut_and_ids_stay_equal() -> None:
    identifier = "01a22974-980e-7eb1-9873-d2c82698ad47"
    records = [
        {
            "type": "session_meta",
            "payload": {"id": identifier, "cwd": "/tmp/x/project", "base_instructions": {"text": "A"}},
        },
        {"type": "event_msg", "payload": {"thread_id": identifier, "at": "2026-11-29T22:37:16.714Z"}},
    ]
    text = "".join(json.dumps(record) + "\n" for record in records)
    places = Places(home="/tmp/x/home", workspace="/tmp/x/project", temporary="/tmp/x")
    first, second = (json.loads(line)["payload"] for line in scrubbed(text, "codex", places).splitlines())
    assert (first["base_instructions"], first["cwd"]) == ("[cut]", "/home/user/project")
    assert first["id"] == second["thread_id"] == "00000000-0000-7000-8000-000000000001"
    assert second["at"] == "2026-01-01T00:00:00.000Z"
