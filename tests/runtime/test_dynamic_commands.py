from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from prowess._internal.shell.words import ShellRefusal
from prowess.catalog import Catalog
from prowess.execution import ExecResult, Guarantees, default_sandbox
from prowess.format.commands import commands
from prowess.policy import Policy, PolicyFile, PolicyRule, RuleOrigin
from prowess.policy.rule import EFFECTS, ArgumentMatch
from prowess.runtime import Session
from prowess.runtime.activation.dynamic_commands import COMMAND_SECONDS, MAX_OUTPUT, shown, words
from prowess.runtime.activation.substitution import Values
from prowess.store import MemorySessionStore
from tests.runtime.making import codes, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
needs_sandbox = pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")

BODY = """\
Häd: !`echo one` and !`echo one`

Shown: `` !`echo two` ``, \\!`echo three`, wow!`echo four`, !``echo five``, <!-- !`echo six` -->

```
!`echo seven`
```

- item !`echo eight`

| a |
|---|
| !`echo nine` |
"""


@pytest.mark.proves("runtime.activate.dynamic.code")
def test_only_marked_inline_code_is_a_command_and_each_has_its_place() -> None:
    found = commands(BODY)
    assert [command.text for command in found] == ["echo one", "echo one", "echo eight", "echo nine"]
    assert [BODY[command.start : command.end] for command in found] == [f"!`{command.text}`" for command in found]
    assert found[0].start != found[1].start
    assert commands("no code, no mark: `a` b!") == ()


def test_without_a_parser_that_knows_places_nothing_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyromark", None)
    assert commands(BODY) == ()


def test_a_value_stays_within_its_word() -> None:
    values = Values(skill_dir=".", session_id="s", args="'a; b' $2 && x")
    (command,) = commands("!`git log \"$0\" $1 '$HOME' '|' \\$2`")
    assert words(command, values) == ("git", "log", "a; b", "$2", "$HOME", "|", "$2")
    (broken,) = commands('!`echo "open`')
    assert isinstance(words(broken, values), ShellRefusal)


SHELL_LINES = (
    "touch ran && touch ran",
    "touch ran; touch ran",
    "touch ran || true",
    "touch ran | cat",
    "touch ran 2> log",
    "touch ran 2>/dev/null",
    "touch ran > log",
    "touch ran &",
    "touch $(echo ran)",
    "touch ran $HOME",
    "touch *",
    "cd . && touch ran",
    "touch ran\ntouch ran",
)


@pytest.mark.proves("runtime.activate.dynamic.shell")
@needs_sandbox
async def test_a_command_that_needs_a_shell_is_refused_at_its_place_and_never_runs_in_part(tmp_path: Path) -> None:
    lines = "".join(f"- !`{line}`\n" for line in SHELL_LINES)
    write_skill(tmp_path / "skills", "a", body=f"# A\n\n{lines}- !`echo fine`\n")
    workspace = tmp_path / "work"
    workspace.mkdir()
    session = Session(Catalog(tmp_path / "skills"), commands=True, workspace=workspace, write=True)
    receipt = await session.load(["a"])
    assert list(workspace.iterdir()) == []
    told = session.instructions()
    assert told.count("- [command not run: ") == len(SHELL_LINES)
    assert "put this one into a script below scripts/ and name that]" in told
    assert "- [command not run: '&&' joins several commands; commands run without a shell" in told
    assert "- fine" in told
    assert set(codes(receipt)) == {"command_refused"}
    first, *more = receipt.notices
    assert first.skill == "a"
    assert first.message.startswith("the command in line 7 of a/SKILL.md was not run: '&&' joins several commands;")
    assert len(more) == len(SHELL_LINES) - 1


@needs_sandbox
@pytest.mark.proves("runtime.activate.dynamic.shell")
async def test_a_block_of_commands_runs_if_it_is_one_command_and_is_refused_whole_otherwise(tmp_path: Path) -> None:
    body = "A\n\n```!\necho one $0\n```\n\nB !`echo two`\n\n```!\ntouch ran\ntouch ran\n```\n\n```sh\necho !\n```\n"
    write_skill(tmp_path / "skills", "a", body=body)
    workspace = tmp_path / "work"
    workspace.mkdir()
    session = Session(Catalog(tmp_path / "skills"), commands=True, workspace=workspace, write=True)
    done = result(await session.call("skill", {"skill": "a", "args": "word"}))
    assert "A\n\none word\n\nB two\n\n[command not run: it has several lines; commands run" in done["content"]
    assert "```sh\necho !\n```" in done["content"]
    assert codes(done) == ["command_refused"]
    assert "line 13 of a/SKILL.md" in done["notices"][0]["message"]
    assert list(workspace.iterdir()) == []
    off = Session(Catalog(tmp_path / "skills"))
    assert codes(await off.load(["a"])) == ["commands_not_run"]
    assert "touch ran\ntouch ran" in off.instructions()
    assert [command.text for command in commands("> ~~~!\n> x\n> ~~~\n\n```!\nopen")] == ["open"]


