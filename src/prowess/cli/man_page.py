"""The man page in the man(7) format, made from the help of the commands."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from prowess import __version__
from prowess.cli import exit_codes
from prowess.cli.main import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXITS = {
    exit_codes.OK: "success; warnings are not failures",
    exit_codes.FAILED: "errors were found, or the command failed",
    exit_codes.USAGE: "the command line or the configuration is wrong",
    exit_codes.DENIED: "the policy denied it, or it was not approved",
    exit_codes.UNAVAILABLE: "there is no sandbox, no store, or the audit log cannot be written",
    exit_codes.CAPPED: "a cap on cost, tokens or calls ended the run of evals before it was decided",
    exit_codes.INTERRUPTED: "interrupted",
}
_VARIABLES = {
    "PROWESS_HOME": "the directory for all files of this user; defaults to ~/.prowess",
    "NO_COLOR, FORCE_COLOR": "turn colours off, or on even in a pipe; --color overrides both",
    "COLUMNS": "the width of tables and reports",
}


def man_page(group: click.Command) -> str:
    """Return the man page of `prowess`: every command with its help and its options."""
    return "".join(f"{line}\n" for line in _lines(group))


def _lines(group: click.Command) -> Iterator[str]:
    yield f'.TH PROWESS 1 "" "prowess {__version__}"'
    yield from (".SH NAME", "prowess \\- check, find, serve, run and govern Agent Skills")
    yield from (".SH SYNOPSIS", ".B prowess", _escaped("COMMAND [OPTIONS] [ARGUMENTS]"))
    yield ".SH COMMANDS"
    for name in COMMANDS:
        with click.Context(group, info_name="prowess") as root:
            yield from _command(name, _loaded(group, root, name), root)
    yield from _terms("EXIT STATUS", {str(code): text for code, text in _EXITS.items()})
    yield from _terms("ENVIRONMENT", _VARIABLES)


def _loaded(group: click.Command, context: click.Context, name: str) -> click.Command | None:
    """Return a command, or None if a library it needs is not installed."""
    try:
        return group.get_command(context, name) if isinstance(group, click.Group) else None
    except ImportError:
        return None


def _command(name: str, command: click.Command | None, parent: click.Context) -> Iterator[str]:
    if command is None:
        yield from (f".SS {_escaped(f'prowess {name}')}", _escaped(COMMANDS[name]))
        return
    with click.Context(command, info_name=name, parent=parent) as context:
        usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
        yield f".SS {_escaped(usage)}"
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            yield ".PP"
            kept = paragraph.startswith("\b\n")  # the lines of an example are not joined
            lines = paragraph.removeprefix("\b\n").split("\n")
            yield from (".nf", *map(_escaped, lines), ".fi") if kept else map(_escaped, lines)
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if isinstance(parameter, click.Option) and record is not None:
                yield from (".TP", f"\\fB{_escaped(record[0])}\\fR", _escaped(record[1]))
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                yield from _command(below, command.get_command(context, below), context)


def _terms(title: str, terms: dict[str, str]) -> Iterator[str]:
    yield f".SH {title}"
    for term, text in terms.items():
        yield from (".TP", f"\\fB{_escaped(term)}\\fR", _escaped(text))


def _escaped(text: str) -> str:
    """Escape one line of text for man(7)."""
    safe = " ".join(text.split("\n")).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
