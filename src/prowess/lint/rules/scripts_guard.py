"""The rule `scripts.guard`."""

from __future__ import annotations

from prowess.lint.rule import Findings, LintRule, LintSubject, RuleMeta, Severities

_DELETES = ("shutil.rmtree(", "rm -rf ", "rm -r ", "os.remove(", "fs.rmSync(", "DROP TABLE")
_FLAGS = ("--dry-run", "--force", "--yes", "--confirm", "dry_run", "tempfile", "mktemp")


class ScriptsGuard(LintRule):
    """A script that deletes data without confirmation.

    What it does:
        Looks for calls that delete files, directories or tables in scripts without `--dry-run`, `--force`, `--yes` or
        `--confirm`.

    Why it matters:
        An agent may run a script just to see what it does.

    Example:
        `shutil.rmtree(path)`

    Instead:
        A flag `--dry-run` that shows what would be deleted
    """

    meta = RuleMeta(
        id="scripts.guard",
        order=61,
        severities=Severities(),
        summary="Scripts that delete have a --dry-run.",
        source="Agent Skills guide on scripts",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script that deletes data and has no flag for confirmation."""
        for script in subject.files.scripts:
            at = min((at for mark in _DELETES if (at := script.code.find(mark)) >= 0), default=-1)
            if at >= 0 and not any(flag in script.text for flag in _FLAGS):
                yield self.meta.found(
                    f"{script.path} deletes data; add --dry-run or --force",
                    subject.file_place(script.path, at, script.text),
                )
