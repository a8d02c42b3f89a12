"""Taste that a program can check: files that hold one idea, imports without cycles, prose about the product alone.

The direction of imports is the contract of `lint-imports` (pyproject.toml); here is what it does not cover.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.source_shape import ONE_FILE_EACH, SourceShape, measure

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "prowess"
MODULES = sorted(SOURCE.rglob("*.py"))
_GLOBS = {"fnmatch", "glob", "wcmatch", "pathspec"}
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _module(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Ceilings of the shape of src. Only a new part of the product raises "lines", in a commit that says so; who gets
# below a ceiling lowers it to the new figure.
CEILINGS: dict[str, float] = {
    "lines": 145_500,  # 67 000 before distribution, 89 000 before governance, 120 000 before evals
    "lines of the longest module": 450,
    "lines of the median module": 110,  # what was decided; a lower figure would forbid to merge small modules
    "modules in import cycles": 0,
    "own imports inside functions": 30,
    "dataclasses": 0,
    "named tuples": 0,
    "modules outside tools that make audit records": 0,
    "public names defined twice": 15,
}
MODULES_IN_A_FOLDER = 20  # for the folders that CROWDED does not list
CROWDED: dict[str, int] = {}


@pytest.fixture(scope="module")
def shape() -> SourceShape:
    return measure()


def test_no_figure_of_the_source_exceeds_its_ceiling(shape: SourceShape) -> None:
    """`python -m tools.source_shape` prints what each figure is made of."""
    figures = {
        "lines": shape.total_lines,
        "lines of the longest module": shape.longest_module,
        "lines of the median module": shape.median_module,
        "modules in import cycles": sum(map(len, shape.cycles)),
        "own imports inside functions": len(shape.local_imports),
        "dataclasses": len(shape.dataclasses),
        "named tuples": len(shape.named_tuples),
        "modules outside tools that make audit records": len(shape.recorders),
        "public names defined twice": len(shape.repeated_names),
    }
    assert figures.keys() == CEILINGS.keys()
    assert {name: figure for name, figure in figures.items() if figure > CEILINGS[name]} == {}


def test_no_folder_holds_more_modules_than_its_ceiling(shape: SourceShape) -> None:
    crowded = {
        folder: count
        for folder, count in shape.folders.items()
        if folder not in ONE_FILE_EACH and count > CROWDED.get(folder, MODULES_IN_A_FOLDER)
    }
    assert crowded == {}


def test_a_module_is_named_after_a_concept() -> None:
    vague = {"helpers", "utils", "util", "manager", "common", "misc"}
    assert [_name(path) for path in MODULES if path.stem in vague] == []


def test_only_the_output_of_the_command_line_prints() -> None:
    calls = [
        f"{_name(path)}:{node.lineno}"
        for path in MODULES
        if path != SOURCE / "cli" / "output.py"
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls == []


def test_there_is_one_glob_engine() -> None:
    """What translates a glob to a regular expression, or walks by one, is in `_internal/globs.py` alone."""
    importers = [
        f"{_name(path)}:{node.lineno}"
        for path in MODULES
        if path != SOURCE / "_internal" / "globs.py"
        for node in ast.walk(_tree(path))
        if (isinstance(node, ast.Import) and {alias.name for alias in node.names} & _GLOBS)
        or (isinstance(node, ast.ImportFrom) and node.module in _GLOBS)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in {"glob", "rglob", "full_match"})
    ]
    # The watcher looks through /proc, the suites through the directories that they made.
    allowed = ("src/prowess/conformance/watcher.py", "src/prowess/testing/")
    assert [place for place in importers if not place.startswith(allowed)] == []


def test_an_import_inside_a_function_says_why() -> None:
    """A comment on the line, or above the group of imports it belongs to."""
    silent = []
    for path in MODULES:
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in _local_imports(_tree(path)):
            number = node.lineno - 1
            while re.match(r"\s*(from .*|import .*|try:|)$", lines[number]) and "#" not in lines[number]:
                number -= 1
            if "#" not in lines[number] and '"""' not in lines[number]:
                silent.append(f"{_name(path)}:{node.lineno}")
    assert silent == []


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _local_imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for outer in ast.walk(tree):
        if isinstance(outer, _BODIES):
            for node in ast.walk(outer):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield node


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    names = {_module(path): path for path in MODULES}
    graph = {module: _imports_at_load(path, set(names)) - {module} for module, path in names.items()}
    # Take away, again and again, what imports nothing that is left; what remains lies on a circle or above one.
    while leaves := [module for module, needed in graph.items() if not needed & graph.keys()]:
        for module in leaves:
            del graph[module]
    assert sorted(graph) == []


def _imports_at_load(path: Path, names: set[str]) -> set[str]:
    found: set[str] = set()
    pending: list[ast.stmt] = list(_tree(path).body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                deeper if (deeper := f"{node.module}.{alias.name}") in names else node.module for alias in node.names
            }
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            pending += [child for child in ast.walk(node) if isinstance(child, ast.Import | ast.ImportFrom)]
    return found & names


_TRACKED_TEXT = {".py", ".md", ".toml", ".sh", ".yml", ".json", ".txt", ""}

# The parts are joined here, so that this file does not hold what it forbids.
_FOREIGN = re.compile(
    "|".join(
        [
            "/" + r"work/(?:main|shared|\.library)",
            r"\.\./" + "shared",
            r"\b(?:files\.pythonhosted|pypi|test\.pypi)" + r"\.org\b",
            r"\bregistry\.npmjs" + r"\.org\b",
            r"\bdeb\.debian" + r"\.org\b",
            r"(?i:\bas an ai\b)",
            r"(?i:\bco-authored" + r"-by\b)",
        ]
    )
)


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.suffix in _TRACKED_TEXT and path.is_file()]


def test_the_project_speaks_of_itself_alone() -> None:
    tracked = _tracked()
    if not tracked:
        pytest.skip("not a git clone")
    found = []
    for path in tracked:
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{_name(path)}: {match.group()}" for match in _FOREIGN.finditer(text)]
    assert found == []
