"""Apply the fixes of findings to files.

`fix_document` applies fixes to the bytes of one SKILL.md in rounds. After each round it checks that only the fields and
texts that the fixes declare have changed. `replace_file` then replaces the file on disk. The caller provides the rules.
"""

from __future__ import annotations

from prowess.fix.applying import Applied, FixedDocument, apply_fixes, fix_document

__all__ = ["Applied", "FixedDocument", "apply_fixes", "fix_document"]
