"""The report of an iteration, read from its folder, which may come from somebody else."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.text.shape_faults import shape_fault
from prowess.errors import InvalidArgumentsError, UnsafePathError
from prowess.evals.campaigns.report import EvalRunReport
from prowess.evals.transcripts.reading import TranscriptFileError, read_transcript

if TYPE_CHECKING:
    from typing import Any

    from prowess.evals.transcripts.transcript import RunTranscript

REPORT_FILE = "report.json"
_OF_OTHERS = (  # the report of another command, and the option of `eval report` that shows it beside a run
    ("ablation.json", "eval ablate", "--ablation"),
    ("trigger-report.json", "eval triggers", "--triggers"),
    ("improve-report.json", "eval improve", None),
)
_MOST_BYTES = 64 * 1024 * 1024


def read_report(folder: str) -> EvalRunReport:
    """Return the report of an iteration.

    Raises:
        InvalidArgumentsError: the folder has no report, not of this form, or is of another command.
    """
    for name, command, option in _OF_OTHERS:
        if os.path.lexists(path := os.path.join(folder, name)):
            beside = "" if option is None else f", and show this one beside it with {option} {path}"
            raise InvalidArgumentsError((f"{folder} is of {command}; name a folder of eval run{beside}",))
    data = _bytes(folder, REPORT_FILE, "name a folder that prowess eval run made")
    try:
        return msgspec.json.decode(data, type=EvalRunReport)
    except (msgspec.DecodeError, RecursionError) as fault:
        problem = f"{os.path.join(folder, REPORT_FILE)} is no report of prowess eval run: {_reason(fault)}"
        raise InvalidArgumentsError((problem,)) from None


def transcripts_of(folder: str, report: EvalRunReport) -> dict[str, RunTranscript]:
    """Return the transcripts of the units of an iteration, by id; those that are missing are left out.

    Nothing outside of the folder is read, whatever the report or a link in the folder names.
    """
    found: dict[str, RunTranscript] = {}
    for unit in report.units:
        if unit.directory is not None and unit.transcript is not None:
            with suppress(TranscriptFileError):
                found[unit.id] = read_transcript(f"{unit.directory}/{unit.transcript}", within=folder)
    return found


def read_json(path: str) -> Any:  # noqa: ANN401 -- JSON
    """Return the data of a file that another command printed with `--json`.

    Raises:
        InvalidArgumentsError: it cannot be read, or is not JSON.
    """
    data = _bytes(os.path.dirname(path), os.path.basename(path), "name a file that another command printed with --json")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise InvalidArgumentsError((f"{path} cannot be read: {_reason(fault)}",)) from None


def _reason(fault: msgspec.DecodeError | RecursionError) -> str:
    return "the file is nested too deeply" if isinstance(fault, RecursionError) else shape_fault(fault)


def _bytes(folder: str, name: str, advice: str) -> bytes:
    path = os.path.join(folder, name)
    try:
        with ContainedRoot(folder or ".") as root, root.open(name, allow_hard_links=True) as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        problem = f"{path} cannot be read: {reason}; {advice}"
        raise InvalidArgumentsError((problem,)) from None
    if len(data) > _MOST_BYTES:
        raise InvalidArgumentsError((f"{path} is larger than {_MOST_BYTES} bytes",))
    return data
