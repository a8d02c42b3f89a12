"""Files of outcomes for `prowess eval stats`: rows of two configurations, or sequences of pairs.

`{"rows": [{"id": "e1", "a": [1, 0, null], "b": [1, 1, 1]}], "seed": 0}` or
`{"sequences": [[1, 0, -1]], "alpha": 0.05, "detect": 0.15}`. Such a file is foreign data: every value is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess._internal.files.bounded_read import read_input
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.errors import SkillError
from prowess.evals.statistics.comparison import OutcomeRow
from prowess.evals.statistics.sequential import ALPHA

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from prowess.evals.statistics.comparison import RunGrade

MAX_BYTES = 64 * 1024 * 1024


class OutcomeFileError(SkillError, ValueError):
    """The file is not one of outcomes. `reason` is one sentence with the place in the file."""

    code = "invalid_arguments"
    path: str
    reason: str
    sentence = "{path}: {reason}"


class OutcomeRows(Struct, frozen=True, kw_only=True):
    """Rows to compare, and the seed of the bootstrap."""

    rows: tuple[OutcomeRow, ...]
    seed: int = 0


class OutcomeSequences(Struct, frozen=True, kw_only=True):
    """Sequences of pairs (1, 0 or -1) to decide one by one. `detect` is None if no sequence ends as futile."""

    sequences: tuple[tuple[int, ...], ...]
    alpha: float = ALPHA
    detect: float | None = None


def read_outcomes(path: str) -> OutcomeRows | OutcomeSequences:
    """Read a file of outcomes that a person named; `-` is standard input, and a pipe is read to its end.

    Raises:
        OutcomeFileError: it cannot be read, or a value in it is not as described above.
    """
    try:
        data = read_input(path, MAX_BYTES)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "the path has a NUL"
        raise OutcomeFileError(path, f"cannot be read: {reason}") from None
    try:
        return _outcomes(strict_json(data, "the file"))
    except StrictJsonError as fault:
        raise OutcomeFileError(path, str(fault)) from None
    except _NotOfOutcomesError as fault:
        raise OutcomeFileError(path, str(fault)) from None


class _NotOfOutcomesError(ValueError):
    """A value is not as described; the message is a sentence with its place."""


def _outcomes(value: object) -> OutcomeRows | OutcomeSequences:
    data = _object(value, "the file")
    if ("rows" in data) == ("sequences" in data):
        raise _NotOfOutcomesError("the file must have either a list `rows` or a list `sequences`")
    if "rows" in data:
        _only(data, ("rows", "seed"))
        seed = data.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise _NotOfOutcomesError("seed must be a whole number")
        return OutcomeRows(rows=_rows(data["rows"]), seed=seed)
    _only(data, ("sequences", "alpha", "detect"))
    listed = _filled(data["sequences"], "sequences")
    detect = data.get("detect")
    return OutcomeSequences(
        sequences=tuple(_pairs(pairs, f"sequences[{place}]") for place, pairs in enumerate(listed)),
        alpha=_share(data.get("alpha", ALPHA), "alpha"),
        detect=None if detect is None else _share(detect, "detect"),
    )


def _only(data: Mapping[str, Any], known: Collection[str]) -> None:
    if unknown := [name for name in data if name not in known]:
        raise _NotOfOutcomesError(f"the member {unknown[0]!r} is not known here; the members are {', '.join(known)}")


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _NotOfOutcomesError(f"{where} must be an object")
    return value


def _filled(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise _NotOfOutcomesError(f"{where} must be a list")
    if not value:
        raise _NotOfOutcomesError(f"{where} is empty, so there is nothing to compare")
    return value


def _share(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1:
        raise _NotOfOutcomesError(f"{where} must be a number between 0 and 1")
    return float(value)


def _rows(value: object) -> tuple[OutcomeRow, ...]:
    found: dict[str | int, OutcomeRow] = {}
    for place, item in enumerate(_filled(value, "rows")):
        row, where = _object(item, f"rows[{place}]"), f"rows[{place}]"
        name = row.get("id")
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise _NotOfOutcomesError(f"{where}.id must be a text or a whole number")
        if name in found:
            raise _NotOfOutcomesError(f"{where}.id is {name!r} again; each eval has one row")
        found[name] = OutcomeRow(id=name, a=_runs(row, "a", where), b=_runs(row, "b", where))
    return tuple(found.values())


def _runs(row: Mapping[str, Any], side: str, where: str) -> tuple[RunGrade, ...]:
    listed = row.get(side)
    if not isinstance(listed, list):
        raise _NotOfOutcomesError(f"{where}.{side} must be a list of 1, 0 and null")
    for place, outcome in enumerate(listed):
        if not (outcome is None or (isinstance(outcome, int) and outcome in (0, 1))):
            raise _NotOfOutcomesError(f"{where}.{side}[{place}] must be 1, 0 or null")
    return tuple(None if outcome is None else int(outcome) for outcome in listed)


def _pairs(value: object, where: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise _NotOfOutcomesError(f"{where} must be a list of 1, 0 and -1")
    for place, pair in enumerate(value):
        if not isinstance(pair, int) or isinstance(pair, bool) or pair not in (-1, 0, 1):
            raise _NotOfOutcomesError(f"{where}[{place}] must be 1, 0 or -1")
    return tuple(value)
