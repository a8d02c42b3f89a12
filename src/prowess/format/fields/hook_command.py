"""Parser of a hook's command line: words and variables, without a shell.

Words are split and unquoted as in a shell, and the variables that hosts define are replaced by values. Any other shell
syntax (pipes, substitution, globs, other variables) is a fault, and then the whole command is refused. The program
itself may be a shell, as in `bash -c '…'`: the quoted argument is passed on without being parsed.

Claude Code documentation, "Hooks reference", `command`, `CLAUDE_PROJECT_DIR`, `CLAUDE_PLUGIN_ROOT`.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.shell.plain_command import plain_words
from prowess._internal.shell.words import ShellRefusal
from prowess.format.fields.placeholders import PLUGIN_VARIABLE, PROJECT_VARIABLE, SKILL_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Has = Callable[[str, str], bool]  # (directory name of a skill, path) -> whether that skill has the file

Base = Literal["skill", "plugin", "project", "home"]
VARIABLES: Mapping[str, Base] = {
    **dict.fromkeys(SKILL_VARIABLES, "skill"),
    PLUGIN_VARIABLE: "plugin",
    **dict.fromkeys((PROJECT_VARIABLE, "WORKSPACE"), "project"),
    "HOME": "home",
}
_NO_TEXT = "contains a character that is not allowed in a command line"
NEEDS_SHELL = "needs a shell, and hooks are run without one ({}); name a script of the skill instead"

# Matches a variable without a backslash before it, or the home directory at the start of a word.
_PLACEHOLDER = re.compile(
    rf"(?<!\\)\$(?:(?P<bare>{'|'.join(VARIABLES)})(?![A-Za-z0-9_])|\{{(?P<braced>{'|'.join(VARIABLES)})\}})|(?<!\S)~(?=/)"
)
_MOST_OF_A_PATH = 4096  # characters, as in Linux; limits the work, because each part of a path is tried
_QUOTED = re.compile(r"""(?s)\\.|'[^']*'?|"(?:\\.|[^"\\])*"?""")  # also matches characters after a backslash
_OPEN, _CLOSE = "\ue002", "\ue003"  # private characters around the name of a variable


class Variable(Struct, frozen=True, kw_only=True):
    """A variable in a word: its name, and the directory that it refers to."""

    name: str
    base: Base


class HookWord(Struct, frozen=True, kw_only=True):
    """One word: texts and variables, in order."""

    parts: tuple[str | Variable, ...]

    @property
    def text(self) -> str | None:
        """The text of the word; `None` if it contains a variable."""
        texts = [part for part in self.parts if isinstance(part, str)]
        return "".join(texts) if len(texts) == len(self.parts) else None

    @property
    def written(self) -> str:
        """The word with its variables as `${NAME}`."""
        return "".join(part if isinstance(part, str) else f"${{{part.name}}}" for part in self.parts)

    def valued(self, values: Mapping[Base, str]) -> str:
        """Return the word with its variables replaced by values."""
        return "".join(part if isinstance(part, str) else values[part.base] for part in self.parts)

    @property
    def path(self) -> tuple[Base, tuple[str, ...]] | None:
        """The base and the path components below it, if the word is a path below a variable; otherwise `None`.

        Leading `..` components remain if the path leaves the base.
        """
        first, *rest = self.parts
        below = "".join(part if isinstance(part, str) else "\0" for part in rest)
        if isinstance(first, str) or not below.startswith("/") or "\0" in below:
            return None
        return first.base, tuple(part for part in posixpath.normpath(below.lstrip("/")).split("/") if part != ".")


class HookCommand(Struct, frozen=True, kw_only=True):
    """A parsed command line. If it cannot be run without a shell, `fault` is the reason and `words` is empty."""

    words: tuple[HookWord, ...] = ()
    fault: str | None = None


class FileOfSkill(Struct, frozen=True, kw_only=True):
    """A file named by a word: the name of the skill's directory, and the path below it."""

    skill: str
    path: str


def read_words(words: Sequence[str]) -> HookCommand:
    """Parse words that are already split, including their variables."""
    if not {_OPEN, _CLOSE}.isdisjoint("".join(words)):
        return HookCommand(fault=_NO_TEXT)
    return HookCommand(words=tuple(HookWord(parts=_parts(_PLACEHOLDER.sub(_mark, word))) for word in words))


def read_command(command: str) -> HookCommand:
    """Split a command line into words and variables."""
    if not {_OPEN, _CLOSE}.isdisjoint(command):
        return HookCommand(fault=_NO_TEXT)

    # A variable in single quotes is literal text, as `bash -c '…'` receives it.
    literal = [found.span() for found in _QUOTED.finditer(command) if found[0].startswith("'")]

    def marked(match: re.Match[str]) -> str | None:
        before = bisect_right(literal, (match.start(),)) - 1
        return None if before >= 0 and match.start() < literal[before][1] else _mark(match)

    words = plain_words(command, _PLACEHOLDER, marked)
    if isinstance(words, ShellRefusal):
        return HookCommand(fault=NEEDS_SHELL.format(words.reason))
    return HookCommand(words=tuple(HookWord(parts=_parts(word)) for word in words))


def _mark(match: re.Match[str]) -> str:
    return f"{_OPEN}{match['bare'] or match['braced'] or 'HOME'}{_CLOSE}"


def _parts(word: str) -> tuple[str | Variable, ...]:
    # Every second piece is the name of a variable.
    pieces = re.split(f"{_OPEN}([A-Z_]+){_CLOSE}", word)
    found = [Variable(name=text, base=VARIABLES[text]) if at % 2 else text for at, text in enumerate(pieces)]
    return tuple(part for part in found if part) or ("",)


def file_of_skill(word: HookWord, own: str, has: Has) -> FileOfSkill | None:
    """Return the file of a skill that a word names by a variable; `None` if the word names no such file.

    `own` is the name of the skill's directory. A path below the plugin, the project or the home directory refers to a
    skill if one of its directories has the skill's name and the skill contains the rest of the path. A host would have
    installed the skill at that place.
    """
    if word.path is None:
        return None
    base, parts = word.path
    if len(word.written) > _MOST_OF_A_PATH:
        return None
    if base == "plugin" and has(own, "/".join(parts)):
        return FileOfSkill(skill=own, path="/".join(parts))
    if base == "skill":
        parts = tuple(posixpath.normpath("/".join((own, *parts))).split("/"))
        places = [0]
    else:
        places = [place for place in range(len(parts) - 1) if parts[place] != ".."]
    for place in places:
        skill, path = parts[place], "/".join(parts[place + 1 :])
        if path and skill != ".." and has(skill, path):
            return FileOfSkill(skill=skill, path=path)
    return None
