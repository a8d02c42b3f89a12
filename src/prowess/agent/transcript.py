"""Transcript of a run as JSON lines: one message per line, written immediately, readable by the owner only.

A transcript contains the results of tools, which may contain secrets. The file is therefore created with mode 0600, and
an existing file is never continued. Lines are `{"role": "user" | "assistant" | "tool" | "end", ...}`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from prowess.agent.model import AssistantMessage, ToolMessage, UserMessage
from prowess.errors import InvalidArgumentsError, SkillError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from prowess.agent.model import AgentResult, Message


class TranscriptError(SkillError):
    """A line could not be written. The run ends, because later messages would be missing from the file."""

    code = "unavailable"
    path: str
    reason: str
    sentence = "transcript {path} cannot be written: {reason}; the run ended there"


class Transcript:
    """Writes one file. If a run is interrupted, the last line has `"ended": "interrupted"`.

    Raise InvalidArgumentsError if the file exists or cannot be created, TranscriptError if a line cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise InvalidArgumentsError((f"{os.fspath(path)} exists; a transcript needs a new file",)) from None
        except OSError as fault:
            raise InvalidArgumentsError(
                (f"transcript {os.fspath(path)} cannot be created: {fault.strerror}",)
            ) from None
        self._ended, self._path = False, os.fspath(path)
        self._file = open(handle, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 -- closed by `__exit__`

    def message(self, message: Message) -> None:
        """Write one message."""
        self._write(as_dict(message))

    def end(self, result: AgentResult) -> None:
        """Write the last line, which states how the run ended."""
        self._write({"role": "end", **result.as_dict()})
        self._ended = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not self._ended:
            with suppress(TranscriptError):  # the first exception is the one to report
                self._write({"role": "end", "ended": "interrupted", "reason": "the run was interrupted before its end"})
        with suppress(OSError):  # each line was flushed, so a failure here was raised before
            self._file.close()

    def _write(self, value: Mapping[str, object]) -> None:
        try:
            line = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except ValueError:
            # Arguments may contain floats that JSON does not allow. The call is refused, and they are written as text.
            line = json.dumps(json_data(value), ensure_ascii=False, allow_nan=False)
        try:
            self._file.write(line + "\n")
            self._file.flush()  # so that a killed run leaves its messages in the file
        except OSError as fault:
            raise TranscriptError(self._path, str(fault.strerror)) from fault


def json_data(value: object) -> object:
    """Return plain JSON data: mappings as dictionaries, and numbers that JSON does not allow as text."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case Mapping():
            return {name: json_data(item) for name, item in value.items()}
        case list() | tuple():
            return [json_data(item) for item in value]
    return value


def as_dict(message: Message) -> dict[str, object]:
    """Return the JSON data of a message's line."""
    match message:
        case UserMessage(text=text):
            return {"role": "user", "text": text}
        case AssistantMessage(text=text, calls=calls):
            listed = [{"id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in calls]
            return {"role": "assistant", "text": text, "calls": listed}
        case ToolMessage(call=call, result=result):
            return {"role": "tool", "id": call.id, "name": call.name, **result.as_dict()}
