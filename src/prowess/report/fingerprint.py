"""What a finding is called so that it is known again when lines have moved: its rule, its file and its line's text.

The number of a line is no part of it, and neither is the wording of the message, except where a finding is about no
text in particular.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

_BLANKS = re.compile(r"\s+")
_DIGITS = re.compile(r"[0-9]+")


def fingerprint(found: Diagnostic, document: SkillDocument) -> str:
    """Return 32 hexadecimal digits; two findings have the same where their rule, file and text are the same."""
    location = found.location
    lead = os.path.join(os.path.dirname(document.path or ""), "")
    file = (location.path or "").removeprefix(lead).replace(os.sep, "/")
    if location.path == document.path and location.end_line is not None:
        lines = document.text.split("\n", location.line)
        text = lines[location.line - 1] if location.line <= len(lines) else ""
    else:
        text = _DIGITS.sub("#", found.message)
    parts = (found.rule, found.detail or "", file, _BLANKS.sub(" ", text).strip())
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
