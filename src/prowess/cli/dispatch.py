"""The click group behind `prowess`: it imports a command when that command is called.

Errors that Prowess raises on purpose end here as one sentence on standard error and an exit code; a traceback is
a defect.
"""

from __future__ import annotations

from importlib import import_module

import click

from prowess import __version__
from prowess.cli import exit_codes, output
from prowess.cli.main import COMMANDS
from prowess.errors import PolicyDeniedError, PolicyError, SandboxUnavailableError, SkillError, StoreError


class _LazyGroup(click.Group):
    """Lists commands from the table; imports `prowess.cli.commands.<name>` on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"prowess.cli.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help lines from the table, so that `--help` imports no command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="prowess", message="%(prog)s %(version)s")
def _prowess() -> None:
    """Agent Skills: check, find, serve, run and govern them.

    Example: prowess check examples/skills
    """


def run(arguments: list[str]) -> int:
    """Run one command line; return the exit code."""
    try:
        result = _prowess.main(args=arguments, prog_name="prowess", standalone_mode=False)
    except click.exceptions.Abort:
        return exit_codes.INTERRUPTED
    except click.ClickException as fault:
        fault.show()
        return fault.exit_code
    except SkillError as fault:
        output.error(str(fault))
        return _code_for(fault)
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        output.drop_standard_output()  # the reader has seen enough, as `head` has; that is no failure
        return exit_codes.OK
    return result if isinstance(result, int) else exit_codes.OK


def _code_for(fault: SkillError) -> int:
    match fault:
        case PolicyDeniedError():
            return exit_codes.DENIED
        case SandboxUnavailableError() | StoreError():
            return exit_codes.UNAVAILABLE
        case PolicyError():
            return exit_codes.USAGE
        case _:
            return exit_codes.FAILED
