"""The rule `scripts.unpinned`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_RUNNERS = (("npx", ""), ("bunx", ""), ("uvx", ""), ("pipx", "run"), ("deno", "run"), ("go", "run"))
_MAX_FOUND = 20
_WITH_VALUE = frozenset({"--from", "--with", "--python", "-p", "--package"})


class ScriptsUnpinned:
    """A one-off command that runs whatever version is newest.

    What it does:
        Looks in code blocks and scripts for `npx`, `bunx`, `uvx`, `pipx run`, `deno run npm:` and `go run` of a
        module without a version.

    Why it matters:
        The command runs code that nobody has seen yet, and may behave differently tomorrow.

    Example:
        `uvx ruff check .`

    Instead:
        `uvx ruff@0.14.0 check .`
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="scripts.unpinned",
        family="lint",
        severity=Severity.INFO,
        summary="One-off commands name a version.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each command."""
        found = 0
        if any(f"{word} {action}" in subject.body for word, action in _RUNNERS):
            for start, end in ((block.start, block.end) for block in subject.outline.blocks):
                for package, at in _unpinned(subject.body[start:end]):
                    found += 1
                    if found > _MAX_FOUND:
                        return
                    yield self.meta.found(_say(package), subject.at(start + at, start + at + len(package)))
        for script in subject.scripts:
            if script.language == "shell":
                for package, at in list(_unpinned(script.code))[:_MAX_FOUND]:
                    yield self.meta.found(_say(package), subject.file_place(script.path, at, script.text))


def _say(package: str) -> str:
    return f"{package} runs in whatever version is newest; name one, such as {package}@1.2.3"


def _unpinned(text: str) -> Iterator[tuple[str, int]]:
    offset = 0
    for line in text.split("\n"):
        words = line.split()
        words = words[1:] if words[:1] == ["$"] else words
        for runner, action in _RUNNERS:
            if words[:1] == [runner] and (not action or words[1:2] == [action]):
                package = _package(words[2 if action else 1 :], runner)
                if package:
                    yield package, offset + line.find(package)
        offset += len(line) + 1


def _package(words: list[str], runner: str) -> str | None:
    """Return the package of a one-off command where it names no version."""
    name = ""
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            name = next(rest, "")
            break
        if not word.startswith("-"):
            name = word
            break
    if runner == "deno" and not name.startswith(("npm:", "jsr:")):
        return None
    if runner == "go" and ("/" not in name or "." not in name.partition("/")[0]):
        return None
    bare = name.removeprefix("npm:").removeprefix("jsr:")
    if not bare or bare[0] in "./<[{$\\\"'" or "://" in bare or "==" in bare or "git+" in bare:
        return None
    version = bare[1:].partition("@")[2]
    return None if version and version != "latest" else bare[: len(bare) - len(version) - bool(version)]
