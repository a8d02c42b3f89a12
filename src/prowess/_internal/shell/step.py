"""A simple command of a line with its surroundings, as `line_steps` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from prowess._internal.shell.command_line import ShellWord


class ShellStep(Struct, frozen=True, kw_only=True):
    """One simple command of a line.

    `words` are its words without quotes; one that a shell would expand further has `expands` set. `inputs` are the
    files that it reads by `<`, `outputs` those that it writes by `>`, `given` the text of its here-document.
    `directory` is where it runs: None if that is not known. `shown` is false if its output goes to a file or nowhere.
    `pipe` are the programs after it in its pipeline. `alone` is true if the line has no other step. `masked` is true
    if `||` follows, `is_fallback` if it comes after `||`, and so only runs if something else failed.
    """

    words: tuple[ShellWord, ...]
    inputs: tuple[ShellWord, ...] = ()
    outputs: tuple[ShellWord, ...] = ()
    given: str | None = None
    directory: str | None = None
    shown: bool = True
    pipe: tuple[str, ...] = ()
    alone: bool = True
    masked: bool = False
    is_fallback: bool = False


class ShellLine(Struct, frozen=True, kw_only=True):
    """The steps of a line in order, and the directory after it; None if that is not known."""

    steps: tuple[ShellStep, ...] = ()
    directory: str | None = None


class StepContext(Struct, frozen=True, kw_only=True):
    """The surroundings of a node: input and output of the statement, whether it is shown, the pipeline after it.

    `is_sure` is true if the shell surely comes here.
    """

    inputs: tuple[ShellWord, ...] = ()
    outputs: tuple[ShellWord, ...] = ()
    given: str | None = None
    shown: bool = True
    pipe: tuple[str, ...] = ()
    masked: bool = False
    is_sure: bool = True
    is_fallback: bool = False

    def unsure(self) -> StepContext:
        """Return the context of a part that may not run."""
        return replace(self, is_sure=False)

    def hidden(self) -> StepContext:
        """Return the context of a substitution whose output goes into a word."""
        return StepContext(shown=False)
