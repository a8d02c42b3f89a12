"""The stored values of a reading that is not plain."""

from __future__ import annotations

from msgspec import Struct

from prowess.diagnostics import Diagnostic  # noqa: TC001 -- msgspec decodes it


class StoredReading(Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """The attributes of `Reading` beside its stamp, for front matter that was read by the full parser."""

    name: str
    file: str
    facts: dict[str, object]
    faults: tuple[Diagnostic, ...]
    reserved: tuple[str, ...] | None
