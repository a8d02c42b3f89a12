"""The words of a step as paths and values, without the additions of a shell or a host."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.shell.command_line import ShellWord
from prowess.evals.verdicts.skill_names import folded

if TYPE_CHECKING:
    from prowess._internal.shell.step import ShellStep

SKILL_FILE = "skill.md"
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def path_parts(path: str, directory: str | None = None) -> list[str]:
    """Return the folded components of a path, as far as it is known. A Windows path has them, too."""
    path = path.replace("\\", "/")
    whole = posixpath.normpath(posixpath.join(directory or "", path)) if path else ""
    # A blank at an end is a part of a name here; a line break comes from the host.
    return [part if part.strip("\r\n") != part.strip() else folded(part) for part in whole.split("/")]


def values_of(step: ShellStep, key: str) -> tuple[ShellWord, ...]:
    """Return the values of arguments such as `if=FILE`."""
    words = [word for word in step.words[1:] if word.text.startswith(key)]
    return tuple(ShellWord(text=word.text.removeprefix(key), expands=word.expands) for word in words)


def unbraced(word: ShellWord) -> list[str]:
    """Return the words that a shell makes of `a/{b,c}/d`."""
    match = _BRACES.search(word.text)
    if match is None:
        return [word.text]
    return [f"{word.text[: match.start()]}{part}{word.text[match.end() :]}" for part in match[1].split(",")]


def inside_of(step: ShellStep, outer: ShellStep) -> ShellStep:
    """Return a step of a line that a shell gets as a word, as the outer line shows it."""
    return replace(
        step,
        shown=step.shown and outer.shown,
        pipe=(*step.pipe, *outer.pipe),
        alone=step.alone and outer.alone,
        masked=step.masked or outer.masked,
        is_fallback=step.is_fallback or outer.is_fallback,
    )


def edits_in_place(words: tuple[ShellWord, ...]) -> bool:
    """Whether `sed` changes its files in place."""
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    return any(option.startswith("--in-place") or re.match(r"-[a-zA-Z]*i", option) for option in options)
