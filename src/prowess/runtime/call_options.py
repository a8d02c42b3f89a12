"""The options of single calls of a session, declared once for `Session`, `SyncSession` and the adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Mapping

ExposureName = Literal["tools", "skill", "files"]
EXPOSURE_NAMES: tuple[ExposureName, ...] = ("tools", "skill", "files")


def checked_exposure(name: str) -> ExposureName:
    """Return the name of an exposure.

    Raises:
        InvalidArgumentsError: there is none of this name.
    """
    for known in EXPOSURE_NAMES:
        if name == known:
            return known
    listed = ", ".join(map(repr, EXPOSURE_NAMES))
    raise InvalidArgumentsError((f"Invalid parameter value: exposure: expected one of {listed}",))


class OfferOptions(TypedDict, total=False):
    """What `tools` takes beside the shape: None stands for the session's own exposure; the budget is in tokens."""

    exposure: ExposureName | None
    budget: int | None


class InstructionOptions(TypedDict, total=False):
    """What `instructions` takes beside the budget; None stands for the session's own exposure."""

    exposure: ExposureName | None
    navigation: bool
    tool_system: bool
    compact: str | None


class ReadOptions(TypedDict, total=False):
    """What `read` takes beside the path; None stands for absent."""

    skill: str | None
    artifact: str | None
    encoding: Literal["text", "binary"] | None
    offset: int | None
    limit: int | None
    section: str | None


class RunOptions(TypedDict, total=False):
    """What `run_script` takes beside path and arguments; None stands for absent, `timeout` is in seconds."""

    skill: str | None
    env: Mapping[str, str] | None
    workdir: str | None
    stdin: str | None
    timeout: float | None
