"""Measures the shape of `src/prowess`: sizes, import cycles, kinds of values, names defined twice.

`python -m tools.source_shape` prints the figures and what each is made of. `tests/test_architecture.py` holds their
ceilings.
"""

from __future__ import annotations

import ast
import statistics
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PACKAGE = Path(__file__).parents[1] / "src" / "prowess"
ERROR_TREE = "prowess.errors"  # all errors are in one file, whatever its length
ONE_FILE_EACH = {"lint/rules", "security/rules", "cli/commands"}  # one file a rule, one file a command
# `audit` and `governance` record their own acts, and the suite of audit logs tries them.
RECORDERS = ("prowess.tools.", "prowess.audit.", "prowess.governance.", "prowess.testing.conformance.audit_logs")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TUPLE_BASES = {"NamedTuple", "typing.NamedTuple"}


class SourceShape(Struct, frozen=True, kw_only=True):
    """What the source is made of. Modules have dotted names, places are `module:line`; `__init__` has no length."""

    total_lines: int
    lengths: Mapping[str, int]
    folders: Mapping[str, int]
    cycles: list[list[str]]
    local_imports: list[str]
    dataclasses: list[str]
    named_tuples: list[str]
    recorders: list[str]
    repeated_names: list[str]

    @property
    def longest_module(self) -> int:
        """Lines of the longest module except the error tree."""
        return max(lines for module, lines in self.lengths.items() if module != ERROR_TREE)

    @property
    def median_module(self) -> float:
        """Lines of the median module."""
        return statistics.median(self.lengths.values())


def measure(package: Path = PACKAGE) -> SourceShape:
    """Read each module of `package` once."""
    paths = {_dotted(path, package): path for path in sorted(package.rglob("*.py"))}
    modules = [_Module(name, path, paths) for name, path in paths.items()]
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for name in module.public_names:
            homes[name].append(module.name)
    code = [module for module in modules if module.path.name != "__init__.py"]
    return SourceShape(
        total_lines=sum(module.lines for module in modules),
        lengths={module.name: module.lines for module in code},
        folders=Counter(module.path.parent.relative_to(package).as_posix() for module in code),
        cycles=_cycles({module.name: module.imports for module in modules}),
        local_imports=[place for module in modules for place in module.local_imports],
        dataclasses=[place for module in modules for place in module.dataclasses],
        named_tuples=[place for module in modules for place in module.named_tuples],
        recorders=sorted(module.name for module in modules if module.records),
        repeated_names=[f"{name}: {' '.join(found)}" for name, found in sorted(homes.items()) if len(found) > 1],
    )


def _dotted(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Module:
    """One module, read once."""

    def __init__(self, name: str, path: Path, known: Mapping[str, Path]) -> None:
        self.name, self.path, self._known = name, path, known
        text = path.read_text(encoding="utf-8")
        self.lines = len(text.splitlines())
        self.imports: set[str] = set()
        """Own modules imported at the top, also if only for the type checker."""
        self.local_imports: list[str] = []
        self.dataclasses: list[str] = []
        self.named_tuples: list[str] = []
        self.records = False
        tree = ast.parse(text)
        self.public_names = set(_public_names(tree))
        self._visit(tree, inside_function=False)
        self.imports -= {name}

    def _visit(self, node: ast.AST, *, inside_function: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                self._note_import(child, inside_function=inside_function)
            elif isinstance(child, ast.ClassDef):
                self._note_class(child)
            elif isinstance(child, ast.Call):
                self.records |= _makes_record(child) and not self.name.startswith(RECORDERS)
            self._visit(child, inside_function=inside_function or isinstance(child, _FUNCTIONS))

    def _note_import(self, node: ast.Import | ast.ImportFrom, *, inside_function: bool) -> None:
        own = {name for name in self._imported(node) if name in self._known}
        if not inside_function:
            self.imports |= own
        elif own - {self.name} and not self.name.startswith("prowess.cli"):
            self.local_imports.append(f"{self.name}:{node.lineno}")

    def _imported(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        deeper = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in self._known else str(node.module) for name in deeper]

    def _note_class(self, node: ast.ClassDef) -> None:
        if self.name.startswith("prowess.compat"):  # it keeps the dataclass of the reference library
            return
        place = f"{self.name}:{node.lineno}"
        decorators = {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list}
        if decorators & {"dataclass", "dataclasses.dataclass"}:
            self.dataclasses.append(place)
        if any(ast.unparse(base) in _TUPLE_BASES for base in node.bases):
            self.named_tuples.append(place)


def _public_names(tree: ast.Module) -> Iterator[str]:
    """Classes and type aliases that the module defines: `Name`, neither `_Name` nor `NAME`."""
    for node in tree.body:
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                if name[0].isupper() and not name.isupper():
                    yield name


def _makes_record(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="AuditEvent"):
            return True
        case ast.Attribute(value=owner, attr="append" | "append_many"):
            return ast.unparse(owner).lower().split(".")[-1].strip("_") in {"audit", "audit_log"}
    return False


def _cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Sets of modules that reach each other (Tarjan's strongly connected components of two or more), sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def connect(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for needed in graph[module]:
            if needed not in index:
                connect(needed)
                low[module] = min(low[module], low[needed])
            elif needed in stack:
                low[module] = min(low[module], index[needed])
        if low[module] == index[module]:
            start = stack.index(module)
            if len(stack) - start > 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    for module in graph:
        if module not in index:
            connect(module)
    return sorted(found)


def main() -> None:
    """Print each figure and what it is made of."""
    shape = measure()
    print(f"{shape.total_lines} lines, longest module {shape.longest_module}, median {shape.median_module:g}")
    print("folders:", *(f"{folder} {count}" for folder, count in sorted(shape.folders.items())), sep="\n  ")
    for title in ("cycles", "local_imports", "dataclasses", "named_tuples", "recorders", "repeated_names"):
        items = getattr(shape, title)
        print(f"{title}: {len(items)}", *items, sep="\n  ")


if __name__ == "__main__":
    main()
