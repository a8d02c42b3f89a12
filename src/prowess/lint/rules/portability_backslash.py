"""The rule `portability.backslash`."""

from __future__ import annotations

from prowess.diagnostics import Fix, FixSafety
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_ESCAPES = frozenset("nrt")


class PortabilityBackslash(LintRule):
    """A path in the skill written with backslashes.

    What it does:
        Looks for `scripts`, `references` or `assets` followed by a backslash, in links, code and text. A directory that
        the skill does not have is ignored.

    Why it matters:
        On Linux and macOS a backslash is part of a file name, so the file is not found.

    Example:
        `python scripts`, a backslash, `fill.py`

    Instead:
        `python scripts/fill.py`
    """

    meta = RuleMeta(
        id="portability.backslash",
        order=28,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="Paths are written with slashes.",
        source="practice of public skills",
        fixes="writes a slash, with --unsafe-fixes",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield the first path with a backslash of each directory."""
        for folder in ("scripts\\", "references\\", "assets\\"):
            at = subject.body.find(folder)
            if at < 0 or (subject.document.directory is not None and folder[:-1] not in subject.files.entries("")):
                continue  # the path of another project, in an example
            if not _begins_a_name(subject, at, subject.body[at + len(folder) : at + len(folder) + 2]):
                continue
            end = at + len(folder) - 1
            edit = subject.document.origin.edit(
                end + subject.document.body_offset, end + 1 + subject.document.body_offset, "/"
            )
            fix = Fix(safety=FixSafety.UNSAFE, title="write a slash", edits=(edit,))
            yield self.meta.found(f"{folder} works only on Windows; write a slash", subject.at(at, end + 1), fix=fix)


def _begins_a_name(subject: LintSubject, at: int, after: str) -> bool:
    """Whether the characters after a backslash begin a file name.

    A backslash before `_` is a Markdown escape, except in code. Before `n`, `r` or `t` it may be an escape of a string.
    """
    if after[:1] == "_":
        return any(span.start <= at < span.end for span in subject.outline.spans)
    return after[:1].isalnum() and (after[0] not in _ESCAPES or after[1:].isalnum())
