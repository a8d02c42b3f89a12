from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.format.fields.extended_fields import extended_fields
from prowess.format.fields.hook_command import FileOfSkill, file_of_skill, read_command
from prowess.format.fields.hooks import Hook

if TYPE_CHECKING:
    from prowess.format.fields.hook_command import Base

VALUES: dict[Base, str] = {"skill": "/s", "plugin": "/g", "project": "/p", "home": "/h"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("bash ${CLAUDE_SKILL_DIR}/bin/x.sh", ["bash", "/s/bin/x.sh"]),
        ("$CLAUDE_SKILL_DIR/x", ["/s/x"]),
        ('"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh', ["/p/.claude/hooks/x.sh"]),
        ('"${CLAUDE_PROJECT_DIR}/a b.sh" c', ["/p/a b.sh", "c"]),
        ("python3 ${CLAUDE_PLUGIN_ROOT}/x.py --root=${CLAUDE_PLUGIN_ROOT}", ["python3", "/g/x.py", "--root=/g"]),
        ("bash $HOME/.claude/x.sh", ["bash", "/h/.claude/x.sh"]),
        ("bash ~/.claude/x.sh", ["bash", "/h/.claude/x.sh"]),
        ("x '$HOME' \"$HOME\" \\$HOME", ["x", "$HOME", "/h", "$HOME"]),
        ("x \"'$HOME'\"", ["x", "'/h'"]),
        ("bash -c 'S=\"$HOME/x\"; [ -x \"$S\" ] && exec bash \"$S\"; exit 0'",
         ["bash", "-c", 'S="$HOME/x"; [ -x "$S" ] && exec bash "$S"; exit 0']),
        ('python3 a.py --strict "a b" ""', ["python3", "a.py", "--strict", "a b", ""]),
    ],
)  # fmt: skip
@pytest.mark.proves("runtime.hooks.variables")
def test_a_command_is_words_with_values_and_no_shell(command: str, words: list[str]) -> None:
    read = read_command(command)
    assert read.fault is None
    assert [word.valued(VALUES) for word in read.words] == words


@pytest.mark.parametrize(
    "command",
    [
        "a | b", "a; b", "a && b", "a > b", "a < b", "a &", "$(a)", "`a`", "a *.py", "a [ab]", "a $OTHER", "a $HOMES",
        "a ${HOME:-x}", 'a "$(b)"', "a\nb", "A=b c", "", "  ", '"a', "'a", "a $1", "a ${CLAUDE_ENV_FILE}",
        "a \ue002HOME\ue003",
        "source x", "exec x", "a {b,c}",
    ],
)  # fmt: skip
@pytest.mark.proves("runtime.hooks.variables")
def test_what_only_a_shell_could_do_is_a_fault_and_nothing_of_it_is_read(command: str) -> None:
    read = read_command(command)
    assert read.fault is not None
    assert read.words == ()


FILES = {("own", "bin/x.sh"), ("own", "skills/own/y.sh"), ("careful", "bin/x.sh")}


@pytest.mark.parametrize(
    ("word", "file"),
    [
        ("$CLAUDE_SKILL_DIR/bin/x.sh", ("own", "bin/x.sh")),
        ("$CLAUDE_SKILL_DIR/./bin//x.sh", ("own", "bin/x.sh")),
        ("$CLAUDE_SKILL_DIR/../own/bin/x.sh", ("own", "bin/x.sh")),
        ("$CLAUDE_SKILL_DIR/../careful/bin/x.sh", ("careful", "bin/x.sh")),
        ("$CLAUDE_SKILL_DIR/../../careful/bin/x.sh", None),
        ("$CLAUDE_SKILL_DIR/../gone/bin/x.sh", None),
        ("$CLAUDE_SKILL_DIR/bin/gone.sh", None),
        ("$CLAUDE_SKILL_DIR", None),
        ("$CLAUDE_PLUGIN_ROOT/bin/x.sh", ("own", "bin/x.sh")),
        ("$CLAUDE_PLUGIN_ROOT/skills/careful/bin/x.sh", ("careful", "bin/x.sh")),
        ("$HOME/.claude/skills/pack/careful/bin/x.sh", ("careful", "bin/x.sh")),
        ("$HOME/.claude/skills/own/bin/x.sh", ("own", "bin/x.sh")),
        ("$HOME/../careful/bin/x.sh", ("careful", "bin/x.sh")),
        ("$HOME/bin/x.sh", None),
        ("$CLAUDE_PROJECT_DIR/.claude/skills/own/bin/x.sh", ("own", "bin/x.sh")),
        ("$CLAUDE_PROJECT_DIR/bin/x.sh", None),
        ("bin/x.sh", None),
    ],
)
def test_a_path_means_the_file_of_a_skill_that_has_it(word: str, file: tuple[str, str] | None) -> None:
    (read,) = read_command(word).words
    found = file_of_skill(read, "own", lambda skill, path: (skill, path) in FILES)
    assert found == (None if file is None else FileOfSkill(skill=file[0], path=file[1]))


def test_arguments_that_are_given_one_by_one_are_words_as_they_are() -> None:
    read = extended_fields(
        {
            "hooks": {
                "Stop": [{"command": "bash", "args": ["$HOME/a b", "x | y"], "shell": "bash", "statusMessage": "?"}]
            }
        }
    )
    (hook,) = read.hooks.entries
    assert read.faults == ()
    assert [word.valued(VALUES) for word in hook.read.words] == ["bash", "/h/a b", "x | y"]


@pytest.mark.parametrize("keys", [{"args": "x"}, {"args": [1]}, {"shell": "powershell"}])
def test_arguments_and_shells_that_cannot_be_read_leave_the_hooks_incomplete(keys: dict[str, object]) -> None:
    assert not extended_fields({"hooks": {"Stop": [{"command": "a", **keys}]}}).hooks.complete


@pytest.mark.parametrize("key", ["if", "async", "asyncRewake"])
def test_a_documented_key_that_is_not_obeyed_is_reported_and_the_hook_runs(key: str) -> None:
    read = extended_fields({"hooks": {"PreToolUse": [{"command": "a", key: "x"}]}})
    assert read.hooks.entries == (Hook(event="PreToolUse", command="a"),)
    assert [fault.rule for fault in read.faults] == ["hooks.value"]
    assert "is not supported" in read.faults[0].message


def test_each_of_many_variables_is_literal_in_single_quotes_alone() -> None:
    """A command is read once from end to end: with a scan for each variable this took more than half a minute."""
    command = read_command("x " + """'$HOME' "$HOME" \\'$HOME "it's $HOME" '"$HOME"' """ * 2000)
    assert command.fault is None
    texts = [word.written for word in command.words]
    assert texts[1:6] == ["$HOME", "${HOME}", "'${HOME}", "it's ${HOME}", '"$HOME"']
    assert texts[1:] == texts[1:6] * 2000


def test_no_file_is_looked_for_at_a_path_longer_than_any() -> None:
    asked: list[str] = []

    def has(_: str, path: str) -> bool:
        asked.append(path)
        return False

    for parts, looked in ((2000, True), (28_000, False)):
        (word,) = read_command('"${CLAUDE_PROJECT_DIR}' + "/a" * parts + '"').words
        assert file_of_skill(word, "a", has) is None
        assert bool(asked) is looked
        asked.clear()
