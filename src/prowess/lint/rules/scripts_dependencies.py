"""The rule `scripts.dependencies`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.skill_files import in_long_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.lint.skill_files import ScriptText

_DECLARING = frozenset({"requirements.txt", "pyproject.toml", "uv.lock", "environment.yml", "Pipfile", "setup.py"})
_PACKAGES = {  # Package by module name, for the modules that scripts of skills import most.
    "PIL": "pillow",
    "aiohttp": "aiohttp",
    "anthropic": "anthropic",
    "boto3": "boto3",
    "bs4": "beautifulsoup4",
    "click": "click",
    "cv2": "opencv-python",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fastapi": "fastapi",
    "fitz": "pymupdf",
    "flask": "flask",
    "google": "google",
    "httpx": "httpx",
    "jinja2": "jinja2",
    "lxml": "lxml",
    "matplotlib": "matplotlib",
    "numpy": "numpy",
    "openai": "openai",
    "openpyxl": "openpyxl",
    "pandas": "pandas",
    "pdfplumber": "pdfplumber",
    "playwright": "playwright",
    "pptx": "python-pptx",
    "pydantic": "pydantic",
    "pypdf": "pypdf",
    "requests": "requests",
    "rich": "rich",
    "scipy": "scipy",
    "seaborn": "seaborn",
    "selenium": "selenium",
    "sklearn": "scikit-learn",
    "torch": "torch",
    "tqdm": "tqdm",
    "yaml": "pyyaml",
}


class ScriptsDependencies(LintRule):
    """A Python script that does not declare its packages.

    What it does:
        Looks for imports of well-known packages in scripts without inline metadata (`# /// script`). An import is not
        reported if the skill has a requirements file, if one of its documents names the package, or if the script
        states what to install.

    Why it matters:
        On a machine without the package the script ends with ModuleNotFoundError, and the agent guesses what to
        install.

    Example:
        `import pdfplumber` and no declaration

    Instead:
        Begin the script with `# /// script` and `# dependencies = [...]`, and run it with `uv run`.
    """

    meta = RuleMeta(
        id="scripts.dependencies",
        order=24,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="Scripts declare the packages they import.",
        source="Agent Skills guide on scripts; PEP 723",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each script at its first import of an undeclared package."""
        listed = subject.files.listed if subject.files.scripts else []
        if any(file.rpartition("/")[2] in _DECLARING for file in listed):
            return
        for script in subject.files.scripts:
            if script.language != "python" or "# /// script" in script.text:
                continue
            compatibility = (subject.document.text_of("compatibility") or "").lower()
            for module, offset in _imports(script.code):
                package = _PACKAGES.get(module)
                if (
                    package is None
                    or package in subject.lower
                    or module.lower() in subject.lower
                    or package in compatibility
                    or in_long_text(script, offset)
                    or _named(subject, script, package)
                ):
                    continue
                message = f"{script.path} imports {module}, which is not declared; add a # /// script block"
                yield self.meta.found(message, subject.file_place(script.path, offset, script.text))
                break


def _named(subject: LintSubject, script: ScriptText, package: str) -> bool:
    """Whether the script states what to install, or another document of the skill names the package."""
    if f"install {package}" in script.text or "pip install" in script.text:
        return True
    documents = (file for file in subject.files.listed if file.endswith((".md", ".txt", ".toml", ".yml", ".yaml")))
    return any(package in (subject.files.text(file) or "").lower() for file in documents)


def _imports(code: str) -> Iterator[tuple[str, int]]:
    offset = 0
    for line in code.split("\n"):
        if line.startswith(("import ", "from ")):
            words = line.split(None, 2)
            if len(words) > 1:
                yield words[1].partition(".")[0].strip(","), offset
        offset += len(line) + 1
