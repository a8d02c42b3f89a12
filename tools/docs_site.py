"""Build the documentation site in build/site with Zensical, strictly: a dead link or anchor fails.

    python -m tools.docs_site
    python -m http.server -d build/site        read it, with the search

The site has all pages of docs/, the four pages of the root that it links to, and an API reference. The pages are staged
in build/pages first. There a link to a test, a source file or a folder becomes its plain text, because the site has
no page for it; and the pages of the API reference are generated, one for each package with public names.
Without a change of the pages, the source or the settings nothing is built. No network is used.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = ROOT / "zensical.toml"
PAGES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
_BUILT_SETTINGS = ROOT / "build" / "zensical.toml"
_STAMP = ROOT / "build" / "site.digest"
_LOCK = ROOT / "build" / "site.lock"

_ROOT_PAGES = ("CHANGELOG", "CONTRIBUTING", "SECURITY", "VERSIONING")  # staged as project/changelog.md and so on
_FENCE = r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)`* *$"
_LINK = r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!\w+:)(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)"
_MARKUP = re.compile(rf"{_FENCE}|{_LINK}|(?P<code>`+).+?(?P=code)", re.MULTILINE | re.DOTALL)

# Modules that are public as a whole; every other page of the reference shows the `__all__` of a package.
_WHOLE_MODULES = ("prowess.diagnostics", "prowess.errors", "prowess.adapters")
_PRIVATE = ("_internal", "cli", "lsp")
_LIST_OF_PACKAGES = "<!-- packages -->\n"


def build() -> Path:
    """Build the site if something changed since the last time, and return its folder.

    Safe to call from several processes; one builds and the others wait.

    Raises:
        subprocess.CalledProcessError: the build has warnings; its `output` names them.
    """
    _LOCK.parent.mkdir(exist_ok=True)
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        digest = _digest()
        if not (SITE.exists() and _STAMP.exists() and _STAMP.read_text() == digest):
            _STAMP.unlink(missing_ok=True)
            stage(PAGES)
            _BUILT_SETTINGS.write_text(_settings(PAGES), encoding="utf-8")
            subprocess.run(
                [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict", "-f", _BUILT_SETTINGS],
                cwd=ROOT,
                env=os.environ | {"NO_COLOR": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=True,
            )
            _STAMP.write_text(digest)
    return SITE


def _digest() -> str:
    files = [SETTINGS, Path(__file__), *(ROOT / f"{name}.md" for name in _ROOT_PAGES)]
    files += [file for folder in ("docs", "src") for file in (ROOT / folder).rglob("*") if _counts(file)]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _counts(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def _settings(pages: Path) -> str:
    """Return the settings with each `FOLDER/*.md` of the navigation replaced by the pages of that folder."""

    def listed(match: re.Match[str]) -> str:
        found = sorted(pages.glob(match[1]), key=lambda page: page.stem)
        return ", ".join(f'"{page.relative_to(pages).as_posix()}"' for page in found if page.stem != "index")

    return re.sub(r'"(\S+/\*\.md)"', listed, SETTINGS.read_text(encoding="utf-8"))


def stage(pages: Path) -> None:
    """Write the pages of the site into a new folder."""
    shutil.rmtree(pages, ignore_errors=True)
    for file in (ROOT / "docs").rglob("*"):
        if file.is_file():
            _stage_page(file, pages / file.relative_to(ROOT / "docs"))
    for name in _ROOT_PAGES:
        _stage_page(ROOT / f"{name}.md", pages / "project" / f"{name.lower()}.md")
    shown = api_pages()
    for package, text in shown.items():
        (pages / "reference" / "api").mkdir(exist_ok=True)
        (pages / "reference" / "api" / f"{package}.md").write_text(text, encoding="utf-8")
    index = pages / "reference" / "api.md"
    rows = "".join(f"- [`{package}`](api/{package}.md)\n" for package in shown)
    index.write_text(index.read_text(encoding="utf-8").replace(_LIST_OF_PACKAGES, rows), encoding="utf-8")


def _stage_page(file: Path, staged: Path) -> None:
    staged.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix != ".md":
        shutil.copyfile(file, staged)
        return

    def link(match: re.Match[str]) -> str:
        if match["target"] is None:
            return match[0]
        target = _place(file.parent / match["target"])
        if target is None:
            return match["text"].replace("_", "_<wbr>")  # names of tests are wider than a column
        here = _place(file)
        assert here is not None
        return f"[{match['text']}]({os.path.relpath(target, here.parent)}{match['anchor'] or ''})"

    staged.write_text(_MARKUP.sub(link, file.read_text(encoding="utf-8")), encoding="utf-8")


def _place(file: Path) -> Path | None:
    """Return the path of a file in the site, relative to its root, or None if the site does not have it."""
    file = Path(os.path.normpath(file))
    if file.is_relative_to(ROOT / "docs") and not file.is_dir():
        return file.relative_to(ROOT / "docs")
    if file.parent == ROOT and file.stem in _ROOT_PAGES:
        return Path("project", f"{file.stem.lower()}.md")
    return None


# ── the API reference ────────────────────────────────────────────────────────────────────────────────────


def api_pages() -> dict[str, str]:
    """Return the text of the page of each public package or module, by its dotted name.

    Each name is documented once: on the page of the package that defines it. `prowess` itself only lists its names.
    """
    exported = dict(_public_names())
    shown: set[tuple[str, str]] = set()
    pages = {}
    for package in sorted(exported, key=lambda name: (name == "prowess", name)):
        members, elsewhere = [], []
        for name, home in exported[package].items():
            page = next((page for page in _parents(home) if name in exported.get(page, ())), package)
            if page == package and (home, name) not in shown:
                shown.add((home, name))
                members.append(name)
            else:
                elsewhere.append(f"- [`{name}`]({page}.md#{page}.{name})")
        pages[package] = _api_page(package, members, elsewhere)
    return dict(sorted(pages.items()))


def _api_page(package: str, members: list[str], elsewhere: list[str]) -> str:
    parts = [f"# {package}\n"]
    options = "".join(f"\n        - {name}" for name in members)
    parts.append(f"::: {package}\n    options:\n      members:{options or ' false'}\n")
    if elsewhere:
        parts.append("It also exports these names, which have their text on another page:\n")
        parts.append("\n".join(elsewhere) + "\n")
    return "\n".join(parts)


def _parents(module: str) -> Iterator[str]:
    while module:
        yield module
        module = module.rpartition(".")[0]


def _public_names() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each public package or module with its public names, and the module that each is imported from."""
    source = ROOT / "src"
    for file in sorted((source / "prowess").rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        package = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if any(part in _PRIVATE for part in parts):
            continue
        if package.startswith(_WHOLE_MODULES):
            names = dict.fromkeys(_defined(ast.parse(file.read_text(encoding="utf-8"))), package)
        elif parts[-1] == "__init__":
            stub = file.with_suffix(".pyi")
            names = _exported(ast.parse((stub if stub.exists() else file).read_text(encoding="utf-8")), package)
        else:
            continue
        if names:
            yield package, names


def _defined(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node.name


def _exported(module: ast.Module, package: str) -> dict[str, str]:
    names: list[str] = []
    homes: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module:
            homes |= {alias.asname or alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
    return {name: homes.get(name, package) for name in names}


def main() -> int:
    """Build the site; print what is wrong, or where the site is."""
    try:
        site = build()
    except subprocess.CalledProcessError as error:
        sys.stderr.write(error.output)
        return 1
    print(f"{site.relative_to(ROOT)}/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
