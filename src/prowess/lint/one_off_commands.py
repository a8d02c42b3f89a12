"""One-off commands in instructions and shell scripts: `npx`, `bunx`, `uvx`, `pipx run`, `deno run`, `go run`.

The rules use two facts about a command without a version: its package, and whether it is certain to run the newest
version. `npx`, `bunx` and `go run` use the version of the project in which they run, if the project has one.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Location
    from prowess.lint.subject import LintSubject

_RUNNERS = {"npx": "", "bunx": "", "uvx": "", "pipx": "run", "deno": "run", "go": "run"}
_SIGNS = tuple(f"{word} {action}" for word, action in _RUNNERS.items())
_WITH_VALUE = frozenset({"--from", "--with", "--python", "-p", "--package", "-c", "--registry"})
_BEFORE_A_COMMAND = frozenset({"$", "|", "||", "&&", ";", "--", "(", "sudo", "time", "exec", "then", "do", "else", "!"})
_NEGATIONS = ("never", "n't ", "not ", "avoid", "instead of", "rather than", "without")
_END_OF_CLAUSE = r"[.,;:!?](?:\s|$)"
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@/._-[]")
_ENDS = "`\"'),;"
_MAX_FOUND = 20
_REACH = 400  # characters of the line that are searched before a code span
_MAX_SPANS = 1000  # code spans in a body that name a runner
_MAX_WORDS = 40  # words read after the runner of one command


class OneOffCommand(Struct, frozen=True, kw_only=True):
    """A command that runs a package without a version.

    `place` is the place of the package name. `newest` is true if the command certainly runs the newest version.
    """

    package: str
    newest: bool
    place: Location


def unpinned_commands(subject: LintSubject) -> list[OneOffCommand]:
    """Return up to `_MAX_FOUND` commands without a version: from code blocks, code spans, then shell scripts."""
    return list(islice(_all_unpinned(subject), _MAX_FOUND))


def _all_unpinned(subject: LintSubject) -> Iterator[OneOffCommand]:
    if any(sign in subject.body for sign in _SIGNS):
        for start, text, block in _code(subject):
            for package, newest, at in _unpinned(text, block=block):
                yield OneOffCommand(
                    package=package, newest=newest, place=subject.at(start + at, start + at + len(package))
                )
    for script in subject.files.scripts:
        if script.language == "shell" and any(sign in script.code for sign in _SIGNS):
            for package, newest, at in _unpinned(script.code, block=True):
                yield OneOffCommand(
                    package=package, newest=newest, place=subject.file_place(script.path, at, script.text)
                )


def _code(subject: LintSubject) -> Iterator[tuple[int, str, bool]]:
    """Yield offset, text, and whether it is a block, for each code block and each code span that names a runner.

    A span is skipped if a negation such as "never" precedes it in the same clause.
    """
    for block in subject.outline.blocks:
        yield block.start, subject.body[block.start : block.end], True
    seen = 0
    for span in subject.outline.spans:
        text = subject.body[span.start : span.end]
        if any(sign in text for sign in _SIGNS):
            seen += 1
            if seen > _MAX_SPANS:
                return
            nearest = max(span.start - _REACH, 0)
            before = subject.lower[max(subject.lower.rfind("\n", nearest, span.start) + 1, nearest) : span.start]
            if not any(word in re.split(_END_OF_CLAUSE, before)[-1] for word in _NEGATIONS):
                code = text.lstrip("`")
                yield span.start + len(text) - len(code), code, False


def _unpinned(text: str, *, block: bool) -> Iterator[tuple[str, bool, int]]:
    offset = 0
    for line in text.split("\n"):
        if any(sign in line for sign in _SIGNS):
            words, place = line.split(), 0
            for at, word in enumerate(words):
                place = line.index(word, place) + len(word)
                action = _RUNNERS.get(word)
                if action is None or not _begins(words, at) or (action and words[at + 1 : at + 2] != [action]):
                    continue
                first = at + (2 if action else 1)
                rest = words[first : first + _MAX_WORDS]
                package, tag = _package(rest, word)
                newest = bool(tag) or _newest(rest, word, package)
                # A code span that has only a runner and a package may be just the name of the tool.
                if not block and not tag and newest and rest[-1].rstrip(_ENDS) == package:
                    newest = False
                    package = package if word in {"npx", "bunx"} else ""
                if package:
                    yield package, newest, offset + line.index(package, place)
        offset += len(line) + 1


def _begins(words: list[str], at: int) -> bool:
    """Whether the word at this index is the first word of a command."""
    return at == 0 or words[at - 1] in _BEFORE_A_COMMAND or words[at - 1].endswith((";", "&&", "|"))


def _newest(words: list[str], runner: str, package: str) -> bool:
    """Whether the command runs the newest version even if the project has another one."""
    if runner in {"uvx", "pipx", "deno"}:
        return True
    return runner != "go" and (package.rpartition("/")[2].startswith("create-") or words[0] in {"-y", "--yes"})


def _package(words: list[str], runner: str) -> tuple[str, str]:
    """Return the package of a command and its tag (`latest`, `next` or empty).

    Both are empty if the command names a version or no package of a registry.
    """
    name = ""
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            name = next(rest, "")
            if word in {"--from", "-p", "--package"}:
                break
            name = ""
        elif not word.startswith("-"):
            name = word
            break
    name = name.rstrip(_ENDS)
    if runner == "deno" and not name.startswith(("npm:", "jsr:")):
        return "", ""
    if runner == "go" and ("/" not in name or "." not in name.partition("/")[0]):
        return "", ""
    bare = name.removeprefix("npm:").removeprefix("jsr:")
    if not _NAME_CHARACTERS.issuperset(bare) or not bare[1:] or bare[0] in "./[-_" or bare[-1] in "./-_@":
        return "", ""
    version = bare[1:].partition("@")[2]
    if version and version not in {"latest", "next"}:
        return "", ""
    return bare[: len(bare) - len(version) - bool(version)], version
