"""Printing for all commands, so that escaping, colour and JSON are handled in one place.

Text from skills is escaped (`prowess._internal.text.terminal_text`). Colour is used on terminals, unless `--color`,
`NO_COLOR` or `FORCE_COLOR` decides otherwise. JSON is one UTF-8 document with a final line break; its keys have the
order that the library returns.

If the reader of a pipe closes it early, as `head` does, printing stops but the command continues to its own exit code.
So `prowess read x | head` succeeds, and `prowess check x | head` still fails if there are errors.
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
    from collections.abc import Iterable, Mapping
    from typing import TextIO

    from prowess.compat.skills_ref.outcomes import Outcome

STANDARD_OUTPUT = "standard output"
_CHUNK = 1 << 16  # characters that `raw_parts` writes at once, or a little more
_colour = "auto"


def line(text: str = "") -> None:
    """Print one or more lines to standard output. Control characters are escaped."""
    raw(f"{printable(text)}\n")


def raw(text: str) -> None:
    """Print a document unchanged, without adding a line break. Only for formats that escape their texts themselves."""
    raw_bytes(text.encode("utf-8", "surrogateescape"))


def raw_parts(parts: Iterable[str]) -> None:
    """Print the parts of a long document as `raw` does, some at a time. Stops if the reader has closed the pipe."""
    gathered: list[str] = []
    size = 0
    for part in parts:
        gathered.append(part)
        size += len(part)
        if size >= _CHUNK:
            if not raw_bytes("".join(gathered).encode("utf-8", "surrogateescape")):
                return
            gathered, size = [], 0
    raw("".join(gathered))


def foreign(text: str) -> None:
    """Print text of a skill or script: unchanged into a regular file, escaped on terminals and into pipes."""
    if sys.stdout.isatty():
        raw(printable(text))
    else:
        raw(text if _takes_bytes() else without_controls(text))


def foreign_bytes(parts: Iterable[bytes]) -> None:
    """Print the parts of a skill's file as `foreign` prints text. Bytes that are not UTF-8 are escaped too."""
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
    """Write bytes unchanged to standard output. Return False if the reader has closed the pipe.

    Raises:
        OSError: the bytes cannot be written, for example because the disk is full; its file name is `standard output`.
    """
    try:
        _write(sys.stdout, data)
    except BrokenPipeError:
        drop_standard_output()
        return False
    except OSError as fault:
        drop_standard_output()  # the rest of the buffer would fail again at exit
        raise OSError(fault.errno, fault.strerror, STANDARD_OUTPUT) from fault
    return True


def document(value: object) -> None:
    """Print one JSON document. Characters that control a terminal are escaped, whatever the stream."""
    from prowess._internal.text.terminal_text import json_text  # Imported here because most commands print no JSON.

    raw(json_text(value, indent=2) + "\n")


def long_document(members: Mapping[str, object]) -> None:
    """Print one JSON document as `document` does. A member that is a generator is printed item by item."""
    from prowess._internal.text.terminal_text import json_parts  # Imported here for the same reason.

    raw_parts(json_parts(members))
    raw("\n")


def answer(outcome: Outcome) -> int:
    """Print an answer of the reference tool to both streams and return its exit code."""
    if outcome.stderr:
        note(outcome.stderr.removesuffix("\n"))
    # A pipe gets the exact bytes; on a terminal, control characters of a description are escaped.
    raw(printable(outcome.stdout) if sys.stdout.isatty() else outcome.stdout)
    return outcome.exit_code


def note(text: str) -> None:
    """Print a remark to standard error, so that piped output stays clean."""
    raw_note(f"{printable(text)}\n")


def error(text: str) -> None:
    """Print `error: ...` to standard error."""
    raw_note(f"{styled('error', 'red', err=True)}: {printable(text)}\n")


def choose_colour(when: str) -> None:
    """Set whether output is coloured: `always`, `never`, or `auto`, which depends on environment and stream."""
    global _colour  # noqa: PLW0603 -- a process runs one command line at a time
    _colour = when


def is_interactive() -> bool:
    """Whether a person types at a terminal and sees what this command prints: no stream is a file or a pipe."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def is_coloured(stream: TextIO) -> bool:
    """Whether text on this stream is coloured.

    The first of these that is set decides: `--color`, NO_COLOR, FORCE_COLOR (`0` counts as unset). If none is set, text
    is coloured on a terminal.
    """
    if _colour != "auto":
        return _colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("FORCE_COLOR", "0") not in {"", "0"} or is_rich(stream)


def is_rich(stream: TextIO) -> bool:
    """Whether the stream is a terminal and the user did not ask for plain text."""
    plain = _colour == "never" or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def styled(text: str, colour: str | tuple[int, int, int], *, err: bool = False) -> str:
    """Colour `text` if the stream is coloured. `text` must be escaped already."""
    if not is_coloured(sys.stderr if err else sys.stdout):
        return text
    import click  # Imported here because output into a pipe is not coloured.

    return click.style(text, fg=colour)


def width() -> int | None:
    """Return the columns of the terminal on standard output, or those of COLUMNS; None if output is not wrapped."""
    if not (sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return None
    from shutil import get_terminal_size  # Imported here because a pipe has no width.

    return max(get_terminal_size().columns, 20)


def shown_path(path: str) -> str:
    """Return a path for people: on one line, and relative if it is below the working directory."""
    with suppress(FileNotFoundError):  # a deleted working directory contains no files
        here = os.getcwd()
        path = path.removeprefix(f"{here}/") if here != "/" else path
    return printable_line(path)


def drop_standard_output() -> None:
    """Redirect standard output to `/dev/null` after a write failed, which also avoids Python's warning at exit."""
    _drop(sys.stdout)


def raw_note(text: str) -> None:
    """Print a text unchanged to standard error. The text must be escaped already."""
    # A remark that cannot be printed does not change the result of the command.
    try:
        _write(sys.stderr, text.encode())
    except OSError:
        _drop(sys.stderr)


def _write(stream: TextIO, data: bytes) -> None:
    """Write without the buffer: a thread that blocks on a reader must not hold the buffer's lock when Python ends."""
    stream.flush()
    target = getattr(stream.buffer, "raw", stream.buffer)
    left = memoryview(data)
    while left:
        written = target.write(left)
        if written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        left = left[written:]


def _drop(stream: TextIO) -> None:
    with suppress(io.UnsupportedOperation):  # a stream in memory, as in a test
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())
        finally:
            os.close(nowhere)
