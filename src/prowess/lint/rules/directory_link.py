"""The rule `directory.link`."""

from __future__ import annotations

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_FOLDERS = ("scripts", "references", "assets")
_MAX_LOOKED_AT = 1000


class DirectoryLink(LintRule):
    """A symbolic link among the files of the skill.

    What it does:
        Looks for symbolic links in the skill's directory and in `scripts/`, `references/` and `assets/`.

    Why it matters:
        The target of a link that leads out of the skill is missing on another machine, and hosts refuse to follow it.

    Example:
        `scripts/run` as a link to `../../other/run`

    Instead:
        A copy of the file
    """

    meta = RuleMeta(
        id="directory.link",
        order=60,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="No file is a symbolic link.",
        source="practice of public skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each symbolic link."""
        top = subject.files.entries("")
        for folder in ("", *(name for name in _FOLDERS if top.get(name) == "directory")):
            for name, kind in list(subject.files.entries(folder).items())[:_MAX_LOOKED_AT]:
                if kind == "link":
                    path = f"{folder}/{name}" if folder else name
                    message = f"{path} is a symbolic link; put a copy of the file there"
                    yield self.meta.found(message, subject.file_place(path))
