"""What is kept of requests and answers, and what two requests are compared by."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from prowess.evals.iterations.snapshots import installed_files
from prowess.evals.recordings.drift import StaleRecordingError, changed_files, difference, require_fresh
from prowess.evals.recordings.places import with_names, with_paths
from prowess.evals.recordings.redaction import redact_transcript, redacted_content
from prowess.evals.recordings.request_form import form_digest, request_form
from prowess.evals.recordings.volatile_parts import VOLATILE, stable_text
from tests.agent.making import add_skill

CAPTURED = Path(__file__).parents[1] / "transcripts" / "captured"
TOKEN = "ghp_" + "a1B2" * 9
ONE, TWO = "0198f2a4-1111-7222-8333-444455556666", "0198f2a4-9999-7888-8777-666655554444"

# Of each host: what stands in a request, and what stands at the same place in the next run.
DIFFERING = [
    ("prowess", '{"t": "{\\"duration_ms\\": 12, \\"x\\": 1}"}', '{"t": "{\\"duration_ms\\": 9, \\"x\\": 1}"}'),
    ("prowess", f'{{"t": "artifact {ONE}/out.csv"}}', f'{{"t": "artifact {TWO}/out.csv"}}'),
    ("prowess", '{"t": "/tmp/prowess-artifacts-a1_x/f"}', '{"t": "/tmp/prowess-artifacts-b2/f"}'),
    (
        "claude",
        '{"id": "toolu_01AbC", "s": "cc_version=2.1.328.f00;"}',
        '{"id": "toolu_09Xyz", "s": "cc_version=2.1.328.a7;"}',
    ),
    ("claude", '{"t": "Today is 2026-11-28."}', '{"t": "Today is 2026-12-01."}'),
    ("codex", '{"t": "Chunk ID: ab12f\\nWall time: 0.0521 seconds"}', '{"t": "Chunk ID: 99\\nWall time: 1.2 seconds"}'),
    ("codex", '{"call_id": "call_abc-1"}', '{"call_id": "call_zz"}'),
    ("gemini", '{"t": "Process Group PGID: 4123"}', '{"t": "Process Group PGID: 77"}'),
    ("gemini", '{"t": "Today is Saturday, November 28, 2026"}', '{"t": "Today is Sunday, November 29, 2026"}'),
    ("copilot", '{"id": "call_1", "t": "2026-11-28T10:11:12.123Z"}', '{"id": "call_2", "t": "2026-11-29T01:01:01Z"}'),
]


@pytest.mark.parametrize(("host", "before", "after"), DIFFERING)
def test_parts_that_differ_in_every_run_are_not_compared(host: str, before: str, after: str) -> None:
    assert request_form(host, before.encode(), {}) == request_form(host, after.encode(), {})
    assert request_form("unknown", before.encode(), {}) != request_form("unknown", after.encode(), {})


def _files(skill: Path) -> dict[str, str]:
    return {file.path: file.sha256 for file in installed_files(str(skill)).files}


def test_every_volatile_part_has_a_reason_and_a_row_changes_only_what_it_names() -> None:
    assert set(VOLATILE) == {"prowess", "claude", "codex", "gemini", "copilot"}
    for host, rows in VOLATILE.items():
        assert all(row.reason and row.name for row in rows)
        plain = "Sum up march.csv by region; call report.py with 3 rows and 2.5 per cent, see step 4."
        assert stable_text(host, plain) == plain


@pytest.mark.parametrize("host", ["prowess", "claude", "codex", "gemini", "copilot"])
def test_a_different_prompt_figure_or_tool_is_a_difference_for_every_host(host: str) -> None:
    forms = {
        request_form(host, json.dumps(value).encode(), {})
        for value in ({"p": "Add 3"}, {"p": "Add 4"}, {"p": "Add 3", "tools": []}, {"p": "Add 3", "temperature": 0.5})
    }
    assert len(forms) == 4


def test_the_order_of_members_and_the_spacing_of_json_do_not_matter_but_the_order_of_a_list_does() -> None:
    assert request_form("x", b'{"a":1,"b":[1,2]}', {}) == request_form("x", b'{ "b": [1, 2],\n"a": 1 }', {})
    assert request_form("x", b'{"b":[1,2]}', {}) != request_form("x", b'{"b":[2,1]}', {})


@pytest.mark.parametrize("request_", [b"", b"\xff\xfe\x00", b"[" * 5000, b'"\\ud800"', b"NaN"])
def test_every_request_has_a_form(request_: bytes) -> None:
    form = request_form("prowess", request_, {})
    assert len(form_digest(form)) == 64
    assert form == request_form("prowess", request_, {})


def test_redacting_twice_changes_nothing_so_a_resumed_run_makes_the_same_request() -> None:
    once = request_form("x", json.dumps({"t": f"use {TOKEN} and password=hunter2hunter2"}).encode(), {})
    assert TOKEN not in once
    assert "hunter2" not in once
    assert request_form("x", once.encode(), {}) == once


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"text": f"{TOKEN}", "password": "hunter2hunter2", "n": [1, None, {"q": f'a "{TOKEN}"'}]}),
        f'event: x\r\ndata: {{"t": "{TOKEN}"}}\r\n\r\ndata: [DONE]\r\n',
        f'data: {{"t": "{TOKEN}"}}\n\ndata: token={TOKEN}\n: {TOKEN}\n',
        f"plain {TOKEN}\n",
    ],
)
def test_secrets_leave_an_answer_that_stays_what_it_was(content: str) -> None:
    kept = redacted_content(content.encode()).decode()
    assert TOKEN not in kept
    assert "hunter2" not in kept
    assert kept.count("\n") == content.count("\n")
    assert kept.count("\r\n") == content.count("\r\n")
    if content.startswith("{"):
        assert json.loads(kept) == {
            "text": "[redacted]",
            "password": "[redacted]",
            "n": [1, None, {"q": 'a "[redacted]"'}],
        }
    for line in kept.splitlines():
        if line.startswith("data: {"):
            json.loads(line.removeprefix("data: "))


@pytest.mark.parametrize("content", [b'{"a":  1}', b"\xff\x00", b"", b"data: {}\n\n"])
def test_an_answer_without_secrets_keeps_its_bytes(content: bytes) -> None:
    assert redacted_content(content) == content


def test_secrets_leave_the_files_of_a_transcript_and_other_records_keep_their_bytes(tmp_path: Path) -> None:
    harmless = '{"type":  "result"}'
    (tmp_path / "sub").mkdir()
    for name in ("main.jsonl", "sub/agent.jsonl"):
        (tmp_path / name).write_text(f'{harmless}\n{{"text": "a \\"{TOKEN}\\""}}\n{{"torn": "{TOKEN}\n')
    redact_transcript(str(tmp_path))
    for name in ("main.jsonl", "sub/agent.jsonl"):
        first, second, third, last = (tmp_path / name).read_text().split("\n")
        assert (first, json.loads(second), last) == (harmless, {"text": 'a "[redacted]"'}, "")
        assert TOKEN not in third
    (tmp_path / "one.json").write_text(json.dumps({"messages": [{"text": TOKEN}]}, indent=2))
    redact_transcript(str(tmp_path / "one.json"))
    assert json.loads((tmp_path / "one.json").read_text()) == {"messages": [{"text": "[redacted]"}]}


ESCAPED = "\\u00" + TOKEN.encode()[:1].hex() + TOKEN[1:]


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (f'{{"{TOKEN}":  1, "a": 2}}', '{"[redacted]": 1, "a": 2}'),
        (f'{{"a": "{TOKEN}", "a": "b"}}', '{"a": "[redacted]", "a": "b"}'),
        (f'{{"a": "{ESCAPED}"}}\n', '{"a": "[redacted]"}\n'),
        (f'{{"a": "{{\\"b\\": \\"\\{ESCAPED}\\"}}"}}', '{"a": "{\\"b\\": \\"[redacted]\\"}"}'),
        (f'{{"cut": "{ESCAPED}', '{"cut": "[redacted]'),
        (f'data: {{"a": "{ESCAPED}"}}\r\n\r\n', 'data: {"a": "[redacted]"}\r\n\r\n'),
        ('{"password": ["ab", {"c": "d"}, "", 1]}', '{"password": ["[redacted]", {"c": "[redacted]"}, "", 1]}'),
        ('{"db.secret": {"a": ["b"]}}', '{"db.secret": {"a": ["[redacted]"]}}'),
        ('{"Authorization": "Basic QWxhZGRpbg"}', '{"Authorization": "[redacted]"}'),
        (f'{{"a": "\udcff"}}\n{{"a": "{TOKEN}"}}', '{"a": "\udcff"}\n{"a": "[redacted]"}'),
        ('\ufeff{"token": ["ab"]}', '\ufeff{"token": ["[redacted]"]}'),
        (f'\udcff{{"a": "{ESCAPED}"}}', '\udcff{"a": "[redacted]"}'),
    ],
    ids=[
        "key",
        "twice",
        "escape",
        "inner",
        "cut",
        "event",
        "list",
        "object",
        "header",
        "byte",
        "mark",
        "line with a byte",
    ],
)
def test_a_secret_leaves_every_place_of_a_record(content: str, kept: str) -> None:
    clean = redacted_content(content.encode("utf-8", "surrogateescape"))
    assert clean == kept.encode("utf-8", "surrogateescape")
    assert redacted_content(clean) == clean


def test_captured_transcripts_keep_their_bytes() -> None:
    for path in filter(Path.is_file, CAPTURED.rglob("*")):
        content = path.read_bytes()
        assert redacted_content(content) == content, path


def test_a_path_is_recorded_by_name_and_read_as_the_path_of_the_new_place() -> None:
    before = {"/a/work": "workspace", "/a": "home"}
    text = with_names('{"p": "/a/work/x.csv", "q": "/a/other", "r": "/ab"}', before)
    assert with_paths(text, {'/b "q"/w': "workspace", "/h": "home"}) == (
        '{"p": "/b \\"q\\"/w/x.csv", "q": "/h/other", "r": "/ab"}'
    )


def test_a_difference_is_short_and_safe_to_print() -> None:
    recorded = json.dumps({"text": "one\ntwo\nthree\x1b[31m"}, indent=1)
    asked = json.dumps({"text": "one\n2\nthree\x1b[31m"}, indent=1)
    lines = difference(recorded, asked).splitlines()
    assert ("-two" in lines, "+2" in lines) == (True, True)
    assert "\x1b" not in difference("a\x1b[2J", "b\u202e")
    many = difference("\n".join(map(str, range(500))), "\n".join(map(str, range(500, 1000))))
    assert many.splitlines()[-1].startswith("… ")
    assert len(difference("x" * 9999, "y" * 9999)) < 1000


def test_a_changed_skill_makes_a_recording_stale_and_the_files_are_named() -> None:
    recorded = {"a/SKILL.md": "1", "a/gone.md": "2", "a/same": "3"}
    present = {"a/SKILL.md": "9", "a/new\x1b.md": "4", "a/same": "3"}
    assert changed_files(recorded, present) == ("a/SKILL.md", "a/gone.md", "a/new\x1b.md")
    require_fresh("iteration-1", recorded, dict(recorded))
    with pytest.raises(StaleRecordingError) as caught:
        require_fresh("iteration-1", recorded, present)
    assert "iteration-1 is stale: a/SKILL.md, a/gone.md, a/new\\x1b.md changed since" in str(caught.value)
    with pytest.raises(StaleRecordingError, match="and 2 more files changed"):
        require_fresh("x", {}, {str(number): "" for number in range(7)})


@pytest.mark.parametrize("host", ["prowess", "claude", "codex", "gemini", "copilot"])
@pytest.mark.parametrize(
    "piece", ["\\", '\\"duration_ms', "a-", "1", "call_", "toolu_-", "2026-11-28 ", "0-", "10:", "Chunk ID: ", "/tmp/"]
)
def test_a_hostile_request_is_read_in_time_that_grows_with_its_length(host: str, piece: str) -> None:
    request = json.dumps({"t": piece * (200_000 // len(piece))}).encode()
    begun = time.process_time()
    request_form(host, request, {})
    assert time.process_time() - begun < 2.0  # 0.1 s; a pattern that backtracks takes a minute


def test_a_change_of_a_skill_is_seen_but_not_one_of_its_evals(tmp_path: Path) -> None:
    add_skill(tmp_path, "a", run="true\n")
    (tmp_path / "a/evals").mkdir()
    (tmp_path / "a/evals/evals.json").write_text("{}", encoding="utf-8")
    before = _files(tmp_path / "a")
    assert set(before) == {"SKILL.md", "scripts/run.sh"}
    (tmp_path / "a/evals/evals.json").write_text("[]", encoding="utf-8")
    assert _files(tmp_path / "a") == before
    (tmp_path / "a/scripts/run.sh").write_text("false\n", encoding="utf-8")
    assert changed_files(before, _files(tmp_path / "a")) == ("scripts/run.sh",)
