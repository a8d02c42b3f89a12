"""Options of single session calls, declared once for `Session`, `SyncSession` and the adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Mapping

ExposureName = Literal["tools", "skill", "files"]
EXPOSURE_NAMES: tuple[ExposureName, ...] = ("tools", "skill", "files")


def checked_exposure(name: str) -> ExposureName:
    """Return `name` as the name of an exposure, or raise InvalidArgumentsError."""
    for known in EXPOSURE_NAMES:
        if name == known:
            return known
    listed = ", ".join(map(repr, EXPOSURE_NAMES))
    raise InvalidArgumentsError((f"Invalid parameter value: exposure: expected one of {listed}",))


class OfferOptions(TypedDict, total=False):
    """Options of `tools`, apart from the shape. `exposure=None` means the session's own; the budget is in tokens."""

    exposure: ExposureName | None
    budget: int | None


class InstructionOptions(TypedDict, total=False):
    """Options of `instructions`, apart from the budget. `exposure=None` means the session's own."""

    exposure: ExposureName | None
    navigation: bool
    tool_system: bool
    compact: str | None


class ReadOptions(TypedDict, total=False):
    """Options of `read`, apart from the path. None means not given."""

    skill: str | None
    artifact: str | None
    encoding: Literal["text", "binary"] | None
    offset: int | None
    limit: int | None
    section: str | None


class RunOptions(TypedDict, total=False):
    """Options of `run_script`, apart from path and arguments. None means not given; `timeout` is in seconds."""

    skill: str | None
    env: Mapping[str, str] | None
    workdir: str | None
    stdin: str | None
    timeout: float | None
