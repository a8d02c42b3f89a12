"""The matrix of who answers whose requests, from the JSON of `prowess eval triggers --together`."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, ValidationError, convert

from prowess._internal.text.shape_faults import shape_fault
from prowess.errors import InvalidArgumentsError
from prowess.evals.triggers.shadows import AnswerRow, Shadow  # noqa: TC001 -- msgspec reads the types

MOST_SKILLS = 30


class MatrixCell(Struct, frozen=True, kw_only=True):
    """How many runs of the requests for one skill used another one. `kind` is own, stolen or other."""

    runs: int
    kind: str


class MatrixRow(Struct, frozen=True, kw_only=True):
    """The requests for one skill."""

    name: str
    cells: tuple[MatrixCell, ...]


class TriggerMatrix(Struct, frozen=True, kw_only=True):
    """The matrix of the first `MOST_SKILLS` skills, its columns in the order of its rows, and `nobody` as the last."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    shadows: tuple[Shadow, ...] = ()
    left_out: int = 0


class _Document(Struct, frozen=True):
    matrix: tuple[AnswerRow, ...]
    shadows: tuple[Shadow, ...] = ()


def read_triggers(data: Any) -> TriggerMatrix:  # noqa: ANN401 -- JSON
    """Return the matrix.

    Raises:
        InvalidArgumentsError: the data is no report of `eval triggers --together --json`.
    """
    try:
        found = convert(data, _Document)
    except ValidationError as fault:
        problem = f"the matrix is not what prowess eval triggers --together --json prints: {shape_fault(fault)}"
        raise InvalidArgumentsError((problem,)) from None
    shown = found.matrix[:MOST_SKILLS]
    names = [row.skill for row in shown]
    stolen = {(shadow.skill, shadow.shadowed_by) for shadow in found.shadows}
    return TriggerMatrix(
        columns=(*names, "nobody"),
        rows=tuple(MatrixRow(name=row.skill, cells=tuple(_cells(row, names, stolen))) for row in shown),
        shadows=found.shadows,
        left_out=len(found.matrix) - len(shown),
    )


def _cells(row: AnswerRow, names: list[str], stolen: set[tuple[str, str]]) -> list[MatrixCell]:
    kinds = ["own" if name == row.skill else "stolen" if (row.skill, name) in stolen else "other" for name in names]
    cells = [MatrixCell(runs=row.answers.get(name, 0), kind=kind) for name, kind in zip(names, kinds, strict=True)]
    return [*cells, MatrixCell(runs=row.nobody, kind="other")]
