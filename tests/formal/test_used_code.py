"""What docs/reference/proof.md names is what the comparison calls, and what commands, a catalog and a session call."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tools.proof.__main__ import PAGE
from tools.proof.comparison import SUBJECTS
from tools.proof.page import correspondence

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from tools.proof.subjects import Subject

pytestmark = pytest.mark.unmeasured

# Prints the functions of the package, and of `html`, that a piece of work calls. Commands end by `os._exit`.
TRACE = """
import os, sys, threading
called = set()
def note(frame, event, argument):
    if event == "call":
        called.add(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname.removesuffix('.__init__')}")
def leave(code=0):
    raise SystemExit(code)
os._exit = leave
threading.setprofile(note)
sys.setprofile(note)
try:
    exec(sys.argv[1], {"ROOT": sys.argv[2], "command": lambda *words: (
        setattr(sys, "argv", ["prowess", *words]), __import__("prowess.cli.main").cli.main.main())})
except SystemExit:
    pass
sys.setprofile(None)
print("\\n" + "\\n".join(name for name in called if name.startswith(("prowess", "html"))))
"""
CATALOG = """
from prowess import Catalog
catalog = Catalog(ROOT)
catalog.entries(), catalog.get("plain"), catalog.get("unusual")
"""
SESSION = """
from prowess import Catalog, SyncSession
with SyncSession(Catalog(ROOT), scripts=False) as session:
    session.load(["plain", "unusual"])
    session.call("skills.read", {"path": "references/a.md", "skill": "plain"})
    session.instructions()
    session.unload(all=True)
    session.call("skill", {"skill": "plain"})
"""
WORK = {
    "check": "command('check', ROOT, '--isolated')",
    "to-prompt": "command('to-prompt', ROOT + '/plain')",
    "show": "command('show', ROOT, '--theme', 'trit')",
    "catalog": CATALOG,
    "session": SESSION,
}
BY_CHECK = ("names", "links", "fences", "tools", "files")  # each of their functions
BY_BOTH = ("prowess.format.parsing.parse_source", "prowess.format.reading.raw_findings")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("skills")
    for name, further in (("plain", ""), ("unusual", "metadata: {version: '1.0'}\n")):
        (place / name / "references").mkdir(parents=True)
        (place / name / "references" / "a.md").write_text("a\n")
        (place / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Sorts lines. Use when lines are to be sorted.\n"
            f"allowed-tools: Read Bash(git:*)\n{further}---\nSee [a](references/a.md).\n"
        )
    return place


@pytest.fixture(scope="module")
def called(root: Path) -> dict[str, set[str]]:
    """The functions that each piece of work calls."""
    found = {}
    for name, text in WORK.items():
        run = subprocess.run(
            [sys.executable, "-c", TRACE, text, str(root)], capture_output=True, text=True, check=True, timeout=120
        )
        found[name] = set(run.stdout.splitlines())
    return found


def _functions(subject: Subject) -> set[str]:
    return set(subject.python.split(", "))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_functions_that_are_compared_are_called_in_use(subject: Subject, called: dict[str, set[str]]) -> None:
    assert _functions(subject) - set().union(*called.values()) == set()


def test_check_and_the_catalog_read_and_judge_by_the_code_that_is_compared(called: dict[str, set[str]]) -> None:
    compared = set().union(*(_functions(subject) for subject in SUBJECTS if subject.name in BY_CHECK))
    assert (compared | set(BY_BOTH)) - called["check"] == set()
    assert set(BY_BOTH) - called["catalog"] == set()
    assert {"prowess.format.source.plain_front_matter.read_plain_skill"} <= called["catalog"] - called["check"]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_the_comparison_calls_the_functions_that_the_page_names(subject: Subject) -> None:
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname.removesuffix('.__init__')}")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for _ in islice(subject.pairs(), 200):
            pass
    finally:
        sys.setprofile(before)
    assert _functions(subject) - found == set()


def test_the_page_names_the_code_that_is_compared() -> None:
    assert correspondence() in PAGE.read_text(encoding="utf-8")
