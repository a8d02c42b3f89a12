"""`prowess eval judge`: judges transcripts of agents: was a skill chosen?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, get_args

import click
from msgspec import Struct, to_builtins

from prowess._internal.files.bounded_read import STANDARD_INPUT
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.evals.transcripts.reading import TranscriptFileError, read_named_transcript, read_transcript
from prowess.evals.transcripts.transcript import RunTranscript
from prowess.evals.verdicts.case_files import CaseFileError, JudgedCase, read_cases
from prowess.evals.verdicts.judging import verdict_of
from prowess.evals.verdicts.verdict import SkillVerdict, VerdictName

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMES: tuple[VerdictName, ...] = get_args(VerdictName)


@click.command(name="judge")
@click.argument("transcripts", metavar="[TRANSCRIPT]...", nargs=-1)
@click.option("--skill", metavar="NAME", help="The skill: NAME or PLUGIN:NAME.")
@click.option(
    "--query", metavar="TEXT", help="The request of the user; by default the user's messages in the transcript."
)
@click.option("--cases", "cases_file", metavar="FILE", help='JSON lines {"transcript", "skill", "query"?}, instead.')
@json_option
def judge(
    *, transcripts: tuple[str, ...], skill: str | None, query: str | None, cases_file: str | None, as_json: bool
) -> int:
    """Judge transcripts of agents: was the skill chosen?

    TRANSCRIPT is a file that Claude Code, Codex, Copilot CLI, Gemini CLI, Cursor, OpenCode or `prowess agent` wrote, as
    a stream or as a session, or a folder with a session and its sub-agents; - is standard input. The host is found from
    the content.

    Example: prowess eval judge run.jsonl --skill csv-report
    """
    if (cases_file is not None) == bool(transcripts):
        output.error("give transcripts, or --cases FILE: one of the two")
        return exit_codes.USAGE
    if transcripts.count(STANDARD_INPUT) > 1:
        output.error("standard input (-) has one transcript; name it once")
        return exit_codes.USAGE
    if cases_file is None and not (skill or "").strip():
        output.error("name the skill with --skill NAME")
        return exit_codes.USAGE
    if cases_file is not None and (skill is not None or query is not None):
        output.error("--skill and --query stand in the lines of --cases FILE; leave them out here")
        return exit_codes.USAGE
    try:
        if cases_file is not None:
            judged = [_judge(case, may_be_missing=True) for case in read_cases(cases_file)]
        else:
            given = [JudgedCase(transcript=one, skill=skill or "", query=query) for one in transcripts]
            judged = [_judge(case, may_be_missing=False) for case in given]
    except CaseFileError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.USAGE
    except TranscriptFileError as fault:
        output.error(printable_line(str(fault)))
        return exit_codes.UNAVAILABLE
    _print(judged, as_json=as_json)
    return exit_codes.OK


class _Judged(Struct, frozen=True, kw_only=True):
    case: JudgedCase
    run: RunTranscript
    verdict: SkillVerdict


def _judge(case: JudgedCase, *, may_be_missing: bool) -> _Judged:
    try:
        if case.within is None:
            run = read_named_transcript(case.transcript)
        else:
            run = read_transcript(case.transcript, within=case.within)
    except TranscriptFileError as fault:
        if not may_be_missing:
            raise
        output.note(printable_line(str(fault)))
        run = RunTranscript(host=None, form=None, ended="error", end_reason=f"no transcript: {fault.reason}")
    return _Judged(case=case, run=run, verdict=verdict_of(run, skill=case.skill, query=case.query))


def _print(judged: Sequence[_Judged], *, as_json: bool) -> None:
    counts = Counter(one.verdict.verdict for one in judged)
    decided = counts["triggered"] + counts["not_triggered"]
    rate = counts["triggered"] / decided if decided else None
    unread = sum(one.verdict.unread_lines for one in judged)
    if unread:
        remedy = "install the shell grammar (pip install 'prowess[shell]')"
        output.note(f"{counted(unread, 'command line')} not read, which may hide a use of the skill: {remedy}")
    if as_json:
        summary: dict[str, object] = {"cases": len(judged)}
        summary |= {name: counts[name] for name in _NAMES}
        summary |= {"rate": rate, "unread_lines": unread}
        output.document({"verdicts": [_row(one) for one in judged], "summary": summary})
        return
    for one in judged:
        host = f"{one.run.host or 'unknown host'}, {one.run.ended}"
        why = one.verdict.evidence[0] if one.verdict.evidence else None
        told = (
            ""
            if why is None
            else f": {why.kind}{'' if why.at is None else f' at {why.at}'}, {printable_line(why.detail)}"
        )
        output.line(f"{one.verdict.verdict:<13} {printable_line(one.case.transcript)} ({host}){told}")
    named = ", ".join(f"{counts[name]} {name}" for name in _NAMES if counts[name])
    output.line(f"{counted(len(judged), 'transcript')}: {named}{'' if rate is None else f'; rate {rate:.3f}'}")


def _row(one: _Judged) -> dict[str, object]:
    row: dict[str, object] = {
        "transcript": one.case.transcript,
        "host": one.run.host,
        "form": one.run.form,
        "skill": one.case.skill,
        "verdict": one.verdict.verdict,
        "ended": one.run.ended,
        "offered": one.verdict.offered,
        "evidence": to_builtins(one.verdict.evidence),
    }
    taken = {key: value for key, value in one.case.further.items() if key in row}  # such as the expected verdict
    row |= {key: value for key, value in one.case.further.items() if key not in row}
    return row | ({"case": taken} if taken else {})
