"""Where a value comes from: a line of a file, a variable, a flag, a preset, or nowhere in particular."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["default", "preset", "user", "project", "environment", "flag"]


class Origin(Struct, frozen=True, kw_only=True):
    """`name` is the path, variable, flag or preset; `line` is 1-based and stands only beside a path."""

    kind: Kind
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        """`prowess.toml:3`, `PROWESS_PROFILE`, `--profile`, `preset strict` or `default`."""
        if self.kind == "default":
            return "default"
        if self.kind == "preset":
            return f"preset {self.name}"
        return self.name if self.line is None else f"{self.name}:{self.line}"


class Value(Struct, frozen=True, kw_only=True):
    """The value of one setting, of the type that `Setting.kind` names, and where it was set.

    `entries` has the origin of each entry of a table.
    """

    value: object
    origin: Origin
    entries: Mapping[str, Origin] = field(default_factory=dict)


DEFAULT = Origin(kind="default")
