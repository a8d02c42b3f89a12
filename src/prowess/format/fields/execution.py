"""How a skill wishes to be run, read from the field `execution`.

A wish grants nothing: the host's own limits and its sandbox hold whatever stands here. A number outside its bounds
becomes the nearest one; what cannot be read at all is left to the host, and where it would open something it counts as
the narrowest value.

Agent skills platform, script execution security; the limits of a turn as a platform in use spells and bounds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from msgspec import Struct

from prowess.format.fields.value_readers import (
    is_blank,
    kind,
    read_boolean,
    read_choice,
    read_seconds,
    read_text,
    read_texts,
    read_whole,
    report_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.format.fields.value_readers import Faults, Path

ExecutionMode = Literal["simple", "autonomous"]
MAX_ITERATIONS = 100
MAX_RETRIES = 10
MAX_ITERATION_SECONDS = 3600.0
_RULE = "execution.type"


class Execution(Struct, frozen=True, kw_only=True):
    """None leaves a setting to the host.

    `sandbox` is false only where the skill says so. `allowed_paths` are as written, None where the key is absent.
    `network` is a word as written, `restricted` or `none` in use. Times are in seconds.
    """

    mode: ExecutionMode | None = None
    max_iterations: int | None = None
    max_retries_per_tool: int | None = None
    timeout_per_iteration: float | None = None
    early_termination: bool | None = None
    sandbox: bool = True
    allowed_paths: tuple[str, ...] | None = None
    network: str | None = None


def read_execution(value: object, faults: Faults) -> Execution:
    """Read the field; what is wrong is added to `faults`."""
    if is_blank(value):
        return Execution()
    if not isinstance(value, dict):
        message = f"execution is {kind(value)}, it must be a mapping such as max-iterations: 20"
        faults.add(_RULE, message, ("execution",))
        return Execution()
    report_unknown(value, _READERS, _RULE, ("execution",), faults, then="; it is ignored")
    read = {
        key.replace("-", "_"): _READERS[key](setting, ("execution", key), faults)
        for key, setting in value.items()
        if key in _READERS
    }
    return Execution(**read)  # type: ignore[arg-type]  # each reader returns the type of its field


_mode = read_choice(get_args(ExecutionMode))
_READERS: dict[str, Callable[[object, Path, Faults], object]] = {
    "mode": lambda value, path, faults: _mode(value, _RULE, path, faults),
    "max-iterations": lambda value, path, faults: read_whole(value, _RULE, path, faults, bounds=(1, MAX_ITERATIONS)),
    "max-retries-per-tool": lambda value, path, faults: read_whole(value, _RULE, path, faults, bounds=(0, MAX_RETRIES)),
    "timeout-per-iteration": lambda value, path, faults: read_seconds(
        value, _RULE, path, faults, most=MAX_ITERATION_SECONDS
    ),
    "early-termination": lambda value, path, faults: read_boolean(value, _RULE, path, faults),
    "sandbox": lambda value, path, faults: read_boolean(value, _RULE, path, faults) is not False,
    "allowed-paths": lambda value, path, faults: read_texts(value, _RULE, path, faults) or (),
    "network": lambda value, path, faults: read_text(value, _RULE, path, faults) or "none",
}
