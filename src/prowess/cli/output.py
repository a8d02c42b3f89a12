"""Everything a command prints goes through here, so that escaping, colour and JSON are decided once.

Text from skills is escaped (`prowess._internal.text.terminal_text`); colour is for terminals, unless `--color`,
`NO_COLOR` or `FORCE_COLOR` has it otherwise; JSON is one document with a final line break, UTF-8, keys in the order the
library gives them.

Whoever reads a pipe may close it when they have seen enough, as `head` does. That ends the printing and not the
command: it goes on to its own exit code. So `prowess read x | head` is no failure, and `prowess check x | head` still
fails where there are errors.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable, printable_line, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from prowess.compat.skills_ref.outcomes import Outcome

STANDARD_OUTPUT = "standard output"
_colour = "auto"


def line(text: str = "") -> None:
    """Print one line, or several, to standard output; control characters are escaped."""
    raw(f"{printable(text)}\n")


def raw(text: str) -> None:
    """Print a document exactly as it is, without adding a line break. Only for formats that escape by themselves."""
    raw_bytes(text.encode("utf-8", "surrogateescape"))


def foreign(text: str) -> None:
    """Print text of a skill or a script: exactly into a file on the disk, with escapes on terminals and into pipes."""
    if sys.stdout.isatty():
        raw(printable(text))
    else:
        raw(text if _takes_bytes() else without_controls(text))


def foreign_bytes(parts: Iterable[bytes]) -> None:
    """Print the parts of a file of a skill as `foreign` does text; bytes that are no UTF-8 are escapes too."""
    exactly, decoder = _takes_bytes(), getincrementaldecoder("utf-8")("backslashreplace")
    for part in parts:
        if exactly and not raw_bytes(part):
            return
        if not exactly:
            foreign(decoder.decode(part))
    foreign(decoder.decode(b"", final=True))


def _takes_bytes() -> bool:
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def raw_bytes(data: bytes) -> bool:
    """Write bytes exactly as they are to standard output; False where its reader has closed the pipe.

    Raises:
        OSError: they cannot be written (a full disk); its file name is `standard output`.
    """
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        drop_standard_output()
        return False
    except OSError as fault:
        drop_standard_output()  # what is left in the buffer would fail once more at exit
        raise OSError(fault.errno, fault.strerror, STANDARD_OUTPUT) from fault
    return True


def document(value: object) -> None:
    """Print one JSON document; on any stream, what a terminal acts on stands in it as an escape."""
    # Imported here, not at the top: most commands print no JSON.
    from prowess._internal.text.terminal_text import json_text

    raw(json_text(value, indent=2) + "\n")


def answer(outcome: Outcome) -> int:
    """Print an answer of the reference tool to both streams; return its exit code."""
    if outcome.stderr:
        note(outcome.stderr.removesuffix("\n"))
    # A pipe gets every byte; a terminal must not act on what a description says.
    raw(printable(outcome.stdout) if sys.stdout.isatty() else outcome.stdout)
    return outcome.exit_code


def note(text: str) -> None:
    """Print a remark to standard error, where it does not disturb a pipe."""
    raw_note(f"{printable(text)}\n")


def error(text: str) -> None:
    """Print `error: ...` to standard error."""
    raw_note(f"{styled('error', 'red', err=True)}: {printable(text)}\n")


def choose_colour(when: str) -> None:
    """Say when texts have colours, from now on: `always`, `never`, or `auto`, as environment and streams have it."""
    global _colour  # noqa: PLW0603 -- one command line runs in a process at a time
    _colour = when


def is_coloured(stream: TextIO) -> bool:
    """Whether a text on this stream may have colours.

    `--color` decides, then NO_COLOR, then FORCE_COLOR (`0` is the same as none), then whether it is a terminal.
    """
    if _colour != "auto":
        return _colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0") not in {"", "0"} or is_rich(stream)


def is_rich(stream: TextIO) -> bool:
    """Whether the stream is a terminal on which more than plain text is wanted."""
    plain = _colour == "never" or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def styled(text: str, colour: str | tuple[int, int, int], *, err: bool = False) -> str:
    """Colour `text` where the stream takes colours; `text` must be safe already."""
    if not is_coloured(sys.stderr if err else sys.stdout):
        return text
    # Imported here, not at the top: a pipe has no colours.
    import click

    return click.style(text, fg=colour)


def width() -> int | None:
    """Return the columns of a terminal on standard output, or what COLUMNS has; None for a pipe, which has no edge."""
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return None
    # Imported here, not at the top: a pipe is not measured.
    from shutil import get_terminal_size

    return max(get_terminal_size().columns, 20)


def shown_path(path: str) -> str:
    """Return a path for people: on one line, and relative where it lies below the working directory."""
    with suppress(FileNotFoundError):  # a working directory that is gone has nothing below it
        here = os.getcwd()
        path = path.removeprefix(f"{here}/") if here != "/" else path
    return printable_line(path)


def drop_standard_output() -> None:
    """Stop writing to a stream that takes nothing more, also at exit, where Python would print a warning."""
    _drop(sys.stdout)


def raw_note(text: str) -> None:
    """Print to standard error exactly this text, which must be safe already."""
    # A remark that nobody can be told changes nothing about the command.
    try:
        _write(sys.stderr, text.encode())
    except OSError:
        _drop(sys.stderr)


def _write(stream: TextIO, data: bytes) -> None:
    """Write past the buffer: a thread that waits for a reader must not hold its lock when Python ends."""
    stream.flush()
    target = getattr(stream.buffer, "raw", stream.buffer)
    left = memoryview(data)
    while left:
        written = target.write(left)
        if written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        left = left[written:]


def _drop(stream: TextIO) -> None:
    with suppress(io.UnsupportedOperation):  # a stream in memory, as in a test, fails nobody
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
