"""The rule `reference.orphan`."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from prowess._internal.globs import fits_text
from prowess.format.limits import FILES_FOR_PEOPLE, PAPERS
from prowess.lint.rule import INFO, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import names_folder, names_whole

if TYPE_CHECKING:
    from prowess.lint.skill_files import SkillFiles

_FOLDERS = ("references", "scripts", "assets")
_MAX_LOOKED_FOR = 200
_MAX_TEXTS = 150  # if a skill has more texts, the rule does not run: one that is not read could mention the file
_PLUMBING = (
    "__init__.py",
    "__main__.py",
    "package-lock.json",
    "package.json",
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "tsconfig.json",
    "conftest.py",
    "skill.md",
    *FILES_FOR_PEOPLE,
    "agents.md",
    "claude.md",
    "gemini.md",
    "go.mod",
    "go.sum",
    "_meta.json",
    "cargo.toml",
    "cargo.lock",
    "bun.lock",
    "pnpm-lock.yaml",
    "yarn.lock",
    "makefile",
    "dockerfile",
)
_FOR_PEOPLE = (*PAPERS, "test_", ".", "security")
_TEXTS = (".md", ".py", ".sh", ".js", ".ts", ".mjs", ".json", ".toml", ".yaml", ".yml", ".html", ".txt")
_CODE = (".py", ".sh", ".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx")
# endings of the files beside SKILL.md that are checked
_READ_BY_MODELS = (".md", ".txt", ".py", ".sh", ".js", ".mjs", ".ts")
_LISTS = ("glob", "listdir", "iterdir", "walk(", "readdir", "scandir", "os.path.join", "path.join", " / ")
# A path with a star, a choice or a placeholder, and with a slash or an extension.
_PATTERN = r"(?<![\w./{}<>*-])(?:[\w.-]{1,60}/|\./){0,4}[\w.-]{0,60}(?:\*|[{<][\w ,.-]{1,60}[}>])[\w./*{}<>,-]{1,60}"
_PLACEHOLDER = r"\{[^}]*\}|<[^>]*>|\*+"
_LEAST_OF_PATTERN = 3  # fixed letters that a pattern must have
_MARKED_STEM = r"[-_]"


class ReferenceOrphan(LintRule):
    """A file that is not mentioned in the skill.

    What it does:
        Looks for each file in `references/`, `scripts/` and `assets/`, and each Markdown file and script beside
        SKILL.md. The name of the file, or of its directory, must be in SKILL.md or in another text of the skill.
        Licences, tests, lock files and package files are ignored.

    Why it matters:
        An agent reads only the files that a text mentions. Any other file is useless, or its mention was forgotten.

    Example:
        `references/limits.md`, and no text of the skill mentions limits.md

    Instead:
        State in SKILL.md when to read the file, or remove the file.
    """

    meta = RuleMeta(
        id="reference.orphan",
        order=17,
        most=20,
        severities=Severities(spec=INFO, skillscraft=INFO, boxxy=INFO, claude_code=INFO),
        summary="Each bundled file is mentioned in the skill.",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each file that is not mentioned, located at the start of the body."""
        if len(subject.files.entries("")) == 1:
            return
        own = _candidates(subject.files)
        if not own:
            return
        listed = subject.files.listed if any("/" in file for file in own) else sorted(_top(subject.files))
        readable = [file for file in listed if file.lower().endswith(_TEXTS) and file != "SKILL.md"]
        if len(readable) > _MAX_TEXTS:
            return
        texts = {file: text.lower() for file in readable if (text := subject.files.text(file))}
        mentions = _Mentions(subject.document.text.lower(), texts)
        for file in own[:_MAX_LOOKED_FOR]:
            if file.lower() in mentions:
                continue
            yield self.meta.found(
                f"{file} is not mentioned in the skill; state in SKILL.md when to use it, or remove it",
                subject.body_start,
            )


