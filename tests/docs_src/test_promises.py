"""What the documentation has to say, checked where a reader would look for it."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import click
import pytest

import prowess
from prowess.cli import exit_codes
from prowess.cli.main import COMMANDS
from prowess.errors import PolicyError
from prowess.policy.policy_file import policy_file_of
from tests.test_errors import CODES

ROOT = Path(__file__).parents[2]


def _page(name: str) -> str:
    """The text of a page with every run of blanks and line breaks as one blank."""
    return re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8"))


def _sections(name: str) -> list[str]:
    return re.findall(r"^## (.*)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.proves("tooling.skills-ref.install")
def test_installation_with_pip_and_uv_and_in_place_of_the_reference_tool() -> None:
    page = _page("docs/start/install.md")
    assert "`pip install prowess`" in page
    assert "`uv pip install prowess`" in page
    assert "| `skills-ref validate PATH` | `prowess validate PATH` |" in page
    assert "from prowess.compat.skills_ref import validate" in page


@pytest.mark.proves("tooling.authoring.guide")
def test_the_authoring_guide_covers_the_eight_practices() -> None:
    assert {
        "Keep the metadata tight",
        "Disclose progressively",
        "Draw the boundaries",
        "Version it",
        "Check before publishing",
        "Name it clearly",
        "Show an example",
        "Help with failures",
    } <= set(_sections("docs/author/authoring.md"))


@pytest.mark.proves("tooling.authoring.troubleshooting")
def test_the_troubleshooting_page_covers_the_four_complaints() -> None:
    assert {
        "My skill fails validation",
        "The body is too long",
        "An agent does not find my skill",
        "Broken characters",
    } <= set(_sections("docs/start/troubleshooting.md"))


@pytest.mark.proves("tooling.authoring.links")
@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_home_the_tool_and_the_examples_of_the_format_are_linked(page: str) -> None:
    text = _page(page)
    assert "https://agentskills.io/specification" in text
    assert "https://github.com/agentskills/agentskills" in text
    assert "https://github.com/anthropics/skills" in text


@pytest.mark.proves("format.metadata.common-keys")
def test_the_customary_metadata_keys_are_documented() -> None:
    page = _page("docs/author/authoring.md")
    assert "These keys are customary" in page
    assert [key for key in ("author", "version", "updated", "category") if f"| `{key}` |" not in page] == []


@pytest.mark.proves("format.allowed-tools.experimental")
def test_allowed_tools_is_called_experimental_and_honoured_differently() -> None:
    page = _page("docs/author/authoring.md")
    section = page[page.index("## allowed-tools is experimental") :]
    assert "marks the field as experimental, and agents differ" in section


@pytest.mark.proves("governance.persona.contributor")
def test_a_contributor_finds_the_standards_and_the_checks_that_reviewers_use() -> None:
    page = _page("CONTRIBUTING.md")
    assert "reviewed by these standards" in page
    assert "the same commands that reviewers use" in page
    assert "`prowess check`" in page
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "run: make test" in workflow
    assert "exec make test" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_every_dependency_has_its_reason() -> None:
    page = _page("docs/reference/dependencies.md")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    names = {re.split(r"[<>=;\[ ]", line)[0] for line in wanted}
    assert sorted(name for name in names if not re.search(rf"\b{re.escape(name)}\b", page)) == []


def test_the_changelog_has_the_version_of_the_package() -> None:
    assert f"## {prowess.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_command_is_in_the_table_of_commands() -> None:
    page = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if not re.search(rf"^\| `prowess {name}\b", page, re.MULTILINE)] == []


def test_every_error_code_is_documented_and_no_other() -> None:
    page = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    table = page[page.index("## Error codes") :]
    rows = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    assert sorted(code for row in rows for code in re.findall(r"`(\w+)`", row)) == sorted(CODES)


def test_every_exit_code_is_documented() -> None:
    page = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
    codes = {value for name, value in vars(exit_codes).items() if name.isupper()}
    assert {int(code) for code in re.findall(r"^\| (\d+)(?: \+ n)? \|", page, re.MULTILINE)} == codes


_CONTROLS = (ROOT / "docs/administer/controls.md").read_text(encoding="utf-8")
_ROWS = [line.strip().strip("|").split(" | ") for line in _CONTROLS.splitlines() if line.startswith("| ")]


def _words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _is_policy_key(key: str) -> bool:
    table, _, member = key.partition(".")
    head = f"[[{table}]]" if table in {"rule", "approval"} else f"[{table}]"
    text = f"{head}\n{member} = 1\n" if member else f"{table} = 1\n"
    try:
        policy_file_of("/policy.toml", text.encode())
    except PolicyError as fault:
        return not any("is not a key of a policy file" in one for one in fault.problems)
    return True


def _exists(command: str) -> bool:
    _, name, *further = command.split()
    if name not in COMMANDS:
        return False
    found = import_module(f"prowess.cli.commands.{name.replace('-', '_')}").command
    for word in further:
        found = found.get_command(click.Context(found), word)
        if found is None:
            return False
    return True


@pytest.mark.proves("governance.outcome.adoption")
def test_each_control_names_a_command_a_policy_key_and_a_test_that_exist() -> None:
    controls = [row for row in _ROWS if row[0].strip() not in {"control", "---"}]
    assert len(controls) > 35
    for name, commands, keys, tests in controls:
        for cell in (commands, keys):
            assert cell.strip() == "none" or _words(cell), name
        assert [command for command in _words(commands) if not _exists(command)] == []
        assert [key for key in _words(keys) if not _is_policy_key(key)] == []
        (test,) = _words(tests)
        path, _, function = test.partition("::")
        assert f"def {function}" in (ROOT / path).read_text(encoding="utf-8"), test


def test_a_command_a_key_and_a_table_that_do_not_exist_are_noticed() -> None:
    assert not _exists("prowess blok")
    assert not _exists("prowess admin tenants")
    assert not _is_policy_key("audit.requird")
    assert not _is_policy_key("rules.match")
