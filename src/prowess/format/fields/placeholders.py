"""Patterns of placeholders for arguments, shared by the runtime and the lint rules; names of directory variables.

`$N` is an argument unless it follows a letter, a digit, `_` or `$`, or precedes a letter, a digit, `_`, `,ddd` or `.d`:
`US$1`, `$B$2`, `$5M`, `$1,000` and `$1.50` are amounts, cells and variables. Claude Code only checks whether a letter,
a digit or `_` follows.
"""

from __future__ import annotations

# Variables for the skill's directory, the plugin's directory and the workspace, in hooks and in tool tokens.
SKILL_VARIABLES = ("CLAUDE_SKILL_DIR", "SKILL_DIR")
PLUGIN_VARIABLE, PROJECT_VARIABLE = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR"

# Latin, Greek and Cyrillic. Scripts without spaces between words write a placeholder next to a letter.
LETTER = r"[A-Za-z0-9_\u00c0-\u024f\u0370-\u052f]"
NUMBERED = rf"(?<!{LETTER})(?<!\$)\$(?P<number>0|[1-9][0-9]{{0,5}})(?!{LETTER}|\.[0-9]|,[0-9]{{3}})"
# One digit: skills do not have eleven arguments, and `$10` is an amount.
NUMBERED_IN_CLAUDE_CODE = r"(?a)(?:(?<!\\)|(?<=\\\\))\$[0-9](?!\w)"
