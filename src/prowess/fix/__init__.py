"""Fixes that findings carry, put into files: what changes, what must not, and how the file is replaced.

`fix_document` applies fixes to the bytes of one SKILL.md, round by round, and looks after each round whether anything
else now reads differently; `replace_file` puts the result in place of the old file. Rules and judgement come from the
caller.
"""

from __future__ import annotations

from prowess.fix.applying import Applied, FixedDocument, apply_fixes, fix_document

__all__ = ["Applied", "FixedDocument", "apply_fixes", "fix_document"]