class _Mentions:
    """The files that a skill's texts mention. A lower-case path is `in` this object if a text mentions the file.

    `own` is the text of SKILL.md, `texts` the other texts by path. All texts are in lower case.
    """

    def __init__(self, own: str, texts: dict[str, str]) -> None:
        self._own = own
        self._texts = {path.lower(): text for path, text in texts.items()}

    @cached_property
    def _patterns(self) -> set[str]:
        return {
            pattern
            for text in (self._own, *self._texts.values())
            if "*." in text or "}." in text or ">." in text
            for line in text.split("\n")  # a pattern is on one line, and most lines have none
            if "*" in line or "}" in line or ">" in line
            for match in re.finditer(_PATTERN, line)
            if (pattern := re.sub(_PLACEHOLDER, "*", match[0]).lstrip("./")) and _is_specific(pattern)
        }

    def __contains__(self, file: str) -> bool:
        others = [(path, text) for path, text in self._texts.items() if path != file]
        folder, _, name = file.rpartition("/")
        stem = name.partition(".")[0]
        spelled = {name, name.replace(" ", "%20")}
        if any(names_whole(text, one) for text in (self._own, *(text for _, text in others)) for one in spelled):
            return True
        if folder and self._names_folder(folder, others):
            return True
        if any(fits_text(path, pattern) for pattern in self._patterns for path in (name, file)):
            return True
        if names_whole(self._own, f"`{stem}`") or f"{folder}/{stem}`" in self._own:
            return True
        if re.search(_MARKED_STEM, stem) and any(
            names_whole(text, stem) for text in (self._own, *(text for _, text in others))
        ):
            return True
        if name.endswith(".py") and any(_imports(text, file) for path, text in others if path.endswith(".py")):
            return True
        return any(path.endswith(_CODE) and names_whole(text, stem) for path, text in others)

    def _names_folder(self, folder: str, others: list[tuple[str, str]]) -> bool:
        last = folder.rpartition("/")[2]
        read = (text for path, text in others if path.endswith(".md") and not path.startswith(_FOR_PEOPLE))
        for text in (self._own, *read):
            if names_folder(text, folder) or names_folder(text, last):
                return True
        if folder not in _FOLDERS and (f"{folder}/" in self._own or f"`{last}`" in self._own):
            return True  # naming a non-standard directory covers its files
        return any(
            path.endswith(_CODE) and any(sign in text for sign in _LISTS) and names_whole(text, last)
            for path, text in others
        )


def _imports(text: str, file: str) -> bool:
    """Whether a Python text names a module of the skill by its path: `from scripts.numbers import total`."""
    parts = file.removesuffix(".py").split("/")
    return any(names_whole(text, ".".join(parts[start:])) for start in range(len(parts) - 1))


def _is_specific(pattern: str) -> bool:
    """Whether a pattern names a directory, or more of a file name than its extension."""
    folder, _, name = pattern.rpartition("/")
    stem, _, ending = name.rpartition(".")
    if not ending.isalnum():
        return False
    return any(len(part.replace("*", "")) >= _LEAST_OF_PATTERN for part in (folder, stem))


def _candidates(files: SkillFiles) -> list[str]:
    """Return the files that a text of the skill must mention."""
    entries = files.entries("")
    own = [name for name in sorted(_top(files)) if name.lower().endswith(_READ_BY_MODELS)]
    if any(entries.get(folder) == "directory" for folder in _FOLDERS):
        own += [file for file in files.listed if file.partition("/")[0] in _FOLDERS]
    return [file for file in own if not _is_plumbing(file)]


def _top(files: SkillFiles) -> list[str]:
    return [name for name, kind in files.entries("").items() if kind == "file"]


def _is_plumbing(file: str) -> bool:
    folders, _, name = file.lower().rpartition("/")
    return (
        name.startswith(_FOR_PEOPLE)
        or name in _PLUMBING
        or any(mark in name for mark in (".test.", "_test.", ".spec."))
        or any(folder in {"tests", "test", "fixtures", "node_modules", "__pycache__"} for folder in folders.split("/"))
    )
