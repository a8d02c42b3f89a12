"""The texts of a skill's other files, read once, each in part: scripts, and Markdown that its links lead to.

What is too large, is no text or cannot be read has no text here; a finding on it would be a guess.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from prowess.lint.skill_files import SkillFiles

MAX_SCRIPTS = 50
_MAX_TEXTS = 200
_MAX_BYTES = 256 * 1024  # of one file
_LANGUAGES: dict[str, Literal["python", "shell", "javascript"]] = {
    "py": "python",
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "ts": "javascript",
}


class ScriptText(Struct, frozen=True, kw_only=True):
    """One script: its path in the skill, what it is written in, its text, and the text without comments."""

    path: str
    language: Literal["python", "shell", "javascript"]
    text: str
    code: str


class SkillTexts:
    """Texts of files by their path in the skill."""

    def __init__(self, files: SkillFiles) -> None:
        self._files = files
        self._texts: dict[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """Return the text of a file, line breaks as LF; None where it has none that can be judged."""
        if path not in self._texts:
            self._texts[path] = self._read(path) if len(self._texts) < _MAX_TEXTS else None
        return self._texts[path]

    @cached_property
    def scripts(self) -> tuple[ScriptText, ...]:
        """The first scripts below `scripts/`, by their ending."""
        found = []
        for path in self._files.listed:
            language = _LANGUAGES.get(path.rpartition(".")[2])
            if language is None or not path.startswith("scripts/"):
                continue
            text = self.text(path)
            if text is not None:
                found.append(
                    ScriptText(path=path, language=language, text=text, code=_without_comments(text, language))
                )
            if len(found) == MAX_SCRIPTS:
                break
        return tuple(found)

    def _read(self, path: str) -> str | None:
        try:
            with ContainedRoot(self._files.directory) as root, root.open(path, allow_hard_links=True) as opened:
                data = opened.read(_MAX_BYTES + 1)
        except (OSError, UnsafePathError):
            return None
        if len(data) > _MAX_BYTES or b"\0" in data:
            return None
        return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _without_comments(text: str, language: str) -> str:
    """Blank the lines that are comments as a whole, offset for offset."""
    marks = ("//", "*", "/*") if language == "javascript" else ("#",)
    lines = (" " * len(line) if line.lstrip().startswith(marks) else line for line in text.split("\n"))
    return "\n".join(lines)


def in_long_text(script: ScriptText, offset: int) -> bool:
    """Whether an offset of a Python script lies between three quotes, where code is another script's."""
    before = script.text[:offset]
    return script.language == "python" and (before.count('"""') % 2 == 1 or before.count("'''") % 2 == 1)
