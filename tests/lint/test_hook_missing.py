from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.format import parse_document
from prowess.lint import lint_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.diagnostics import Diagnostic


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "a"
    (root / "scripts").mkdir(parents=True)
    (root / "scripts" / "check.sh").write_text("true\n", encoding="utf-8")
    return root


def advice(skill: Path, hooks: str) -> list[Diagnostic]:
    (skill / "SKILL.md").write_text(
        f"---\nname: a\ndescription: Writes d. Use when asked for d.\n{hooks}---\nx\n", encoding="utf-8"
    )
    return [one for one in lint_skill(skill) if one.rule != "reference.orphan"]


@pytest.mark.proves("runtime.hooks.missing")
def test_a_hook_that_names_a_missing_file_is_reported_at_the_name(skill: Path) -> None:
    hooks = "hooks:\n  pre: scripts/check.sh\n  Stop:\n  - matcher: '*'\n    hooks:\n    - script: ./scripts/chek.sh\n"
    reported = advice(skill, hooks)
    assert [(one.rule, one.family, one.severity) for one in reported] == [("hooks.missing", "lint", "warning")]
    found = reported[0]
    assert found.message == "scripts/chek.sh does not exist; did you mean scripts/check.sh?"
    assert (found.location.line, found.location.column) == (9, 15)


@pytest.mark.parametrize(
    ("script", "hint"), [("scripts/Check.sh", "; did you mean scripts/check.sh?"), ("zzzzzzzz", "")]
)
def test_the_spelling_on_disk_counts(skill: Path, script: str, hint: str) -> None:
    (found,) = advice(skill, f"hooks: {{pre: [{script}, {script}]}}\n")
    assert found.message == f"{script} does not exist{hint}"
    assert found.location.column == 15


@pytest.mark.parametrize(
    "hooks",
    ["", "hooks: {pre: scripts/check.sh}\n", "hooks: {Stop: [{command: gone.sh}]}\n", "hooks: {pre: ../gone}\n"],
)
def test_what_is_there_or_cannot_be_looked_for_is_not_reported(skill: Path, hooks: str) -> None:
    assert advice(skill, hooks) == []


def test_a_document_without_a_directory_has_no_files_to_miss() -> None:
    assert lint_skill(parse_document("---\nname: a\nhooks: {pre: gone.sh}\n---\nx\n")) == []


def test_thousands_of_missing_hooks_are_reported_in_part(skill: Path) -> None:
    assert len(advice(skill, f"hooks: {{pre: [{', '.join(f'gone{number}' for number in range(4000))}]}}\n")) == 100


@pytest.mark.parametrize(
    ("command", "rule", "says"),
    [
        ("bash ${CLAUDE_SKILL_DIR}/scripts/chek.sh", "hooks.missing", "did you mean scripts/check.sh?"),
        ("./scripts/chek.sh now", "hooks.missing", "scripts/chek.sh does not exist; did you mean scripts/check.sh?"),
        ("bash $HOME/.claude/skills/a/scripts/gone.sh", "hooks.missing", "does not exist"),
        (
            "bash ${CLAUDE_SKILL_DIR}/../other/check.sh",
            "hooks.missing",
            "${CLAUDE_SKILL_DIR}/../other/check.sh does not exist",
        ),
        ("cat a | grep b", "hooks.command", "the command needs a shell, and hooks are run without one ('|' connects"),
        ("echo $FILE", "hooks.command", "needs a shell"),
        ("bash scripts/check.sh 2>/dev/null", "hooks.command", "needs a shell"),
        ("cd x && ./scripts/check.sh", "hooks.command", "needs a shell"),
    ],
)
@pytest.mark.proves("runtime.hooks.missing", "runtime.hooks.variables")
def test_a_command_that_will_refuse_activation_is_reported(skill: Path, command: str, rule: str, says: str) -> None:
    (found,) = advice(skill, f"hooks:\n  Stop:\n  - type: command\n    command: {command}\n")
    assert (found.rule, found.location.line) == (rule, 7)
    assert says in found.message


@pytest.mark.parametrize(
    "command",
    [
        "bash ${CLAUDE_SKILL_DIR}/scripts/check.sh",
        "'\"$CLAUDE_PLUGIN_ROOT\"/scripts/check.sh now'",
        "bash $HOME/.claude/skills/a/scripts/check.sh",
        "bash ${CLAUDE_SKILL_DIR}/../beside/check.sh",
        "'\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/x.sh'",
        "bash -c 'a | b; exit 0'",
    ],
)
def test_a_command_that_can_be_run_is_not_reported(skill: Path, command: str) -> None:
    (skill.parent / "beside").mkdir()
    (skill.parent / "beside" / "check.sh").write_text("true\n")
    assert advice(skill, f"hooks:\n  Stop:\n  - command: {command}\n") == []
