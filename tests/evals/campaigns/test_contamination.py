from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.evals.campaigns.contamination import SkillTraces
from prowess.evals.transcripts.transcript import RunTranscript, ShellRun, TranscriptMessage
from tests.evals.campaigns.skills import PHRASE, skill_at
from tests.evals.graders.runs import call

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.transcripts.transcript import TranscriptCall


def run_of(*calls: TranscriptCall, answer: str = "done") -> RunTranscript:
    messages = (TranscriptMessage(role="assistant", text=answer, at=9),)
    return RunTranscript(host="prowess", form="session", messages=messages, calls=calls, ended="completed")


def test_an_activation_a_path_or_a_phrase_contaminates(tmp_path: Path) -> None:
    root = skill_at(tmp_path)
    traces = SkillTraces.of("sums", [str(root)])

    assert traces.seen_in(run_of(call("Skill", 3, result="Launching", skill="plugin:sums"))) == (
        "record 3 activates the skill sums"
    )
    assert traces.seen_in(run_of(call("Bash", 4, command=f"cat {root}/SKILL.md"))) is not None
    assert traces.seen_in(run_of(call("Bash", 5, result="x/sums/SKILL.md", command="find /"))) is not None
    command = 'cat "$HOME/../../skill/with_skill/sums/SKILL.md"'
    hidden = replace(call("Bash", 7, result="text", command=command), actions=(ShellRun(line=command),))
    assert traces.seen_in(run_of(hidden)) == "record 7 reads or runs the skill sums"
    seen = traces.seen_in(run_of(call("Bash", 6, result=f"1\t{PHRASE.upper()}", command="cat x")))
    assert seen is not None
    assert seen.startswith("record 6 has a line of the skill: write every sum")


def test_what_a_run_may_have_from_elsewhere_does_not_contaminate(tmp_path: Path) -> None:
    traces = SkillTraces.of("sums", [str(skill_at(tmp_path))])

    assert traces.seen_in(run_of(call("Read", result="The sums are here", path="a.csv"))) is None
    assert traces.seen_in(run_of(answer=PHRASE)) is None  # the model's own words
    assert traces.seen_in(run_of(call("Read", result=PHRASE, path="a")), given=(f"Note: {PHRASE}",)) is None
    assert traces.seen_in(run_of(replace(call("Skill", 3, skill="sums"), unknown_skill=True))) is None


def test_an_old_version_may_be_used_but_not_lines_that_only_the_new_one_has(tmp_path: Path) -> None:
    new = skill_at(tmp_path / "new")
    old_line = "Always round the sum to whole numbers, because the readers want that."
    (new / "SKILL.md").write_text((new / "SKILL.md").read_text() + old_line)
    traces = SkillTraces.of(None, [str(new)], without=[old_line])

    assert traces.seen_in(run_of(call("Skill", result=old_line, skill="sums"))) is None
    assert traces.seen_in(run_of(call("Skill", result=PHRASE, skill="sums"))) is not None
