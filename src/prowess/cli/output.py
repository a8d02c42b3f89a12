"""Everything a command prints goes through here, so that escaping, colour and JSON are decided once.

Text from skills is escaped (`prowess._internal.terminal_text`); colour is used only on a terminal and never under
`NO_COLOR`; JSON is one document with a final line break, UTF-8, keys in the order the library gives them.
"""

from __future__ import annotations

import json
import os
import sys

import click

from prowess._internal.terminal_text import printable


def line(text: str = "") -> None:
    """Print one line, or several, to standard output; control characters are escaped."""
    click.echo(printable(text))


def raw(text: str) -> None:
    """Print a document exactly as it is, without adding a line break. Only for formats that escape by themselves."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def raw_bytes(data: bytes) -> None:
    """Write bytes exactly as they are to standard output."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def document(value: object) -> None:
    """Print one JSON document."""
    raw(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def note(text: str) -> None:
    """Print a remark to standard error, where it does not disturb a pipe."""
    click.echo(printable(text), err=True)


def error(text: str) -> None:
    """Print `error: ...` to standard error."""
    click.echo(f"{styled('error', 'red', err=True)}: {printable(text)}", err=True)


def styled(text: str, colour: str, *, err: bool = False) -> str:
    """Colour `text` where the stream is a terminal and `NO_COLOR` is not set; `text` must be safe already."""
    stream = sys.stderr if err else sys.stdout
    return click.style(text, fg=colour) if stream.isatty() and not os.environ.get("NO_COLOR") else text


def drop_standard_output() -> None:
    """Stop writing to a closed pipe, also at exit, where Python would print a warning."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
