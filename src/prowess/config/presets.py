"""Named bundles of settings. A preset stands just above the defaults: whatever is set anywhere else beats it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO


class Preset(Struct, frozen=True, kw_only=True):
    """`severity` and `shift` mean what they mean in a `Selection`; None is off."""

    name: str
    summary: str
    ignore: tuple[str, ...] = ()
    severity: tuple[tuple[str, Severity | None], ...] = ()
    shift: tuple[tuple[Severity, Severity | None], ...] = ()


_PRESETS = (
    Preset(name="recommended", summary="what the profile says"),
    Preset(name="strict", summary="each warning is an error", shift=((_W, _E),)),
    Preset(name="quiet", summary="no infos", shift=((_I, None),)),
    Preset(name="minimal", summary="errors alone", shift=((_W, None), (_I, None))),
    Preset(
        name="portable",
        summary="what some clients refuse is an error, such as a name beyond ASCII or the file name skill.md",
        severity=(
            ("name.ascii", _E),
            ("allowed-tools.separator", _E),
            ("file.name", _E),
            ("encoding.bom", _E),
            ("reference.case", _E),
        ),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _PRESETS})
