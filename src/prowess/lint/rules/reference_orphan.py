"""The rule `reference.orphan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from prowess.diagnostics import Severity
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_FOLDERS = ("references", "scripts", "assets")
_MAX_LOOKED_FOR = 200
_MAX_FOUND = 20
_PLUMBING = (
    "__init__.py",
    "__main__.py",
    "license",
    "package-lock.json",
    "package.json",
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "tsconfig.json",
    "conftest.py",
    ".gitignore",
    "readme.md",
    "go.mod",
    "go.sum",
)
_TEXTS = (".md", ".py", ".sh", ".js", ".ts", ".mjs", ".json", ".toml", ".yaml", ".yml", ".html", ".txt")


class ReferenceOrphan:
    """A file that nothing in the skill mentions.

    What it does:
        Looks for each file of `references/`, `scripts/` and `assets/` by its name, or that of its directory, in
        SKILL.md and in the other texts of the skill. Licences, lock files and files that make a package are left
        out.

    Why it matters:
        An agent reads what it is told of. A file that nobody names is dead weight, or one whose mention was
        forgotten.

    Example:
        `references/limits.md`, and no text of the skill says limits.md

    Instead:
        Say in SKILL.md when to read it, or remove it.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="reference.orphan",
        family="lint",
        severity=Severity.INFO,
        summary="Something mentions each bundled file.",
        source="Agent Skills specification",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each file that nothing mentions, where the body begins."""
        if subject.files is None or subject.texts is None:
            return
        folders = [name for name, kind in subject.files.entries("").items() if kind == "directory" and name in _FOLDERS]
        if not folders:
            return
        own = [file for file in subject.files.listed if file.partition("/")[0] in _FOLDERS and not _is_plumbing(file)]
        texts = [
            subject.document.text.lower(),
            *(text.lower() for file in subject.files.listed if _is_text(file) and (text := subject.texts.text(file))),
        ]
        found = 0
        for file in own[:_MAX_LOOKED_FOR]:
            if _is_mentioned(file, subject, texts):
                continue
            found += 1
            yield self.meta.found(
                f"nothing mentions {file}; say in SKILL.md when to use it, or remove it", subject.body_start
            )
            if found == _MAX_FOUND:
                return


def _is_plumbing(file: str) -> bool:
    name = file.rpartition("/")[2].lower()
    return name.startswith((".", "test_", "license")) or name in _PLUMBING or ".test." in name


def _is_text(file: str) -> bool:
    return file.lower().endswith(_TEXTS) and file != "SKILL.md"


def _is_mentioned(file: str, subject: LintSubject, texts: list[str]) -> bool:
    folder, _, name = file.rpartition("/")
    name = name.lower()
    stem = name.partition(".")[0]
    if f"{folder}/" in subject.body and folder not in _FOLDERS:
        return True  # whoever names a directory of its own names its files
    if any(
        f"{top}/*" in subject.body or f"`{top}/`" in subject.body or f"({top}/)" in subject.body for top in (folder,)
    ):
        return True
    own = (subject.texts.text(file) or "").lower() if subject.texts is not None and _is_text(file) else None
    return any(name in text or (stem in text and _imports(stem, text)) for text in texts if text != own)


def _imports(stem: str, text: str) -> bool:
    return any(f"{word}{stem}" in text for word in ("import ", "from ", "from .", "/", "-m ", "source "))
