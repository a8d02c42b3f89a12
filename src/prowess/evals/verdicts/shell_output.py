"""The meaning of the output of a shell call: complaints about missing files, and the contents of a SKILL.md."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.evals.verdicts.programs import READERS
from prowess.evals.verdicts.skill_names import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_THERE = re.compile(
    r"no such file|not found|cannot (?:open|find|access|stat)|can't (?:open|find|read)|could not (?:open|find|read)"
    r"|does not exist|permission denied|is a directory|not a directory|failed to (?:open|run|spawn)|enoent"
    r"|not recognized|cannot execute",
    re.IGNORECASE,
)
_PROGRAMS = "|".join(sorted(map(re.escape, (READERS - {"type", "view"}) | {"dd", "cp", "mv"}), key=len, reverse=True))
_SHELL_NAMES = r"(?:ba|z|da|k|fi)?sh|cmd"
# Possessive: an output of blanks alone would be tried from each of them.
_START = r"^[ \t]*+(?:Output: )?(?:[\w./-]{0,300}/)?"
_COMPLAINT = re.compile(
    rf"(?:{_START}\[?(?:{_PROGRAMS}|{_SHELL_NAMES})(?: error\])? ?: "
    r"|^(?:Output: )?(?:can't|cannot|could not|failed to) (?:open|read|find|access) |^(?:Output: )?\w{0,40}Error: ).*$",
    re.MULTILINE | re.IGNORECASE,
)
_LAUNCHERS = r"python[\d.]*|py|ruby|perl|php|deno|bun|env|sudo|timeout|nohup|nice|stdbuf|xargs|exec|uv|stat|pwsh|source"
_NOT_STARTED = re.compile(
    rf"(?:{_START}(?:{_LAUNCHERS}|{_SHELL_NAMES}): |^(?:Output: )?(?:(?:fatal )?error[ :]|could not open input file"
    r"|can't open perl script|the (?:term|argument) |'[^'\n]{1,300}' is not recognized|fatal: ))"
    r".*(?:\n[ \t]+caused by: .*)?$",
    re.MULTILINE | re.IGNORECASE,
)
_FRAME = re.compile(  # lines that a host adds to the output
    r"^(?:<[^>\n]*exit(?:ed)?[^>\n]*>|exit code:? -?\d+|process group pgid: \d+|</?untrusted_context>"
    r"|output: ?(?:\(empty\))?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_LINE = r"^[ \t\d:|\u2502.]*+"  # numbers and lines that `cat -n` and `bat` put in front
_MARKDOWN = re.compile(rf"{_LINE}(?:---[ \t]*\r?$|name:|#)", re.MULTILINE)
_NAME = re.compile(r"(?<![^\n:\t\u2502 ])name:([^\n]*)")
_BEFORE_NAME = re.compile(r"(?:[^\n:\t\u2502]*[:\t\u2502])*[ \t]*")
_MOST_BEFORE_NAME = 200  # characters
_FENCE = re.compile(rf"{_LINE}---[ \t]*\r?$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_LINES_OF_A_COMPLAINT = 12  # of PowerShell, which shows the command below it


class ShellOutput(Struct, frozen=True, kw_only=True):
    """The meaning of an output.

    `complaints` are lines such as `cat: FILE: No such file or directory`, in any language; `names` the folded names in
    frontmatter. `is_empty` is true if the output has nothing besides complaints about missing files. `has_markdown` is
    true if the rest has a line of frontmatter or a heading, `has_fence` if it has `---` of frontmatter.
    """

    complaints: tuple[str, ...]
    not_started: tuple[str, ...]
    names: frozenset[str]
    is_empty: bool
    has_markdown: bool
    has_fence: bool

    @classmethod
    def of(cls, result: str) -> ShellOutput:
        """Return the meaning of an output."""
        if "\x1b" in result:
            result = _COLOUR.sub("", result)
        complaints = tuple(_COMPLAINT.findall(result))
        rest = _COMPLAINT.sub(lambda match: "" if _NOT_THERE.search(match[0]) else match[0], result)
        rest = _FRAME.sub("", rest).strip()
        has_markdown = _MARKDOWN.search(rest) is not None
        return cls(
            complaints=complaints,
            not_started=tuple(line for line in _NOT_STARTED.findall(result) if _NOT_THERE.search(line)),
            names=frozenset(_names(result)),
            is_empty=not rest or (not has_markdown and _is_complaint(rest)),
            has_markdown=has_markdown,
            has_fence=has_markdown and _FENCE.search(rest) is not None,
        )

    def misses(self, path: str) -> bool:
        """Whether a program complains about the file."""
        written = path.removeprefix("~")
        about = [line for line in self.complaints if written in line or written in line.replace("\\", "/")]
        return any(_NOT_THERE.search(line) or re.search(rf"{re.escape(written)}['\u2019]?:? ", line) for line in about)

    def never_started(self, script: str) -> bool:
        """Whether a program says that the script is not there, or cannot be run."""
        name, written = posixpath.basename(script), script.replace("\\", "/").removeprefix("./")
        told = re.compile(rf"[^\s'\"`:]*{re.escape(name)}")
        paths = [path for line in self.not_started for path in told.findall(line)]
        return any(
            written.endswith(path.removeprefix("./")) or (path[0] == "/" and path.endswith(written)) for path in paths
        )


def _names(text: str) -> Iterator[str]:
    """Yield the folded names in lines such as `name: x` and `FILE:name: x`, also behind the number of the line."""
    for match in _NAME.finditer(text):
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _MOST_BEFORE_NAME)
        if _BEFORE_NAME.fullmatch(text, start, match.start()):
            yield folded(match[1].strip(" \t\r\"'"))


def _is_complaint(text: str) -> bool:
    """Whether an output without any Markdown is one complaint about a missing file, whatever program it is of."""
    first, _, rest = text.partition("\n")
    return _NOT_THERE.search(first[:1000]) is not None and rest.count("\n") < _LINES_OF_A_COMPLAINT
