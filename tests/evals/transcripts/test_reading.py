"""Reading transcripts: names, folders, ends, usage, who activated a skill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.evals.transcripts.reading import TranscriptFileError, read_transcript, read_transcript_text
from prowess.evals.verdicts.judging import verdict_of
from tests.evals.transcripts.tables.claude_session import CLAUDE_SESSION
from tests.evals.transcripts.tables.other import own
from tests.evals.transcripts.written import (
    HERE,
    SKILL,
    E,
    N,
    T,
    answer,
    chat,
    closes,
    copilot,
    event,
    init,
    lines,
    message,
    meta,
    opens,
    result,
    said,
    says,
    session,
    skill,
    stopped,
    typed,
    use,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_the_verdict_is_about_the_name_that_is_asked_for() -> None:
    stream = lines(init([f"a:{SKILL}", f"b:{SKILL}"]), skill(f"b:{SKILL}"), answer(), result())
    asked = {
        name: verdict_of(read_transcript_text(stream), skill=name).verdict
        for name in (f"a:{SKILL}", f"b:{SKILL}", SKILL)
    }
    assert asked == {f"a:{SKILL}": N, f"b:{SKILL}": T, SKILL: T}


@pytest.mark.parametrize(
    ("name", "called"),
    [("café-notes", "cafe\u0301-notes"), ("pdf", "\uff30\uff24\uff26"), ("straße", "STRASSE"), ("pdf", " pdf\n")],
)
def test_names_are_compared_in_one_unicode_form_and_without_case(name: str, called: str) -> None:
    stream = lines(init(), skill(called), answer(), result())
    assert verdict_of(read_transcript_text(stream), skill=name, query="x").verdict == T


def test_a_folder_is_a_session_with_its_sub_agents(tmp_path: Path) -> None:
    main = lines(
        typed("Chart it"),
        stopped(use("Task", {"prompt": "x"}, "t0"), "tool_use"),
        session(answer(id_="t0")),
        stopped(says(), "end_turn"),
    )
    agents = tmp_path / "s" / "subagents"
    agents.mkdir(parents=True)
    (tmp_path / "s.jsonl").write_bytes(main)
    (agents / "agent-1.jsonl").write_bytes(
        lines(
            stopped(skill(), "tool_use", isSidechain=True, agentId="1"),
            session(answer(), isSidechain=True, agentId="1"),
        )
    )
    (agents / "agent-1.meta.json").write_text("{}")
    for path in (tmp_path, tmp_path / "s.jsonl"):
        run = read_transcript(path)
        assert verdict_of(run, skill=SKILL).verdict == T
        assert [call.agent for call in run.calls] == ["main", "1"]
        assert run.ended == "completed"
    assert verdict_of(read_transcript_text(main), skill=SKILL).verdict == N


def test_a_folder_with_two_sessions_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "transcript.jsonl").write_bytes(
            lines(typed("Chart it", sessionId=name), stopped(says(), "end_turn", sessionId=name))
        )
    with pytest.raises(TranscriptFileError, match=r"2 sessions \(a/transcript\.jsonl, b/transcript\.jsonl\)"):
        read_transcript(tmp_path)


def test_a_folder_without_a_transcript_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert verdict_of(read_transcript(tmp_path), skill=SKILL).verdict == E


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(lines(init(HERE), skill(), answer(), result()))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.jsonl").symlink_to(outside)
    assert read_transcript(tmp_path / "run").host is None


def _session_with_sub_agent(folder: Path, name: str) -> None:
    (folder / f"{name}.jsonl").write_bytes(lines(typed("Chart it"), stopped(says(), "end_turn")))
    (folder / name).mkdir()
    (folder / name / "agent-1.jsonl").write_bytes(
        lines(stopped(skill(), "tool_use", isSidechain=True, agentId="1"), session(answer(), isSidechain=True))
    )


def test_a_linked_folder_beside_a_session_brings_nothing(tmp_path: Path) -> None:
    _session_with_sub_agent(tmp_path, "private")
    (tmp_path / "foreign.jsonl").write_bytes(lines(typed("Chart it"), stopped(says(), "end_turn")))
    (tmp_path / "foreign").symlink_to(tmp_path / "private")
    assert read_transcript(tmp_path / "private.jsonl").calls
    assert not read_transcript(tmp_path / "foreign.jsonl").calls


@pytest.mark.parametrize("path", ["../private.jsonl", "link.jsonl", "linked/private.jsonl", "linked/private"])
def test_nothing_outside_of_a_foreign_folder_is_read(tmp_path: Path, path: str) -> None:
    _session_with_sub_agent(tmp_path, "private")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "link.jsonl").symlink_to(tmp_path / "private.jsonl")
    (tmp_path / "foreign" / "linked").symlink_to(tmp_path)
    with pytest.raises(TranscriptFileError, match=r"symbolic link|'\.\.' component"):
        read_transcript(path, within=tmp_path / "foreign")


def test_a_session_in_a_foreign_folder_is_read_with_its_sub_agents(tmp_path: Path) -> None:
    _session_with_sub_agent(tmp_path, "s")
    assert [call.agent for call in read_transcript("s.jsonl", within=tmp_path).calls] == ["1"]


def test_a_second_file_of_a_session_does_not_replace_the_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(typed("Chart it"), stopped(says(), "end_turn")))
    (tmp_path / "b.jsonl").write_bytes(
        lines(typed("Chart it"), stopped(says(), "end_turn"), stopped(says(), "end_turn"))
    )
    with pytest.raises(TranscriptFileError, match="2 sessions"):
        read_transcript(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(TranscriptFileError, match="not a regular file"):
        read_transcript(tmp_path / "pipe.jsonl")
    with pytest.raises(TranscriptFileError, match="not a regular file"):
        read_transcript("pipe.jsonl", within=tmp_path)
    assert read_transcript(tmp_path).host is None


def test_a_device_is_refused() -> None:
    with pytest.raises(TranscriptFileError, match="not a regular file"):
        read_transcript("/dev/zero")


def test_a_missing_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(TranscriptFileError, match=r"none\.jsonl"):
        read_transcript(tmp_path / "none.jsonl")


def test_usage_cost_and_end_are_read() -> None:
    told = {"total_cost_usd": 0.25, "usage": {"input_tokens": 5, "cache_read_input_tokens": 10, "output_tokens": 7}}
    run = read_transcript_text(lines(init(HERE), says("Hello."), {**result("error_max_turns", is_error=True), **told}))
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (15, 7, 0.25)
    assert (run.ended, run.end_reason, run.end_at, run.answer, run.session) == (
        "limit",
        "error_max_turns",
        3,
        "Hello.",
        "s",
    )
    own_run = read_transcript_text(own())
    assert own_run.usage is not None
    assert (own_run.usage.tokens, own_run.usage.cost_usd) == (7, 0.5)


def test_activations_tell_who_made_them() -> None:
    run = read_transcript_text(CLAUDE_SESSION["a command, then a call"][0])
    assert [(one.skill, one.by, one.how) for one in run.activations] == [
        (SKILL, "user", "command"),
        (SKILL, "model", "Skill"),
    ]


@pytest.mark.parametrize(
    ("text", "skill"),
    [
        (f'<skill-context name="{SKILL}">\n# Charts\n</skill-context>', SKILL),
        (f"Chart it\n<skill_context>\nname: {SKILL}\n# Charts\n</skill_context>", SKILL),
        (f"<skill_context>\nBase directory for this skill: /w/.x/skills/{SKILL}\n# Charts", SKILL),
        (f"<activated_skill name='{SKILL}'># Charts</activated_skill>", SKILL),
        (f"<skill><name>{SKILL}</name># Charts</skill>", SKILL),
        (f"<available_skills><skill><name>{SKILL}</name></skill></available_skills>", None),
        (f"Chart it. <b>name: {SKILL}</b>", None),
    ],
)
def test_a_skill_inside_a_message_was_put_in(text: str, skill: str | None) -> None:
    streams = [
        lines(chat(), said("1", "user", text), said("2", "gemini", "Done.")),
        lines(*opens()[:1], copilot("user.message", {"content": text}), *closes()),
        lines(meta(), message("user", text), event("task_complete")),
        lines(typed(text), stopped(says(), "end_turn")),
    ]
    for stream in streams:
        run = read_transcript_text(stream)
        assert [one.skill for one in run.activations] == ([skill] if skill else []), run
