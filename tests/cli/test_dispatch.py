"""From an outcome to an exit code: results, errors raised on purpose, interrupts, closed pipes."""

from __future__ import annotations

from types import ModuleType

import click
import pytest

from prowess.cli import dispatch, exit_codes
from prowess.errors import (
    PolicyDeniedError,
    SandboxUnavailableError,
    SkillError,
    SkillNotFoundError,
    StoreError,
)


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the command `list` does in this test: its first item is returned, or raised if it is an exception."""
    planned: list[object] = []

    @click.command()
    def command() -> object:
        if isinstance(planned[0], BaseException):
            raise planned[0]
        return planned[0]

    module = ModuleType("prowess.cli.commands.list")
    module.command = command  # type: ignore[attr-defined]  # a module made for this test
    monkeypatch.setattr(dispatch, "import_module", lambda name: {"prowess.cli.commands.list": module}[name])
    return planned


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_the_number_a_command_returns_is_the_exit_code(outcome: list[object], code: int) -> None:
    outcome.append(code)
    assert dispatch.run(["list"]) == code


def test_a_command_that_returns_nothing_succeeded(outcome: list[object]) -> None:
    outcome.append(None)
    assert dispatch.run(["list"]) == exit_codes.OK


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SkillNotFoundError("pdf", ("pdfs",)), exit_codes.FAILED),
        (PolicyDeniedError("rule", "reason"), exit_codes.DENIED),
        (SandboxUnavailableError("bubblewrap", "install it"), exit_codes.UNAVAILABLE),
        (StoreError("sqlite:///x", "locked"), exit_codes.UNAVAILABLE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_raised_on_purpose_is_one_sentence_and_a_code(
    outcome: list[object], capsys: pytest.CaptureFixture[str], error: SkillError, code: int
) -> None:
    outcome.append(error)
    assert dispatch.run(["list"]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"error: {error}\n"


def test_a_name_without_a_likeness_is_told_where_to_look(
    outcome: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    outcome.append(SkillNotFoundError("pdf"))
    assert dispatch.run(["list"]) == exit_codes.FAILED
    assert capsys.readouterr().err == "error: no skill is called 'pdf'; `prowess list` shows the available skills\n"


def test_what_the_system_refuses_is_one_sentence(outcome: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    outcome.append(OSError(28, "No space left on device", "a\nb"))
    assert dispatch.run(["list"]) == exit_codes.FAILED
    assert capsys.readouterr().err == "error: a\\nb: No space left on device\n"


def test_a_fault_of_the_command_line_shows_usage(outcome: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    outcome.append(0)
    assert dispatch.run(["list", "--no-such-option"]) == exit_codes.USAGE
    assert "--no-such-option" in capsys.readouterr().err


def test_a_misspelt_command_is_told_which_may_be_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch.run(["chekc", "."]) == exit_codes.USAGE
    assert "there is no command 'chekc'; did you mean check?" in capsys.readouterr().err
    assert dispatch.run(["zzz"]) == exit_codes.USAGE
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), click.exceptions.Abort()], ids=lambda value: type(value).__name__
)
def test_an_interrupt_is_130(outcome: list[object], error: BaseException) -> None:
    outcome.append(error)
    assert dispatch.run(["list"]) == exit_codes.INTERRUPTED


def test_a_reader_that_closes_the_pipe_is_no_failure(outcome: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[bool] = []
    monkeypatch.setattr("prowess.cli.output.drop_standard_output", lambda: dropped.append(True))
    outcome.append(BrokenPipeError())
    assert dispatch.run(["list"]) == exit_codes.OK
    assert dropped == [True]


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code = dispatch.run([])
    captured = capsys.readouterr()
    assert code in {exit_codes.OK, exit_codes.USAGE}
    assert "Usage: prowess" in captured.out + captured.err


def test_the_version_option_of_the_group_agrees_with_the_quick_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch.run(["--version"]) == exit_codes.OK
    assert capsys.readouterr().out.startswith("prowess ")
