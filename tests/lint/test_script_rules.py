"""What the guide on scripts asks for is a warning where it is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.diagnostics import Severity
from prowess.lint import lint_skill
from tests.lint.case import Case, beside, body, lay_out

if TYPE_CHECKING:
    from pathlib import Path

_COMMANDS = (
    "uvx ruff check .",
    "pipx run ruff check .",
    "npx eslint@latest .",
    "bunx create-app here",
    "deno run npm:cowsay hi",
    "go run example.org/tool@latest .",
)


def severities(text: str, folder: Path) -> dict[str, Severity]:
    case = Case(rule="scripts", bad=text, good=())
    return {one.rule: one.severity for one in lint_skill(lay_out(case, text, folder)) if one.rule[:8] == "scripts."}


@pytest.mark.proves("format.script.pinned-commands")
@pytest.mark.parametrize("command", _COMMANDS)
def test_a_command_whose_newest_version_runs_is_a_warning_in_instructions_and_scripts(
    command: str, tmp_path: Path
) -> None:
    warned = {"scripts.unpinned": Severity.WARNING}
    assert severities(body(f"```sh\n{command}\n```"), tmp_path / "block") == warned
    assert severities(body(f"Run `{command}`."), tmp_path / "span") == warned
    assert severities(beside(body("Run `scripts/a.sh`."), scripts__a_sh=f"{command}\n"), tmp_path / "script") == warned


def test_a_command_that_may_run_the_version_of_the_project_is_advice(tmp_path: Path) -> None:
    assert severities(body("Run `npx eslint .`."), tmp_path) == {"scripts.projectVersion": Severity.INFO}


@pytest.mark.proves("format.script.self-contained")
def test_a_package_is_warned_of_until_a_block_a_specifier_or_a_document_names_it(tmp_path: Path) -> None:
    run, code = body("Run `scripts/a.py`."), "import numpy\n"
    block = f'# /// script\n# dependencies = ["numpy==2.1.0"]\n# ///\n{code}'
    assert severities(beside(run, scripts__a_py=code), tmp_path / "bare") == {"scripts.dependencies": Severity.WARNING}
    assert severities(beside(run, scripts__a_py=block), tmp_path / "block") == {}
    assert severities(beside(run, scripts__a_py=code, requirements_txt="numpy==2.1.0"), tmp_path / "pinned") == {}
    assert severities(beside(body("Needs numpy. Run `scripts/a.py`."), scripts__a_py=code), tmp_path / "said") == {}
