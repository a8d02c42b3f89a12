"""What YAML readers make of a plain scalar beside a text: a number, a boolean, nothing or a date.

We keep every scalar as the text that was written. Others do not, and not alike: of `on` or `1_000` a reader of YAML 1.1
makes a boolean or a number and one of YAML 1.2 a text. Whatever any of them types counts here.
"""

from __future__ import annotations

import re

_KINDS = (
    (
        "a number",
        r"[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?|0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+",
    ),
    ("a number", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?\d+(?::[0-5]?\d)+(?:\.\d*)?"),
    ("a boolean", r"true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N"),
    ("nothing", r"|~|null|Null|NULL"),
    ("a date", r"\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?"),
)  # YAML 1.1, types; YAML 1.2, core schema
_TYPED = tuple((kind, re.compile(pattern, re.ASCII)) for kind, pattern in _KINDS)


def type_beside_text(text: str) -> str | None:
    """Return what some reader takes a plain scalar for, `a number` for example; None where it is a text to all."""
    return next((kind for kind, pattern in _TYPED if pattern.fullmatch(text)), None)
