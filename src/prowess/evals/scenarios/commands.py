"""The commands of a run, as argument vectors, and their comparison by words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from prowess._internal.shell.command_line import parse_command_line
from prowess._internal.shell.launchers import started_by
from prowess._internal.shell.words import ShellRefusal
from prowess.agent import ToolMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.agent import Message

# Codes of calls that did not reach their tool.
REFUSALS = frozenset(
    {
        *("policy_denied", "tool_not_allowed", "approval_required", "tool_not_found", "invalid_arguments"),
        *("script_unsupported", "skill_not_active", "digest_changed", "sandbox_unavailable", "unsafe_path"),
    }
)


def code_of(message: ToolMessage) -> str | None:
    """Return the error code of a call; None if it succeeded."""
    return None if message.result.success else str((message.result.error_detail or {}).get("code"))


def tool_messages(messages: Sequence[Message]) -> list[ToolMessage]:
    """Return the results of calls, in order."""
    return [message for message in messages if isinstance(message, ToolMessage)]


def commands_of(messages: Sequence[Message]) -> Iterator[tuple[str, ...]]:
    """Yield the argument vector of each command of a shell tool, and of each script. Refused calls have none."""
    for message in tool_messages(messages):
        arguments = message.call.arguments
        if code_of(message) in REFUSALS:
            continue
        if isinstance(command := arguments.get("command"), str):
            yield from _of_line(command)
        elif message.call.name.endswith(("run_script", "run-script")) and isinstance(
            path := arguments.get("path"), str
        ):
            args = arguments.get("args")
            yield (path, *(map(str, args) if isinstance(args, list) else ()))


def _of_line(line: str) -> Iterator[tuple[str, ...]]:
    parsed = parse_command_line(line)
    if isinstance(parsed, ShellRefusal):
        try:  # it cannot be taken apart; its words may still be those of one command
            yield tuple(shlex.split(line))
        except ValueError:
            yield (line,)
        return
    for command in parsed.commands:
        yield command.argv
        yield from (inner.argv for inner in started_by(command).commands)


def fits_command(argv: tuple[str, ...], wanted: str) -> bool:
    """Whether a command begins with the words of `wanted`; the word `*` fits any one word.

    Raises:
        ValueError: a quote of `wanted` is not closed.
    """
    words = shlex.split(wanted)
    return 0 < len(words) <= len(argv) and all(
        word in ("*", given) for word, given in zip(words, argv[: len(words)], strict=True)
    )
