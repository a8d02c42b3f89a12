"""The placeholders for one argument, as a runtime replaces them and as advice looks for them; variables of directories.

`$N` stands for an argument unless a letter, a digit, `_` or `$` is before it, or a letter, a digit, `_`, `,ddd` or `.d`
after it: `US$1`, `$B$2`, `$5M`, `$1,000` and `$1.50` are amounts, cells and variables. Claude Code looks only at what
follows, for a letter, a digit or `_`.
"""

from __future__ import annotations

# The directory of the skill, that of its plugin, and the workspace: in hooks and in tokens of tools.
SKILL_VARIABLES = ("CLAUDE_SKILL_DIR", "SKILL_DIR")
PLUGIN_VARIABLE, PROJECT_VARIABLE = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR"

# Latin, Greek and Cyrillic: scripts without blanks between words write a placeholder next to a letter.
LETTER = r"[A-Za-z0-9_\u00c0-\u024f\u0370-\u052f]"
NUMBERED = rf"(?<!{LETTER})(?<!\$)\$(?P<number>0|[1-9][0-9]{{0,5}})(?!{LETTER}|\.[0-9]|,[0-9]{{3}})"
# One digit: nobody gives eleven arguments, and `$10` is an amount.
NUMBERED_IN_CLAUDE_CODE = r"(?a)(?:(?<!\\)|(?<=\\\\))\$[0-9](?!\w)"
