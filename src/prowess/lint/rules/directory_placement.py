"""The rule `directory.placement`."""

from __future__ import annotations

from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities

_WRONG = (("references", (".py", ".sh"), "scripts"), ("scripts", (".md", ".pdf"), "references"))
_MAX_LOOKED_AT = 200


class DirectoryPlacement(LintRule):
    """A file in the wrong directory.

    What it does:
        Looks for `.py` and `.sh` files in `references/`, and for `.md` and `.pdf` files in `scripts/`.

    Why it matters:
        Agents run files in `scripts/`, read files in `references/`, and copy files in `assets/`.

    Example:
        `references/run.py`

    Instead:
        `scripts/run.py`
    """

    meta = RuleMeta(
        id="directory.placement",
        order=59,
        severities=Severities(boxxy=INFO),
        summary="Files are in the directory for their kind.",
        source="boxxy formal specification and implementation guide",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each misplaced file."""
        for folder, endings, better in _WRONG:
            if subject.files.entries("").get(folder) != "directory":
                continue
            for name, kind in list(subject.files.entries(folder).items())[:_MAX_LOOKED_AT]:
                if kind == "file" and name.lower().endswith(endings) and name.lower() != "readme.md":
                    yield self.meta.found(f"{folder}/{name} belongs in {better}/", subject.body_start)
