"""Which records a filter wants."""

from __future__ import annotations

import pytest

from prowess.audit.record import AuditEvent, seal
from prowess.audit.selection import RecordFilter


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        (RecordFilter(skills=("cafe\u0301",)), True),  # names are compared as the catalog compares them
        (RecordFilter(skills=("caf",)), False),
        (RecordFilter(kinds=("tool",)), True),
        (RecordFilter(kinds=("tool.started",)), True),
        (RecordFilter(kinds=("too",)), False),
        (RecordFilter(kinds=("tool.start",)), False),
        (RecordFilter(kinds=("too", "tool")), True),
    ],
)
def test_skills_are_compared_normalised_and_kinds_part_by_part(wanted: RecordFilter, *, fits: bool) -> None:
    event = AuditEvent(kind="tool.started", session_id="s", call_id="1", data={"skill": "caf\u00e9"})
    record, _ = seal(event, sequence=1, at="2026-01-01T00:00:00.000000Z", previous=None)
    assert wanted.fits(record) is fits


@pytest.mark.parametrize(
    ("skill", "fits"),
    [
        ("acme/deploy", True),
        ("deploy@acme", True),
        ("deploy", True),
        ("globex/deploy", False),
        ("deploy@globex", False),
        ("acme", False),
        ("acme/", False),
    ],
)
def test_a_plugins_skill_is_selected_by_its_qualified_names(skill: str, *, fits: bool) -> None:
    event = AuditEvent(kind="tool.started", session_id="s", call_id="1", data={"skill": "deploy", "source": "acme"})
    record, _ = seal(event, sequence=1, at="2026-01-01T00:00:00.000000Z", previous=None)
    assert RecordFilter(skills=(skill,)).fits(record) is fits
