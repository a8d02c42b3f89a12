"""The rule `directory.placement`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_WRONG = (("references", (".py", ".sh"), "scripts"), ("scripts", (".md", ".pdf"), "references"))
_MAX_LOOKED_AT = 200


class DirectoryPlacement(LintRule):
    """A file in the wrong directory.

    What it does:
        Looks for code in `references/` and `assets/`, and for Markdown in `scripts/`.

    Why it matters:
        Agents run what lies in scripts, read what lies in references, and copy what lies in assets.

    Example:
        `references/run.py`

    Instead:
        `scripts/run.py`
    """

    meta = RuleMeta(
        id="directory.placement",
        order=59,
        severities=Severities(boxxy=INFO),
        summary="Files lie where agents look for them.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each such file."""
        for folder, endings, better in _WRONG:
            if subject.files.entries("").get(folder) != "directory":
                continue
            for name, kind in list(subject.files.entries(folder).items())[:_MAX_LOOKED_AT]:
                if kind == "file" and name.lower().endswith(endings) and name.lower() != "readme.md":
                    yield self.meta.found(f"{folder}/{name} belongs into {better}/", subject.body_start)