def _done(exit_code: int = 0, stdout: bytes = b"", stderr: bytes = b"", *, timed_out: bool = False) -> ExecResult:
    guarantees = Guarantees(
        backend="none", version="0", tier=0, network="none", filesystem="none", enforced=(), not_enforced=()
    )
    return ExecResult(
        exit_code=exit_code,
        stdout=stdout,
        stderr=stderr,
        stdout_bytes=len(stdout),
        stderr_bytes=len(stderr),
        timed_out=timed_out,
        duration_ms=1,
        guarantees=guarantees,
    )


def test_a_command_is_replaced_by_its_output_or_by_what_went_wrong() -> None:
    assert shown(_done(stdout=b"a\nb\n\n")) == "a\nb"
    assert shown(_done(2, stderr=b"x\nno such thing\n")) == "[command failed with status 2: no such thing]"
    assert shown(_done(1)) == "[command failed with status 1]"
    assert shown(_done(137, timed_out=True)) == f"[command timed out after {COMMAND_SECONDS:g} s]"
    assert shown(_done(stdout=b"x" * (MAX_OUTPUT + 5))).endswith(
        f"[output cut at {MAX_OUTPUT} of {MAX_OUTPUT + 5} characters]"
    )


@pytest.mark.proves("runtime.activate.dynamic")
async def test_commands_are_text_unless_the_host_allows_them(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "a", body="Now: !`touch /workspace/ran`.\n")
    session = Session(Catalog(tmp_path / "skills"), workspace=tmp_path, write=True)
    receipt = await session.load(["a"])
    assert codes(receipt) == ["commands_not_run"]
    assert "Now: !`touch /workspace/ran`." in session.instructions()
    assert not (tmp_path / "ran").exists()


@needs_sandbox
@pytest.mark.proves("runtime.activate.dynamic", "runtime.activate.dynamic.code")
async def test_allowed_commands_run_in_the_sandbox_without_a_shell_once_an_activation(tmp_path: Path) -> None:
    body = (
        "1 !`echo '$HOME ; echo $(id) > x'` 2 !`scripts/own.sh $0` 3 !`cat ${CLAUDE_SKILL_DIR}/notes.md`"
        f' 4 !`ls {tmp_path}` 5 !`nonsense-program` 6 !`echo "open` 7 `!`\n'
    )
    files = {"scripts/own.sh": '#!/bin/sh\necho "own $1 !\\`echo again\\` \\$1"\n', "notes.md": "note\n"}
    directory = write_skill(tmp_path / "skills", "a", body=body, files=files)
    (directory / "scripts" / "own.sh").chmod(0o755)
    store = MemorySessionStore()
    session = Session(Catalog(tmp_path / "skills"), commands=True, store=store, session_id="one")

    done = result(await session.call("skill", {"skill": "a", "args": "'x; y' z"}))

    told = session.instructions()
    for text in (done["content"], told):
        assert "1 $HOME ; echo $(id) > x 2" in text
        assert "2 own x; y !`echo again` $1 3 note 4" in text
        assert f"4 [command failed with status 2: ls: cannot access '{tmp_path}'" in text
        assert "5 [command failed with status 127: nonsense-program: No such file or directory]" in text
        assert "6 [command not run: a double quote is never closed; commands run without a shell" in text
        assert "name that] 7 `!`" in text
    again = Session(Catalog(tmp_path / "skills"), store=store, session_id="one")
    await again.refresh()
    assert again.instructions() == told


@needs_sandbox
async def test_at_most_sixteen_commands_run(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "a", body="!`echo x` " * 17 + "\n")
    session = Session(Catalog(tmp_path / "skills"), commands=True)
    await session.load(["a"])
    assert "x " * 16 + "!`echo x`" in session.instructions()


@needs_sandbox
async def test_a_rule_about_bash_holds_for_commands_in_bodies_and_a_default_does_not(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "a", body="1 !`echo one` 2 !`env echo two`\n")
    origin = RuleOrigin(path="p.toml", line=1)
    match = ArgumentMatch(argument="command", patterns=("echo two",))
    for effect in EFFECTS[1:]:
        rule = PolicyRule(effect=effect, tool="Bash", matches=(match,), reason="not here", origin=origin)
        allow = PolicyRule(effect="allow", tool="skills.*", matches=(), reason=None, origin=origin)
        file = PolicyFile(path="p.toml", rules=(rule, allow), default="deny", dynamic_commands=True)
        session = Session(Catalog(tmp_path / "skills"), policy=Policy(files=(file,)))
        await session.load(["a"])
        told = session.instructions()
        assert "1 one 2 [command not run: not here" in told
