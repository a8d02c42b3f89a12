"""Every example in the documentation is run, and every relative link leads somewhere."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs_src.blocks import Block, output_matches, runnable_blocks, steps
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md")])
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?:|mailto:|#)(?P<target>[^)\s#]+)[^)]*\)")
_COMMENT_OR_CODE = re.compile(r"^(```|~~~).*?^\1 *$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def _blocks(page: Path, language: str, ports: Callable[[str], str] = str) -> list[Block]:
    found = [block for block in runnable_blocks(ports(page.read_text(encoding="utf-8"))) if block.language == language]
    return [block for block in found if all(shutil.which(program) for program in block.needs)]


def _with(language: str) -> list[Path]:
    return [page for page in PAGES if "tests" not in page.relative_to(ROOT).parts and _blocks(page, language)]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _free_ports(text: str) -> str:
    """Replace the ports of this machine, which another run of the tests may use."""
    for port in set(re.findall(r"127\.0\.0\.1:(\d+)", text)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            text = re.sub(rf"\b{port}\b", str(free.getsockname()[1]), text)
    return text


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory as a reader of the documentation has it: the examples, and nothing else. Servers end with it."""
    if (ROOT / "examples").exists():
        shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for file in tmp_path.glob("*.pid"):  # of a page that failed before it ended its server
        with suppress(ValueError, ProcessLookupError):
            os.kill(int(file.read_text(encoding="utf-8")), signal.SIGTERM)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("page", _with("python"), ids=_name)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    with asyncio.Runner() as runner:
        for block in _blocks(page, "python"):
            # Line breaks in front, so that a traceback shows the line of the page.
            source = "\n" * (block.line - 1) + block.code
            code = compile(source, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            outcome = eval(code, names)  # noqa: S307 -- our own documentation
            if inspect.iscoroutine(outcome):
                runner.run(outcome)


@pytest.mark.unmeasured
@pytest.mark.parametrize("page", _with("console"), ids=_name)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, reader: Path) -> None:
    path = os.pathsep.join([str(Path(prowess()).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in _blocks(page, "console", _free_ports):
        for step in steps(block):
            ran = subprocess.run(
                ["bash", "-c", step.command],
                cwd=reader,
                env={**os.environ, "PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=60,
                check=False,
            )
            shown = "\n".join(step.output)
            assert output_matches(step.output, ran.stdout), (
                f"{_name(page)}:{step.line}: `{step.command}` printed\n{ran.stdout}\nand the page shows\n{shown}"
            )


@pytest.mark.parametrize("name", ["deployment", "packages"])
def test_every_command_block_of_a_page_for_administrators_is_run(name: str) -> None:
    text = (ROOT / f"docs/administer/{name}.md").read_text(encoding="utf-8")
    run = "\n".join(block.code for block in runnable_blocks(text))
    commands = re.findall(r"^(?:\$ )?prowess .*", re.sub(r"(?s)^.*?```", "```", text, count=1), re.MULTILINE)
    assert commands
    assert [command for command in commands if command not in run] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    prose = _COMMENT_OR_CODE.sub("", page.read_text(encoding="utf-8"))
    targets = {match["target"] for match in _LINK.finditer(prose)}
    assert [target for target in sorted(targets) if not (page.parent / target).exists()] == []


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").glob("*/*.md")}
    pages = {name for name in pages if not name.startswith("adr/")}
    assert sorted(name for name in pages if f"({name})" not in index) == []
