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


class ListOptions(TypedDict, total=False):
    """Options of the list of skills except the budget. `exposure=None` uses the session's exposure.

    If not all skills fit, those that match `task` are listed first. `compact` is a task for a list of at most 1,024
    bytes.
    """

    exposure: ExposureName | None
    task: str | None
    compact: str | None


class OfferOptions(ListOptions, total=False):
    """Options of `tools` except the shape. `budget` is in tokens."""

    budget: int | None


class InstructionOptions(ListOptions, total=False):
    """Options of `instructions` except the budget."""

    navigation: bool
    tool_system: bool


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
