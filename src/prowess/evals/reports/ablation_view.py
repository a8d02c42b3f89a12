"""The text of a skill with the effect of each part, from the JSON of `prowess eval ablate`."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, ValidationError, convert

from prowess._internal.text.shape_faults import shape_fault
from prowess.errors import InvalidArgumentsError

MOST_PARTS = 400
_MOST_TEXT, _MOST_PART = 64_000, 600  # bytes of all parts, and of one, in a page
_DEEP, _MIDDLE = 0.5, 0.2  # losses from which a part is drawn in the stronger colours


class AblatedPart(Struct, frozen=True, kw_only=True):
    """One part of a skill, as `eval ablate` reports it. `delta` is the change of the pass rate if it is removed."""

    path: str
    line: int
    text: str
    verdict: Literal["needed", "no_effect", "unsure"]
    delta: float | None = None
    low: float | None = None
    high: float | None = None
    failing: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """The colour, from 0 (none) to 3 (strong)."""
        if self.verdict != "needed":
            return 0
        loss = -(self.delta if self.delta is not None else -1.0)
        return 3 if loss >= _DEEP else 2 if loss >= _MIDDLE else 1

    @property
    def told(self) -> str:
        """The verdict on the part, in words."""
        is_rate = self.delta is not None and abs(self.delta) <= 1  # foreign data may have any number
        points = f" ({round((self.delta or 0) * 100):+d} points if removed)".replace("-", "\u2212") if is_rate else ""
        words = {"needed": "needed", "no_effect": "no effect seen", "unsure": "unsure"}
        return f"{words[self.verdict]}{points}"


class AblatedFile(Struct, frozen=True, kw_only=True):
    """The parts of one file, in order."""

    path: str
    parts: tuple[AblatedPart, ...]


class AblationView(Struct, frozen=True, kw_only=True):
    """All parts by file, and the share of them that some eval would miss. `left_out` are beyond `MOST_PARTS`."""

    files: tuple[AblatedFile, ...]
    needed: int
    parts: int
    left_out: int = 0

    @property
    def text_bytes(self) -> int:
        """How much of a part a page shows, in bytes."""
        return min(_MOST_PART, _MOST_TEXT // max(1, min(self.parts, MOST_PARTS)))


class _Document(Struct, frozen=True):
    units: tuple[AblatedPart, ...]
    skill: str | None = None


def read_ablation(data: Any, *, skill: str | None = None) -> AblationView:  # noqa: ANN401 -- JSON
    """Return the parts. `skill` is the name of the skill that the report is of, None if any will do.

    Raises:
        InvalidArgumentsError: the data is no report of `eval ablate --json`, or that of another skill.
    """
    try:
        found = convert(data, _Document)
    except ValidationError as fault:
        raise InvalidArgumentsError(
            (f"the ablation is not what prowess eval ablate --json prints: {shape_fault(fault)}",)
        ) from None
    if skill is not None and found.skill not in (None, skill):
        problem = f"the ablation is of the skill {found.skill}, and the run of {skill}; name that of the same skill"
        raise InvalidArgumentsError((problem,))
    parts = found.units
    files: dict[str, list[AblatedPart]] = {}
    for part in sorted(parts[:MOST_PARTS], key=lambda one: (one.path != "SKILL.md", one.path, one.line)):
        files.setdefault(part.path, []).append(part)
    return AblationView(
        files=tuple(AblatedFile(path=path, parts=tuple(each)) for path, each in files.items()),
        needed=sum(part.verdict == "needed" for part in parts),
        parts=len(parts),
        left_out=max(0, len(parts) - MOST_PARTS),
    )
