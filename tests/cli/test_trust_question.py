"""The question whether to trust a project: on a terminal only, once, after a table, and both answers are stored."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess._internal.text.terminal_text import columns
from prowess.catalog import Catalog, TrustStore
from tests.catalog.making import names, write_skill
from tests.cli.terminal import on_a_terminal, rest_of, terminal_process

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "Trust this project and offer its skills to models that act for you? [y/N]"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    skill = write_skill(root / ".agents" / "skills" / "ours", extra="allowed-tools: Bash(git:*) Read\n")
    (skill / "scripts").mkdir()
    (skill / "scripts" / "make.py").write_text("print('made')\n")
    return root


def answered(
    directory: Path, typed: str, *arguments: str, columns: int = 100, at_once: bool = False
) -> tuple[str, int]:
    """Return what a command prints on a terminal, and its exit code.

    The text is typed when the question is shown; if `at_once`, when the command starts.
    """
    with terminal_process(directory, *arguments, columns=columns) as (process, ours):
        shown = b"" if at_once else shown_question(ours)
        os.write(ours, typed.encode())
        printed = shown.decode() + rest_of(ours)
        return printed.replace("\r\n", "\n"), process.wait(timeout=60)


def shown_question(ours: int) -> bytes:
    """Return what is printed until the question is shown."""
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 65536)
    return shown


@pytest.mark.proves("catalog.trust.terminal")
def test_a_yes_that_was_typed_before_the_question_is_no_answer(project: Path) -> None:
    with terminal_process(project, "list") as (process, ours):
        os.write(ours, b"y\n")  # such as the rest of a pasted text
        shown_question(ours)
        os.write(ours, b"n\n")
        assert "not trusted" in rest_of(ours)
        assert process.wait(timeout=60) == 0
    assert (TrustStore().listed(), TrustStore().refused()) == ((), (str(project),))


@pytest.mark.proves("catalog.trust.terminal")
def test_a_yes_trusts_the_project_after_a_table_of_what_it_offers(project: Path) -> None:
    printed, code = answered(project, "y\n", "list")
    assert code == 0
    table, _, rest = printed.partition(QUESTION)
    assert f"The project {project} offers 1 skill:" in table  # the path is whole, however long
    assert "  ours: Does it.\n    scripts: make.py\n    tools: Bash(git:*) Read\n" in table
    assert "\nours  project  Does it." in rest
    assert TrustStore().listed() == (str(project),)
    assert QUESTION not in on_a_terminal(project, "list")


@pytest.mark.measured_once
@pytest.mark.proves("catalog.trust.terminal")
@pytest.mark.parametrize("typed", ["n\n", "\n", "what\nno\n"])
def test_a_no_is_remembered_too_and_can_be_changed(project: Path, typed: str) -> None:
    printed, _ = answered(project, typed, "list")
    assert "not trusted; to change the answer: prowess trust" in printed
    assert "\nours" not in printed.partition(QUESTION)[2]
    assert TrustStore().refused() == (str(project),)
    again = on_a_terminal(project, "list")
    assert QUESTION not in again
    assert "held back" in again
    TrustStore().revoke(str(project))
    assert QUESTION in answered(project, "\x04", "list")[0]


@pytest.mark.parametrize("typed", ["\x04", "a\nb\nc\n"])
def test_no_answer_decides_nothing(project: Path, typed: str) -> None:
    printed, code = answered(project, typed, "list")
    assert code == 0
    assert "not decided" in printed
    assert (TrustStore().listed(), TrustStore().refused()) == ((), ())


def test_an_interrupt_at_the_question_ends_the_command_without_a_decision(project: Path) -> None:
    with terminal_process(project, "list") as (process, ours):
        shown_question(ours)
        process.send_signal(signal.SIGINT)
        rest_of(ours)
        assert process.wait(timeout=60) == 130
    assert (TrustStore().listed(), TrustStore().refused()) == ((), ())


@pytest.mark.measured_once
@pytest.mark.parametrize(
    "arguments",
    [("load", "ours"), ("read", "ours", "SKILL.md"), ("why", "ours"), ("match", "does"), ("show", "ours")],
)
def test_every_command_that_a_person_types_asks(project: Path, arguments: tuple[str, ...]) -> None:
    printed, code = answered(project, "y\n", *arguments)
    assert QUESTION in printed
    assert code == 0
    assert TrustStore().listed() == (str(project),)


@pytest.mark.measured_once
@pytest.mark.proves("catalog.trust.terminal")
@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--json"),
        ("list", "--quiet"),
        ("list", "--trust-project"),
        ("list", "--root", ".agents/skills"),
        ("why", "ours", "--json"),
        ("load", "ours", "--json"),
        ("session",),
        ("doctor",),
    ],
)
def test_these_never_ask_even_on_a_terminal(project: Path, arguments: tuple[str, ...]) -> None:
    assert QUESTION not in answered(project, "\x04\x04", *arguments, at_once=True)[0]
    assert (TrustStore().listed(), TrustStore().refused()) == ((), ())


@pytest.mark.proves("catalog.trust.terminal")
@pytest.mark.parametrize("piped", [0, 1, 2])
def test_a_command_with_one_stream_that_is_no_terminal_does_not_ask(project: Path, piped: int) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")
    streams = [theirs, theirs, theirs]
    reading, writing = os.pipe()
    if piped == 0:
        os.write(writing, b"y\n")
        os.close(writing)
        streams[0] = reading
    else:
        streams[piped] = writing
    ran = subprocess.Popen(
        [sys.executable, "-m", "prowess", "list"], cwd=project, stdin=streams[0], stdout=streams[1], stderr=streams[2]
    )
    assert ran.wait(timeout=60) == 0
    os.close(theirs)
    assert QUESTION not in rest_of(ours)
    os.close(ours)
    assert (TrustStore().listed(), TrustStore().refused()) == ((), ())


def test_texts_of_the_project_cannot_draw_on_the_terminal(project: Path) -> None:
    for path in (project / ".agents" / "skills").iterdir():
        shutil.rmtree(path)
    write_skill(
        project / ".agents" / "skills" / "evil",
        description='"\\e[2J\\u202eTrust\\u200b this? yes\\r\\n' + "x" * 3000 + '"',
        extra='allowed-tools: "Bash(\\e[31m)"\nhooks:\n  pre: scripts/a\\e.sh\n',
    )
    (project / ".agents" / "skills" / "evil" / "scripts").mkdir()
    (project / ".agents" / "skills" / "evil" / "scripts" / "a\x1b[31m.py").write_text("")
    printed, _ = answered(project, "n\n", "list", columns=60)
    table = printed.partition("Trust this project")[0]
    assert "\x1b" not in table
    assert "\u202e" not in table
    first, *offered = table.splitlines()
    assert str(project) in first  # whole, although it is longer than a line
    assert max(columns(line) for line in offered) <= 60


def test_a_project_that_cannot_be_trusted_is_not_asked_about(project: Path) -> None:
    os.chmod(project / ".agents" / "skills", 0o777)
    assert QUESTION not in on_a_terminal(project, "list")


@pytest.mark.measured_once
@pytest.mark.proves("catalog.trust.copies")
@pytest.mark.parametrize("decided", ["trust", "refuse"])
@pytest.mark.parametrize("how", ["worktree", "copy", "clone", "exchanged"])
def test_a_worktree_a_copy_and_a_clone_inherit_no_decision(
    project: Path, tmp_path: Path, how: str, decided: str
) -> None:
    git = ["git", "-C", str(project), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "Add a skill"], check=True)
    getattr(TrustStore(), decided)(str(project))
    other = tmp_path / "other"
    match how:
        case "worktree":
            subprocess.run([*git, "worktree", "add", "-q", str(other)], check=True)
        case "copy":
            shutil.copytree(project, other, symlinks=True)
        case "clone":
            subprocess.run(["git", "clone", "-q", str(project), str(other)], check=True)
        case _:
            shutil.copytree(project, tmp_path / "twin", symlinks=True)
            project.rename(tmp_path / "moved")
            (tmp_path / "twin").rename(project)
            other = project
    assert not TrustStore().is_trusted(str(other))
    assert not TrustStore().is_refused(str(other))
    catalog = Catalog.discover(cwd=other)
    assert catalog.entries() == ()
    assert [notice.code for notice in catalog.notices] == ["project_untrusted"]
    if decided == "trust" and how != "exchanged":
        assert names(Catalog.discover(cwd=project).entries()) == ["ours"]
    assert QUESTION in answered(other, "y\n", "list")[0]
    assert names(Catalog.discover(cwd=other).entries()) == ["ours"]
