"""Running commands in a body: their words and the text that takes their place. `prowess.format.commands` finds them.

A placeholder's value that contains the notation is no command. Two equal commands run twice. Commands run in the
sandbox without a shell: the value of a placeholder stays within its word, and a command that needs a shell is refused
completely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.shell.plain_command import plain_words
from prowess.runtime.activation.substitution import Placeholders

if TYPE_CHECKING:
    from prowess._internal.shell.words import ShellRefusal
    from prowess.execution import ExecResult
    from prowess.format.commands import BodyCommand
    from prowess.runtime.activation.substitution import Values

MAX_COMMANDS = 16
MAX_OUTPUT = 10_000  # characters of one command's output
COMMAND_SECONDS = 10.0


def words(command: BodyCommand, values: Values) -> tuple[str, ...] | ShellRefusal:
    """Return the words of a command, or the reason why it needs a shell."""
    placeholders = Placeholders(values)
    return plain_words(command.text, placeholders.pattern, placeholders.value)


def shown(done: ExecResult) -> str:
    """Return the text that replaces a command: its output, or one line that states how it failed."""
    text = done.stdout.decode("utf-8", "replace").rstrip("\n")
    if done.timed_out:
        return f"[command timed out after {COMMAND_SECONDS:g} s]"
    if done.exit_code != 0:
        wrong = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = f": {wrong[-1][:200]}" if wrong else ""
        return f"[command failed with status {done.exit_code}{reason}]"
    if len(text) > MAX_OUTPUT:
        return f"{text[:MAX_OUTPUT]}\n[output cut at {MAX_OUTPUT} of {len(text)} characters]"
    return text
