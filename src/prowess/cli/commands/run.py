"""`prowess run`: runs one script of one skill in the sandbox, under the rules of a session."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import click

from prowess._internal.files.contained import check_relative
from prowess._internal.text.terminal_text import printable_line
from prowess._internal.uuid7 import uuid7
from prowess.cli import exit_codes, output
from prowess.cli.live_output import LiveOutput
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import open_rules, open_workspace, policy_option, workspace_options
from prowess.cli.options.skill_completion import complete_script, complete_skill
from prowess.cli.signals import ended_in_order
from prowess.errors import ResourceNotFoundError, UnsafePathError
from prowess.runtime import SessionOptions, SyncSession
from prowess.runtime.events.event import ScriptStarted
from prowess.runtime.scripts import ScriptRules
from prowess.tools.gates import TerminalApprover

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.format import Skill
    from prowess.runtime.events.event import SessionEvent

_LONGEST_SECONDS = 600
_MOST_SCRIPTS = 30


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("name", shell_complete=complete_skill)
@click.argument("script", shell_complete=complete_script)
@click.argument("arguments", nargs=-1)
@catalog_options
@workspace_options
@policy_option
@click.option(
    "--out", type=click.Path(file_okay=False), help="Keep the files that the script writes to $OUT in this directory."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=_LONGEST_SECONDS),
    help="Time limit in seconds; defaults to 30.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
def command(
    *,
    name: str,
    script: str,
    arguments: tuple[str, ...],
    skills: CatalogOptions,
    workspace: str | None,
    write: bool,
    policy_file: str | None,
    out: str | None,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Run SCRIPT of the skill NAME in the sandbox. Arguments for the script follow `--`.

    NAME may be the path of a skill, such as ./skills/csv-report. SCRIPT is a path in the skill, or a name in its folder
    of scripts. Output is shown while the script runs.

    Exits with 0 if the script does, else with 1; the script's own status is then printed on standard error.

    \b
    Example:
      prowess run csv-report report.py --out charts -- march.csv
    """  # noqa: D301 -- click needs the control character
    catalog, name = skills.open_one(name, asks=not as_json)
    chosen = open_workspace(workspace, quiet=skills.quiet)
    if out is not None:
        _require_place(out)
    policy, audit = open_rules(policy_file, "this run leaves no audit record")
    options = SessionOptions(audit=audit, workspace=chosen, write=write, policy=policy, approver=TerminalApprover())
    live = LiveOutput(script, spins=not skills.quiet)

    def begin(event: SessionEvent) -> None:
        if isinstance(event, ScriptStarted):
            live.begin()

    try:
        with ended_in_order(), live, SyncSession(catalog, options, on_event=begin) as session:
            session.load([name])
            active = session.active_skills[-1]
            path = script_named(catalog.skill(active.name, active.location), ScriptRules.of(policy.now()), script)
            show = None if as_json else live.show
            result = session.run_script(path, *arguments, on_output=show, timeout=timeout).as_dict()
            live.finish()
            # Copied now because the session deletes its artifacts when it ends.
            result["artifacts"] = _kept(cast("Sequence[Mapping[str, object]]", result["artifacts"]), out)
    except KeyboardInterrupt:
        output.note("interrupted: the script was stopped")
        return exit_codes.INTERRUPTED
    if as_json:
        output.document(result)
    else:
        _print(result, out)
    return exit_codes.OK if result["exit_code"] == 0 and not result["timed_out"] else exit_codes.FAILED


def _require_place(out: str) -> None:
    """Create the directory for artifacts before the run: a failure after the run would lose the artifacts."""
    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as fault:
        reason = f"{out!r} cannot be written ({fault.strerror}); the script was not run"
        raise click.BadParameter(printable_line(reason), param_hint="--out") from fault


def _kept(artifacts: Sequence[Mapping[str, object]], out: str | None) -> list[dict[str, object]]:
    """Copy the artifacts to `out`. Return their entries with the new path, or with None as path if `out` is None."""
    return [
        {**artifact, "path": None if out is None else _copy(str(artifact["path"]), out, str(artifact["name"]))}
        for artifact in artifacts
    ]


def _copy(source: str, out: str, name: str) -> str:
    directory = os.path.abspath(out)
    for part in name.split("/")[:-1]:
        os.makedirs(directory, exist_ok=True)
        directory = os.path.join(directory, part)
        if os.path.islink(directory):  # the script chose the name, so a symbolic link must not lead elsewhere
            raise UnsafePathError(name, f"{directory} is a symbolic link")
    os.makedirs(directory, exist_ok=True)
    target = os.path.join(directory, name.rpartition("/")[2])
    fresh = os.path.join(directory, f".prowess-{uuid7()}")
    try:
        # "x" never overwrites a file, and creates the file with the mode of the user's umask.
        with open(fresh, "xb") as copy, open(source, "rb") as original:
            shutil.copyfileobj(original, copy)
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            os.remove(fresh)
        raise
    return target


def script_named(skill: Skill, rules: ScriptRules, word: str) -> str:
    """Return the path of a script that is given by its path or by its name in a directory of scripts.

    A path elsewhere in the skill or outside of it is returned unchanged, because the session refuses it.

    Raises:
        UnknownScriptError: the skill has no such file.
    """
    try:
        path = "/".join(check_relative(word))
    except UnsafePathError:
        return word
    scripts = [file.path for file in skill.resources if rules.is_runnable(file.path.split("/"))]
    inside = [found for directory in rules.dirs if (found := f"{directory}/{path}") in scripts]
    if path in scripts or not inside:
        if all(file.path != path for file in skill.resources):
            raise UnknownScriptError(skill.name, word, tuple(scripts))
        return word
    return inside[0]


class UnknownScriptError(ResourceNotFoundError):
    """The skill has no such file. `suggestions` are all its scripts."""

    def __str__(self) -> str:
        if not self.suggestions:
            return f"skill {self.skill!r} has no script {self.path!r}, and no other runnable script"
        meant = [one for one in self.suggestions if _stem(one) == _stem(self.path)]
        if len(meant) == 1:
            return f"skill {self.skill!r} has no script {self.path!r}; did you mean {meant[0]!r}?"
        scripts = [one for one in self.suggestions if not one.endswith("/__init__.py")] or self.suggestions
        shown = ", ".join(scripts[:_MOST_SCRIPTS])
        more = len(scripts) - _MOST_SCRIPTS
        return (
            f"skill {self.skill!r} has no script {self.path!r}; it has {shown}{f' and {more} more' if more > 0 else ''}"
        )


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _print(result: Mapping[str, object], out: str | None) -> None:
    for stream in ("stdout", "stderr"):
        if result[f"{stream}_truncated"]:
            output.note(f"{stream} was cut: the script wrote {result[f'{stream}_bytes']} bytes")
    for notice in cast("Sequence[Mapping[str, object]]", result.get("notices", ())):
        output.note(printable_line(str(notice["message"])))
    for artifact in cast("Sequence[Mapping[str, object]]", result["artifacts"]):
        place = "not kept, see --out" if out is None else artifact["path"]
        output.note(printable_line(f"artifact {artifact['name']} ({artifact['size']} bytes): {place}"))
    if result["timed_out"]:
        output.note(f"stopped at the time limit after {result['duration_ms']} ms")
    elif result["exit_code"] != 0:
        output.note(f"{result['path']} exited with status {result['exit_code']}")
