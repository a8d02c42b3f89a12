"""The options `--tools` (builtin tools to offer) and `--host-tools` (tools of the host)."""

from __future__ import annotations

import re

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.errors import ToolNotFoundError

_HOST_TOOL = re.compile(r"([^\s,=()]+)(?:=([^\s,=]+))?")

host_tools_option = click.option(
    "--host-tools",
    metavar="NAMES",
    help="All other tools of the model, with versions if known: Bash=5.2,WebFetch. Empty: none.",
)


def host_tools_named(words: str | None) -> dict[str, str | None] | None:
    """Parse a comma-separated list of tools and versions into a dict, as `Session` takes it. None stays None.

        host_tools_named("Bash=5.2, WebFetch") == {"Bash": "5.2", "WebFetch": None}

    Raises:
        click.BadParameter: an entry is not NAME or NAME=VERSION.
    """
    if words is None:
        return None
    from prowess.tools.tool_binding import version_key  # Imported here because most sessions name no host tools.

    named: dict[str, str | None] = {}
    for word in (word.strip() for word in words.split(",")):
        if not word:
            continue
        found = _HOST_TOOL.fullmatch(word)
        try:
            version_key(found[2] or "0" if found else "")
        except ValueError as fault:
            reason = printable_line(f"{word!r} is not a tool name; write NAME or NAME=VERSION, for example Bash=5.2")
            raise click.BadParameter(reason, param_hint="--host-tools") from fault
        if found:
            named[found[1]] = found[2]
    return named


def tools_named(words: str) -> tuple[str, ...]:
    """Return the builtin tools named in a comma-separated list, without duplicates; case is ignored.

    Raises:
        click.BadParameter: there is no such tool.
    """
    from prowess.tools import builtin  # Imported here because `serve --help` must not load the builtin tools.

    try:
        return builtin.builtin_named(words)
    except ToolNotFoundError as fault:
        raise click.BadParameter(printable_line(str(fault)), param_hint="--tools") from fault
