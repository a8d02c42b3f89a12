from __future__ import annotations

import pytest

from prowess.audit.record import AuditRecord
from prowess.http_server.pages.sessions import story_of


def record(number: int, kind: str, call: str | None = None, **data: object) -> AuditRecord:
    at = f"2026-11-29T10:00:{number:02}.000000Z"
    return AuditRecord(
        sequence=number, at=at, kind=kind, session_id="s", call_id=call, data=data, previous=None, hash=""
    )


@pytest.mark.proves("governance.ui.conversation")
def test_a_session_tells_what_was_active_when_what_was_refused_and_what_each_skill_cost() -> None:
    story = story_of(
        [
            record(1, "skill.loaded", skill="pdf", tokens=800),
            record(2, "tool.started", "a", skill="pdf", tool="Bash"),
            record(3, "tool.finished", "a", skill="pdf", tool="Bash", outcome="success", tokens=50),
            record(4, "skill.loaded", skill=["csv"], tokens=300),
            record(5, "tool.refused", "b", skill="csv", tool="Bash", code="policy_denied", rule="no-shell"),
            record(6, "skill.unloaded", skill="pdf"),
            record(7, "tool.started", "c", skill="csv", tool="Read"),
        ]
    )
    assert [(step.row.kind, step.active, step.total) for step in story.steps] == [
        ("skill.loaded", ("pdf",), 800),
        ("tool.finished", ("pdf",), 850),
        ("skill.loaded", ("pdf", "csv"), 1150),
        ("tool.refused", ("pdf", "csv"), 1150),
        ("skill.unloaded", ("csv",), 1150),
        ("tool.started", ("csv",), 1150),  # it has not ended
    ]
    assert (story.calls, story.refused, story.tokens) == (1, 1, 1150)
    assert story.cost == (("pdf", 850), ("csv", 300))
    assert ("rule", "no-shell") in story.steps[3].row.details
