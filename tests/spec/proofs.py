"""Which tests prove which requirements, read from the source of the tests.

The ids are read from the syntax tree and not from a running collection, so the answer is the same for one test, for
the whole suite and for each worker of a parallel run. Every `pytest.mark.proves(...)` counts: as a decorator of a
function or class, in `pytestmark`, and among the marks of a `pytest.param`. A test that is always skipped proves
nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.spec.manifest import Requirement

MOST_IDS = 5  # a test that claims more proves none of them well


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One use of the mark; `test` is `path::name`, or the path alone where the mark stands for a whole file."""

    test: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the tests declare, and the uses of the mark that cannot be counted."""

    proofs: tuple[Proof, ...]
    faults: tuple[str, ...]

    def tests_of(self) -> dict[str, list[str]]:
        """Requirement id → the tests that prove it, in the order of the files."""
        tests: dict[str, list[str]] = {}
        for proof in self.proofs:
            for identity in proof.ids:
                if proof.test not in tests.setdefault(identity, []):
                    tests[identity].append(proof.test)
        return tests


def read_proofs(root: Path, folder: str = "tests") -> Reading:
    """Read every `test_*.py` below `folder` of `root`."""
    proofs: list[Proof] = []
    faults: list[str] = []
    for path in sorted((root / folder).rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        reading = read_source(path.read_text(encoding="utf-8"), name)
        proofs += reading.proofs
        faults += reading.faults
    return Reading(proofs=tuple(proofs), faults=tuple(faults))


def read_source(source: str, path: str) -> Reading:
    """Read one file of tests; `path` is how its tests are called."""
    reader = _Reader(path)
    reader.visit(ast.parse(source))
    count: Counter[str] = Counter()
    for proof in reader.direct:
        count[proof.test] += len(proof.ids)
    too_many = [
        f"{test} claims {number} ids, {MOST_IDS} at most" for test, number in count.items() if number > MOST_IDS
    ]
    return Reading(proofs=tuple(reader.proofs), faults=(*reader.faults, *too_many))


def compare(known: Iterable[Requirement], reading: Reading, reached: frozenset[str]) -> list[str]:
    """Every way in which manifest and tests disagree, one sentence each."""
    by_id = {requirement.id: requirement for requirement in known}
    proved = reading.tests_of()
    unknown = [
        f"{test} names {identity}, which is not in the manifest"
        for identity, tests in proved.items()
        if identity not in by_id
        for test in tests
    ]
    unproved = [
        f"no test proves {requirement.id} ({requirement.room}): {requirement.text}"
        for requirement in by_id.values()
        if requirement.level == "must" and requirement.due in reached and requirement.id not in proved
    ]
    return [*reading.faults, *unknown, *unproved]


class _Reader(ast.NodeVisitor):
    def __init__(self, path: str) -> None:
        self.proofs: list[Proof] = []
        self.direct: list[Proof] = []  # those whose ids count together against the limit of one test
        self.faults: list[str] = []
        self._path = path
        self._owner: tuple[str, ...] = ()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _is_mark(node.func, "proves"):
            self._record(node, direct=False)
        self.generic_visit(node)

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        outer, self._owner = self._owner, (*self._owner, node.name)
        skipped = any(_is_mark(mark, "skip") for decorator in node.decorator_list for mark in _called(decorator))
        prefix = "Test" if isinstance(node, ast.ClassDef) else "test"
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and _is_mark(decorator.func, "proves"):
                if skipped:
                    continue
                if not node.name.startswith(prefix):
                    self.faults.append(f"{self._path}::{'::'.join(self._owner)} is no test, so it proves nothing")
                self._record(decorator, direct=True)
            else:
                self.visit(decorator)
        for child in node.body:
            self.visit(child)
        self._owner = outer

    def _record(self, call: ast.Call, *, direct: bool) -> None:
        test = "::".join((self._path, *self._owner))
        ids = tuple(
            argument.value
            for argument in call.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        )
        if call.keywords or len(ids) != len(call.args) or not ids:
            self.faults.append(f"{test}: the ids of `proves` must be literal texts, one at least")
        proof = Proof(test=test, ids=ids)
        self.proofs.append(proof)
        if direct:
            self.direct.append(proof)
        elif len(ids) > MOST_IDS:
            self.faults.append(f"{test} claims {len(ids)} ids, {MOST_IDS} at most")


def _called(node: ast.expr) -> Iterator[ast.expr]:
    yield node.func if isinstance(node, ast.Call) else node


def _is_mark(node: ast.expr, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
    )
