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
    """Options of `tools` except the shape. `exposure=None` uses the session's exposure; `budget` is in tokens."""

    exposure: ExposureName | None
    budget: int | None


class InstructionOptions(TypedDict, total=False):
    """Options of `instructions` except the budget. `exposure=None` uses the session's exposure."""

    exposure: ExposureName | None
    navigation: bool
    tool_system: bool
    compact: str | None


class ReadOptions(TypedDict, total=False):
    """Options of `read` except the path. An option that is None counts as not given."""

    skill: str | None
    artifact: str | None
    encoding: Literal["text", "binary"] | None
    offset: int | None
    limit: int | None
    section: str | None


class RunOptions(TypedDict, total=False):
    """Options of `run_script` except path and arguments. None counts as not given; `timeout` is in seconds."""

    skill: str | None
    env: Mapping[str, str] | None
    workdir: str | None
    stdin: str | None
    timeout: float | None
