"""`prowess check`: reports all faults of any number of skills, each with its position and reason."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.check_run import CheckRun
from prowess.cli.options.configuration_options import configuration_options, open_configuration
from prowess.cli.options.scheduler_options import scheduler_at, scheduler_option
from prowess.cli.skill_result import Silencing
from prowess.cli.targets import STANDARD_INPUT, is_folder_of_skills, targets
from prowess.config.settings import FORMATS
from prowess.lint import RULES
from prowess.report import Tally
from prowess.report.forms import render
from prowess.report.text_report import TextLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess._internal.batch import BatchEngine
    from prowess.cli.check_cache import CheckCache
    from prowess.cli.fixing import Fixing
    from prowess.cli.targets import Target
    from prowess.config import Configuration
    from prowess.config.baseline import Baseline

_FEWEST_CACHED = 8  # fewer skills are judged in the time that Python takes to start


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@configuration_options
@click.option("--format", "form", type=click.Choice(FORMATS), help="Format of the report; defaults to text.")
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--fix", "fix", is_flag=True, help="Apply safe fixes to the files.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: include fixes that may change the meaning.")
@click.option("--diff", is_flag=True, help="Show what would be fixed, without writing.")
@click.option("--baseline", metavar="FILE", help="Report only findings that are not in FILE.")
@click.option("--write-baseline", is_flag=True, help="Write the findings to the file given with --baseline.")
@click.option("--no-cache", is_flag=True, help="Neither use nor store results for later checks.")
@click.option("-j", "--jobs", metavar="N", default="1", help="Number of processes; 0 or auto: one for each core.")
@scheduler_option("Check")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are errors.")
@click.option("--stdin-path", metavar="FILE", help="Path to report for standard input (-).")
@click.option("-q", "--quiet", is_flag=True, help="Print only the findings, without summary and notes.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print every info. Without it, three or more infos of one rule are only counted.",
)
def command(
    *,
    paths: tuple[str, ...],
    form: str | None,
    as_json: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    baseline: str | None,
    write_baseline: bool,
    no_cache: bool,
    jobs: str,
    on: str | None,
    exit_zero: bool,
    stdin_path: str | None,
    quiet: bool,
    verbose: bool,
    **options: Any,  # noqa: ANN401 -- passed on to configuration_options
) -> int:
    """Find every fault in skills, with position and reason.

    PATH is a skill, its SKILL.md, a folder of skills, or - for one SKILL.md on standard input. It defaults to the
    working directory. Options override the settings in prowess.toml, which `prowess config show` prints.

    Exits with 1 if there are errors; warnings and infos do not count. With --fix, only the remaining findings are
    reported. --diff also exits with 1 if it shows a difference.

    --on needs the extra scale. The workers read each skill at its path, so the folder must be shared with them.

    Example: prowess check . --select spec,reference --ignore name.ascii
    """
    form = "json" if as_json else form
    processes = _processes(jobs)
    given: dict[str, Any] = {"format": () if form is None else (form,), **options}
    configuration = open_configuration(quiet=quiet, **given)
    _require_workers_can(on, paths, changes=fix or diff, processes=processes)
    fixing = _fixing(paths, fix=fix, unsafe=unsafe_fixes, diff=diff, form=form)
    known = _baseline(baseline, write=write_baseline, diff=diff)
    run = CheckRun(configuration, Silencing(configuration, None if write_baseline else known))
    found = tuple(targets(paths or (".",), stdin_path))
    if fixing is not None:
        run.fix(found, fixing)
    else:
        cache = None if no_cache or on is not None or len(found) < _FEWEST_CACHED else _cache(paths)
        with ExitStack() as entered:
            run.judge(found, cache, _engine(entered, found, processes, on))
    run.judge_between(whole=any(map(is_folder_of_skills, paths or (".",))))
    if not quiet:
        _note_skipped(run, configuration)
    if known is not None and write_baseline:
        number = known.write(run.everything)
        if not quiet:
            output.note(printable_line(f"wrote {counted(number, 'finding')} to {known.path}"))
        return exit_codes.OK
    if known is not None and not quiet and (gone := known.gone(run.everything)):
        output.note(f"resolved since the baseline: {counted(gone, 'finding')}; update it with --write-baseline")
    if not diff:
        name = str(configuration.value("format").value)
        layout = TextLayout(style=output.styled, width=output.width(), verbose=verbose)
        output.raw(render(name, run.skills, layout=layout, summary=not quiet, rules=RULES))
    failed = Tally.of(run.skills).errors > 0
    if fixing is not None:
        failed = failed or fixing.left_alone > 0 or (diff and fixing.files > 0)
        if not quiet:
            output.note(fixing.summary())
            if diff and not fixing.files and (left := Tally.of(run.skills).errors):
                # Otherwise only the exit code would show that these errors exist.
                output.note(f"not fixed: {counted(left, 'error')}; see `prowess check`")
    return exit_codes.OK if exit_zero or not failed else exit_codes.FAILED


def _note_skipped(run: CheckRun, configuration: Configuration) -> None:
    if run.excluded:
        where = output.shown_path(str(configuration.value("exclude").origin))
        output.note(f"{counted(run.excluded, 'skill')} excluded by {where}")
    if run.not_honoured:
        found = counted(run.not_honoured, "finding")
        output.note(f"comments that suppress {found} are ignored; run `prowess trust` or use --suppressions on")


def _processes(jobs: str) -> int:
    if jobs == "auto":
        jobs = "0"
    if not (jobs.isascii() and jobs.isdigit()):
        raise click.UsageError(f"--jobs must be a number or auto, not {jobs!r}")
    return int(jobs) or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def _require_workers_can(on: str | None, paths: tuple[str, ...], *, changes: bool, processes: int) -> None:
    if on is None:
        return
    if changes or processes != 1:
        raise click.UsageError(f"--on and {'--fix or --diff' if changes else '--jobs'} exclude each other")
    if STANDARD_INPUT in paths:
        raise click.UsageError("workers cannot read standard input; leave out --on")


def _engine(entered: ExitStack, found: Sequence[Target], processes: int, on: str | None) -> BatchEngine | None:
    """Return what checks the skills, or None for this process. What has to be closed is left to `entered`."""
    if on is not None:
        return entered.enter_context(scheduler_at(on))
    if min(processes, len(found)) > 1 and all(target.named != STANDARD_INPUT for target in found):
        from prowess.evals.local_batch import LocalBatch  # Imported here because most checks need one process.

        return LocalBatch(processes)
    return None


def _cache(paths: tuple[str, ...]) -> CheckCache:
    from prowess.cli.check_cache import CheckCache  # Imported here because a check of few skills uses no cache.

    return CheckCache(paths)


def _baseline(path: str | None, *, write: bool, diff: bool) -> Baseline | None:
    if path is None:
        if write:
            raise click.UsageError("--write-baseline needs --baseline FILE")
        return None
    if write and diff:
        raise click.UsageError("--diff writes no file; leave out --write-baseline")
    from prowess.config.baseline import Baseline  # Imported here because most checks have no baseline.

    return Baseline.at(path) if write else Baseline.read(path)


def _fixing(paths: tuple[str, ...], *, fix: bool, unsafe: bool, diff: bool, form: str | None) -> Fixing | None:
    if not (fix or diff):
        if unsafe:
            raise click.UsageError("--unsafe-fixes needs --fix or --diff")
        return None
    if fix and not diff and STANDARD_INPUT in paths:
        raise click.UsageError("standard input cannot be fixed; use --diff to see the changes")
    if diff and form not in {None, "text"}:
        raise click.UsageError(f"--diff and --format {form} exclude each other")
    from prowess.cli.fixing import Fixing  # Imported here because most checks change no files.

    return Fixing(unsafe=unsafe, writes=not diff)
