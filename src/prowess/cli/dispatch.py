"""The click group of `prowess`. It imports the module of a command when the command is called.

Errors of Prowess and of the operating system are reported here: one sentence on standard error and an exit code. A
traceback is therefore always a defect.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any

import click

from prowess import __version__
from prowess._internal.places import WorkingDirectoryError, working_directory
from prowess._internal.text.near_words import near_words
from prowess._internal.text.terminal_text import printable, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.main import COMMANDS
from prowess.cli.signals import SignalledError
from prowess.errors import (
    ApprovalRequiredError,
    AuditError,
    AuditReadError,
    ConfigurationError,
    ConsentRequiredError,
    InvalidSkillError,
    PolicyDeniedError,
    PolicyError,
    ResolutionError,
    ServerAnswerError,
    SignatureError,
    SkillError,
    SkillNotFoundError,
    StoreError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Errors with one line for each problem.
_SERVER_ERRORS = 500  # and above, as HTTP statuses
_WITH_LINES = (ConfigurationError, ConsentRequiredError, InvalidSkillError, PolicyError, ResolutionError)


class _SystemFaultError(Exception):
    """Carries an OSError through click, which would itself turn a closed pipe into exit code 1."""

    def __init__(self, fault: OSError) -> None:
        super().__init__(fault)
        self.fault = fault


@contextmanager
def _past_click() -> Iterator[None]:
    try:
        yield
    except SkillError:  # some errors of Prowess are also `OSError`s
        raise
    except OSError as fault:
        raise _SystemFaultError(fault) from fault


def _choose_colour(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    del context, parameter
    if value is not None:
        output.choose_colour(value)


_COLOUR = click.Option(
    ["--color"],
    type=click.Choice(("auto", "always", "never")),
    expose_value=False,
    is_eager=True,
    callback=_choose_colour,
    help="When to use colours. auto: on a terminal, unless NO_COLOR or FORCE_COLOR decides.",
)


def _add_colour(command: click.Command) -> None:
    """Give a command and its subcommands the option `--color`."""
    if _COLOUR not in command.params:
        command.params.append(_COLOUR)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _add_colour(below)


class LazyGroup(click.Group):
    """A group whose commands are imported on use.

    `table` has the help line of each command, in order. The command `some-name` is `member` of the module `some_name`
    of `package`, or the module's member of its own name.
    """

    def __init__(
        self,
        *given: Any,  # noqa: ANN401 -- those of a group of click
        table: Mapping[str, str],
        package: str,
        member: str | None = None,
        **named: Any,  # noqa: ANN401 -- as above
    ) -> None:
        super().__init__(*given, **named)
        self._table, self._package, self._member = table, package, member

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if the table does not have it."""
        del ctx
        if cmd_name not in self._table:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"{self._package}.{name}"), self._member or name)
        _add_colour(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and further arguments. For an unknown name, raise click.UsageError with a near one."""
        if args[0] not in self._table and not args[0].startswith("-") and (near := near_words(args[0], self._table)):
            reason = f"there is no command {printable_line(args[0])!r}; did you mean {near[0]}?"
            raise click.UsageError(reason, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help lines from the table, so that `--help` imports no command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self._table.items()))


class _Root(LazyGroup):
    """The group of all commands: errors of the system pass through click."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        with _past_click():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with _past_click():
            result: object = super().invoke(ctx)
            return result


@click.group(
    cls=_Root,
    table=COMMANDS,
    package="prowess.cli.commands",
    member="command",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", prog_name="prowess", message="%(prog)s %(version)s")
def _prowess() -> None:
    """Check, find, serve, run and govern Agent Skills.

    Example: prowess check examples/skills
    """


_prowess.params.append(_COLOUR)


def run(arguments: list[str]) -> int:
    """Run one command line; return the exit code."""
    output.choose_colour("auto")
    try:
        result = _prowess.main(args=arguments, prog_name="prowess", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        output.note("interrupted")
        return exit_codes.INTERRUPTED
    except SignalledError as ended:
        output.note(f"ended by {ended.name}")
        return exit_codes.SIGNALLED + ended.number
    except click.ClickException as fault:
        told = StringIO()
        fault.show(told)  # escaped below, because the text may repeat words of the command line
        output.raw_note(printable(told.getvalue()))
        return fault.exit_code
    except SkillError as fault:
        if isinstance(fault, SkillNotFoundError) and not (fault.suggestions or fault.reason):
            import shlex  # Imported here: only this hint needs it.

            listing = shlex.join(["prowess", "list", *_roots(arguments)])
            output.error(printable_line(f"{fault}; `{listing}` shows the available skills"))
            return exit_codes.FAILED
        several = isinstance(fault, _WITH_LINES)
        output.error(str(fault) if several else printable_line(str(fault)))
        return _code_for(fault)
    except _SystemFaultError as passed:
        return _refused(passed.fault)
    return result if isinstance(result, int) else exit_codes.OK


def _roots(arguments: list[str]) -> list[str]:
    """Return the `--root` options among `arguments`, so that a hint searches the same places."""
    found: list[str] = []
    for at, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--root":
            found += arguments[at : at + 2]
        elif argument.startswith("--root="):
            found.append(argument)
    return found


def _refused(fault: OSError) -> int:
    """Report an OSError in one sentence and return the exit code."""
    if isinstance(fault, BrokenPipeError):
        # Only click's own texts (help, version) can fail here, so no result is lost and the exit code is 0.
        output.drop_standard_output()
        return exit_codes.OK
    reason = fault.strerror or str(fault)
    if fault.filename is None:
        try:
            working_directory()  # relative paths need a working directory, and the system's error does not name it
        except SkillError as gone:
            reason = str(gone)
    else:
        reason = f"{fault.filename}: {reason}"
    output.error(printable_line(reason))
    return exit_codes.FAILED


def _code_for(fault: SkillError) -> int:
    match fault:
        case ServerAnswerError():
            return _code_for_answer(fault)
        case PolicyDeniedError() | ApprovalRequiredError() | ConsentRequiredError() | SignatureError():
            return exit_codes.DENIED
        case AuditReadError():
            return exit_codes.FAILED  # only reading the log failed; it can still record calls
        case SkillError(code="sandbox_unavailable") | StoreError() | AuditError():
            return exit_codes.UNAVAILABLE
        case UnavailableError() if not isinstance(fault, WorkingDirectoryError):
            return exit_codes.UNAVAILABLE  # a source of skills, or files that change while they are read
        case PolicyError() | ConfigurationError():
            return exit_codes.USAGE
        case _:
            return exit_codes.FAILED


def _code_for_answer(fault: ServerAnswerError) -> int:
    """Return the exit code that the error has where it was raised."""
    if fault.code in {"policy_denied", "approval_required"}:
        return exit_codes.DENIED
    if fault.code in {"invalid_arguments", "policy_invalid"}:
        return exit_codes.USAGE
    return exit_codes.UNAVAILABLE if fault.status >= _SERVER_ERRORS else exit_codes.FAILED
