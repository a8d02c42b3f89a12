"""`prowess conformance`: runs the conformance cases of the format on another tool and reports how far it agrees."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import click
from msgspec import structs

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.profile_names import completing_names
from prowess.conformance import Question, agreement, ask, cases_schema, suite
from prowess.conformance.cases import suite_text
from prowess.conformance.runner import SECONDS, by_topic, verdict
from prowess.errors import InvalidArgumentsError
from prowess.format import PROFILES, profile_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.cli.options import Command
    from prowess.conformance.cases import Case, Suite
    from prowess.conformance.runner import Answer

_MOST_JOBS = 16
_SHOWN = 120


def _print_and_leave(context: click.Context, option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 -- signature of a click callback
    if not wanted or context.resilient_parsing:
        return
    if option.name == "schema":
        output.raw(json.dumps(cases_schema(), indent=1, ensure_ascii=False) + "\n")
    else:
        output.raw(suite_text())
    context.exit(exit_codes.OK)


def _printing(flag: str, text: str) -> Callable[[Command], Command]:
    return click.option(flag, is_flag=True, is_eager=True, expose_value=False, callback=_print_and_leave, help=text)


def _exit_codes(flag: str, text: str) -> Callable[[Command], Command]:
    return click.option(flag, multiple=True, type=click.IntRange(0, 255), metavar="N", help=text)


@click.command("conformance")
@click.option(
    "--command",
    "words",
    metavar="WORDS",
    help="Command line of the tool, with {path}, {file} or {directory} for the skill. Run without a shell.",
)
@click.option(
    "--profile",
    default="spec",
    show_default=True,
    metavar="P",
    help="Profile to compare with.",
    shell_complete=completing_names(PROFILES),
)
@click.option("--select", multiple=True, metavar="TERM", help="Only these topics, ids or id patterns, comma-separated.")
@_exit_codes("--accepts-exit", "Exit code that means accept; defaults to 0. Repeatable.")
@_exit_codes("--rejects-exit", "Exit code that means reject; defaults to all others. Repeatable.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for one case.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, _MOST_JOBS),
    metavar="N",
    help="Number of cases at a time; defaults to one for each processor.",
)
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Print only the differences.")
@click.option("--lay-out", metavar="DIR", help="Write the cases to DIR, which must not exist, and run no tool.")
@_printing("--cases", "Print the cases as JSON.")
@_printing("--schema", "Print the JSON Schema of the cases.")
def command(
    *,
    words: str | None,
    profile: str,
    select: tuple[str, ...],
    accepts_exit: tuple[int, ...],
    rejects_exit: tuple[int, ...],
    timeout: float,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    lay_out: str | None,
) -> int:
    """Test another tool, in any language, with the conformance cases.

    The tool is run on each case in a temporary directory; its exit code is its answer. Prints by topic how far the tool
    agrees with a profile, and each difference with its reason. Exits with 1 if there is a difference. The tool runs
    with your permissions, without a sandbox.

    Example: prowess conformance --command 'othertool validate {path}'
    """
    cases = _asked(suite(), profile, select)
    if lay_out is not None:
        return _laid_out(cases, lay_out)
    question = _question(words, accepts_exit, rejects_exit, timeout)
    answers = _answers(question, cases, jobs or min(_MOST_JOBS, os.cpu_count() or 1))
    if as_json:
        output.document(_document(question, profile, answers))
    else:
        _print(question, profile, answers, quiet=quiet)
    return exit_codes.OK if agreement(answers, profile).whole else exit_codes.FAILED


def _asked(known: Suite, profile: str, select: Sequence[str]) -> tuple[Case, ...]:
    try:
        profile_named(profile)
        return known.select([term.strip() for terms in select for term in terms.split(",") if term.strip()])
    except InvalidArgumentsError as fault:
        raise click.UsageError(str(fault)) from fault


def _question(words: str | None, accepts: Sequence[int], rejects: Sequence[int], seconds: float) -> Question:
    if not words:
        raise click.UsageError(
            "name the tool, as in --command 'othertool validate {path}'; see prowess conformance --help"
        )
    try:
        argv = shlex.split(words)
        question = Question(
            argv=tuple(argv), accepts=frozenset(accepts or (0,)), rejects=frozenset(rejects), seconds=seconds
        )
    except (ValueError, InvalidArgumentsError) as fault:
        raise click.UsageError(f"--command cannot be used: {fault}") from fault
    if shutil.which(argv[0]) is None:
        raise click.UsageError(f"--command starts with {argv[0]!r}, and there is no such program on PATH")
    return question


def _answers(question: Question, cases: Sequence[Case], jobs: int) -> list[Answer]:
    if not sys.stderr.isatty():
        return ask(question, cases, jobs=jobs)
    with click.progressbar(length=len(cases), label="testing", file=sys.stderr) as bar:
        return ask(question, cases, jobs=jobs, told=lambda _: bar.update(1))


def _laid_out(cases: Sequence[Case], folder: str) -> int:
    os.makedirs(folder)
    for case in cases:
        try:
            case.lay_out(os.path.join(folder, case.id))
        except OSError as fault:
            output.note(f"{case.id}: not written completely, {fault.strerror}")
    output.line(f"{len(cases)} cases in {output.shown_path(folder)}, each in a folder with its id")
    return exit_codes.OK


def _print(question: Question, profile: str, answers: Sequence[Answer], *, quiet: bool) -> None:
    if not quiet:
        _print_tables(question, profile, answers)
    for answer in answers:
        judged = verdict(answer, profile)
        if judged == "agrees":
            continue
        case = answer.case
        expected = case.expect[profile]
        output.line(f"{case.id}: {judged}" + (f", {printable_line(answer.why)}" if answer.why else ""))
        asked_for = f": {', '.join(expected.rules)}" if expected.rules else ""
        output.line(f"  {expected.outcome}{asked_for} ({case.topic}: {case.reason}; {'; '.join(case.sources)})")
        if said := _first_line(answer.output):
            output.line(f"  output: {said}")


def _print_tables(question: Question, profile: str, answers: Sequence[Answer]) -> None:
    known = suite()
    output.line(printable_line(shlex.join(question.argv)))
    output.line(f"{len(answers)} cases, version {known.version}, {known.digest}")
    output.line()
    head = ("profile " + profile, "cases", "agrees", "accepts wrongly", "rejects wrongly", "no answer", "skipped")
    rows = [*by_topic(answers, profile).items(), ("all", agreement(answers, profile))]
    width = max(len(head[0]), *(len(name) for name, _ in rows))
    output.line("  ".join((f"{head[0]:<{width}}", *head[1:])))
    for name, row in rows:
        cells = (f"{count:>{len(title)}}" for count, title in zip(structs.astuple(row), head[1:], strict=True))
        output.line("  ".join((f"{name:<{width}}", *cells)))
    output.line()
    counts = (f"{name} {agreement(answers, name).agrees}" for name in known.profiles)
    output.line(f"agrees with {', '.join(counts)} of {len(answers)}")
    output.line()


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return printable_line(line[:_SHOWN]) + ("..." if len(line) > _SHOWN else "")


def _document(question: Question, profile: str, answers: Sequence[Answer]) -> dict[str, object]:
    known = suite()
    return {
        "command": list(question.argv),
        "profile": profile,
        "suite": {"version": known.version, "digest": known.digest},
        "summary": agreement(answers, profile),
        "profiles": {name: agreement(answers, name) for name in known.profiles},
        "topics": by_topic(answers, profile),
        "answers": [_entry(answer, profile) for answer in answers],
    }


def _entry(answer: Answer, profile: str) -> dict[str, object]:
    case = answer.case
    return {
        "case": case.id,
        "topic": case.topic,
        "reason": case.reason,
        "sources": list(case.sources),
        "expected": case.expect[profile].outcome,
        "rules": list(case.expect[profile].rules),
        "answered": answer.said,
        "verdict": verdict(answer, profile),
        "why": answer.why,
        "status": answer.status,
        "seconds": answer.seconds,
        "output": answer.output,
    }
