"""`prowess list --seen-by AGENT`: what another agent finds in a directory, and what its list cuts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog.other_agents.places import other_agents
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a home beside it; the working directory is the project."""
    home = tmp_path / "home"
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(project)
    return project


def _seen(agent: str, capfd: Printed, *more: str) -> dict[str, Any]:
    assert run(["list", *more, "--seen-by", agent, "--json"]) == exit_codes.OK
    document: dict[str, Any] = json.loads(capfd.readouterr().out)
    return document


def _states(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(skill["name"], skill["place"], skill["state"]) for skill in document["skills"]]


@pytest.mark.proves("catalog.list.seen-by")
def test_each_agent_finds_the_skills_of_its_own_directories(project: Path, capfd: Printed) -> None:
    write_skill(project / ".claude/skills/for-claude")
    write_skill(project / ".agents/skills/for-all")
    write_skill(project / ".gemini/skills/for-gemini")
    write_skill(project / ".prowess/skills/for-prowess")
    write_skill(project.parent / "home/.claude/skills/mine")
    assert _states(_seen("claude-code", capfd)) == [
        ("mine", "~/.claude/skills", "listed"),
        ("for-claude", ".claude/skills", "listed"),
    ]
    assert _states(_seen("codex", capfd)) == [("for-all", ".agents/skills", "listed")]
    assert _states(_seen("gemini-cli", capfd)) == [
        ("for-all", ".agents/skills", "listed"),
        ("for-gemini", ".gemini/skills", "listed"),
    ]
    assert {name for name, _, _ in _states(_seen("cursor", capfd))} == {"for-all", "for-claude", "mine"}


def test_the_table_has_the_place_and_the_document_with_its_date(project: Path, capfd: Printed) -> None:
    write_skill(project / ".claude/skills/deploy", description="Deploys it.")
    assert run(["list", "--seen-by", "claude-code"]) == exit_codes.OK
    printed = capfd.readouterr()
    assert printed.out == "deploy  .claude/skills  Deploys it.\n"
    assert "source: https://code.claude.com/docs/en/skills (20" in printed.err
    assert run(["list", "--seen-by", "claude-code", "--quiet"]) == exit_codes.OK
    assert capfd.readouterr().err == ""


def test_without_skills_the_searched_directories_are_named(project: Path, capfd: Printed) -> None:
    write_skill(project / ".agents/skills/a")
    assert run(["list", "--seen-by", "claude-code"]) == exit_codes.OK
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "Claude Code finds no skills here; it searches ~/.claude/skills, .claude/skills\n" in printed.err


def test_skills_in_directories_that_the_agent_does_not_search_are_counted(project: Path, capfd: Printed) -> None:
    write_skill(project / ".agents/skills/a")
    write_skill(project / ".agents/skills/b")
    write_skill(project / ".prowess/skills/c")
    write_skill(project / ".claude/skills/d")
    write_skill(project.parent / "home/.gemini/skills/e")
    (project / ".cursor").mkdir()
    (project / ".cursor/skills").symlink_to("../.claude/skills")
    assert _seen("claude-code", capfd)["elsewhere"] == {
        str(project / ".prowess/skills"): 1,
        str(project / ".agents/skills"): 2,
        str(project.parent / "home/.gemini/skills"): 1,
    }
    run(["list", "--seen-by", "claude-code"])
    error = capfd.readouterr().err
    assert "skills in directories that Claude Code does not search: .prowess/skills (1), .agents/skills (2), " in error


def test_a_deleted_working_directory_is_reported(project: Path, capfd: Printed) -> None:
    project.joinpath(".git").rmdir()
    project.rmdir()
    assert run(["list", "--seen-by", "codex"]) == exit_codes.USAGE
    assert "the working directory does not exist any more" in capfd.readouterr().err


def test_the_agents_own_precedence_decides_between_copies(project: Path, capfd: Printed) -> None:
    home = project.parent / "home"
    write_skill(home / ".claude/skills/deploy", description="Mine.")
    write_skill(project / ".claude/skills/deploy", description="Ours.", extra="priority: 9\n")
    assert _states(_seen("claude-code", capfd)) == [
        ("deploy", "~/.claude/skills", "listed"),
        ("deploy", ".claude/skills", "shadowed"),
    ]
    assert run(["list", "--seen-by", "claude-code"]) == exit_codes.OK
    printed = capfd.readouterr()
    assert "Mine." in printed.out
    assert f".claude/skills/deploy is not listed: {home}/.claude/skills/deploy has the same name" in printed.err

    write_skill(project / ".agents/skills/review")
    write_skill(home / ".agents/skills/review")
    assert [state for _, _, state in _states(_seen("gemini-cli", capfd))] == ["listed", "shadowed"]
    assert [state for _, _, state in _states(_seen("codex", capfd))] == ["listed", "listed"]
    run(["list", "--seen-by", "codex"])
    assert "found more than once, all copies are listed: review" in capfd.readouterr().err
    run(["list", "--seen-by", "cursor"])
    assert "found more than once, which copy is used is not documented: deploy, review" in capfd.readouterr().err


def test_an_agent_searches_above_the_working_directory_only_if_that_is_documented(
    project: Path, capfd: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(project / ".agents/skills/at-the-root")
    write_skill(project / "web/.agents/skills/in-web")
    write_skill(project.parent / ".agents/skills/outside")
    (project / "web/src").mkdir()
    monkeypatch.chdir(project / "web/src")
    assert [name for name, _, _ in _states(_seen("codex", capfd))] == ["in-web", "at-the-root"]
    assert _states(_seen("gemini-cli", capfd)) == []


def test_links_are_followed_or_ignored_as_documented(project: Path, capfd: Printed) -> None:
    home = project.parent / "home"
    write_skill(project / "kept/linked")
    for place in (".claude/skills", ".cursor/skills"):
        (project / place).mkdir(parents=True)
        (project / place / "linked").symlink_to("../../kept/linked")
    (home / ".agents/skills").mkdir(parents=True)
    (home / ".agents/skills/linked").symlink_to(project / "kept/linked")
    write_skill(home / ".agents/skills/real")
    assert _states(_seen("claude-code", capfd)) == [("linked", ".claude/skills", "listed")]
    document = _seen("docker-agent", capfd)
    assert _states(document) == [
        ("linked", "~/.agents/skills", "link_ignored"),
        ("real", "~/.agents/skills", "listed"),
    ]
    assert document["skills"][0]["path"] == str(home / ".agents/skills/linked")
    run(["list", "--seen-by", "cursor"])
    assert "whether Cursor follows links to directories is not documented" in capfd.readouterr().err

    write_skill(project / ".agents/skills/a")
    (project / ".agents/skills/b").mkdir()
    (project / ".agents/skills/b/SKILL.md").symlink_to("../a/SKILL.md")
    document = _seen("codex", capfd)
    assert [name for name, _, _ in _states(document)] == ["a", "linked", "real"]
    assert [one["rule"] for one in document["unreadable"]] == ["file.notRegular"]


def test_skills_that_the_model_does_not_see_are_named_with_the_reason(project: Path, capfd: Printed) -> None:
    write_skill(project / ".claude/skills/by-hand", extra="disable-model-invocation: true\n")
    write_skill(project / ".claude/skills/group/deep")
    write_skill(project / ".claude/skills/scoped", extra="scope:\n  tenants: acme\n")
    assert _states(_seen("claude-code", capfd)) == [
        ("by-hand", ".claude/skills", "by_hand"),
        ("deep", ".claude/skills", "too_deep"),
        ("scoped", ".claude/skills", "listed"),
    ]
    run(["list", "--seen-by", "claude-code"])
    error = capfd.readouterr().err
    assert ".claude/skills/by-hand is not listed: disable-model-invocation is set" in error
    assert ".claude/skills/group/deep is not listed: only immediate subdirectories are searched" in error


def test_the_name_is_the_one_that_the_agent_uses(project: Path, capfd: Printed) -> None:
    write_skill(project / ".claude/skills/a-directory", name="a-name")
    write_skill(project / ".agents/skills/a-directory", name="a-name")
    assert [skill["name"] for skill in _seen("claude-code", capfd)["skills"]] == ["a-directory"]
    assert [skill["name"] for skill in _seen("codex", capfd)["skills"]] == ["a-name"]


def test_a_long_description_is_cut_at_the_documented_length(project: Path, capfd: Printed) -> None:
    write_skill(project / ".claude/skills/long", description="x" * 1500, extra=f"when_to_use: {'y' * 100}\n")
    (skill,) = _seen("claude-code", capfd)["skills"]
    assert (skill["length"], skill["shown"]) == (1600, 1536)
    run(["list", "--seen-by", "claude-code"])
    assert "the description is cut after 1536 characters: long\n" in capfd.readouterr().err


def test_a_list_beyond_its_limit_loses_whole_descriptions_or_parts_of_them(project: Path, capfd: Printed) -> None:
    for number in range(12):
        write_skill(project / f".claude/skills/s{number:02}", description="x" * 1000)
        write_skill(project / f".agents/skills/s{number:02}", description="x" * (100 if number < 4 else 1000))
    assert _seen("claude-code", capfd)["list"] == {"characters": 12_036, "limit": 8000, "cut": 5, "left_out": 0}
    run(["list", "--seen-by", "claude-code"])
    error = capfd.readouterr().err
    assert "the list has 12036 characters, at most 8000 are shown, or 1% of the context window: " in error
    assert "at least 5 descriptions are dropped" in error

    document = _seen("codex", capfd)
    paths = sum(len(skill["location"]) for skill in document["skills"])
    left = 8000 - 12 * 3 - paths
    assert [skill["shown"] for skill in document["skills"]] == [100] * 4 + [(left - 400) // 8] * 8
    assert (document["list"]["cut"], document["list"]["left_out"]) == (8, 0)
    run(["list", "--seen-by", "codex"])
    assert ": 8 descriptions are shortened\n" in capfd.readouterr().err


def test_a_list_whose_names_alone_are_too_long_leaves_skills_out(project: Path, capfd: Printed) -> None:
    for number in range(60):
        write_skill(project / ".agents/skills" / f"s{number:02}-{'n' * 55}", description="d")
    document = _seen("codex", capfd)
    each = len(document["skills"][0]["name"]) + len(document["skills"][0]["location"])
    assert document["list"]["left_out"] == 60 - 8000 // each
    assert {skill["shown"] for skill in document["skills"]} == {0}


def test_a_variable_of_the_agent_moves_its_directory(
    project: Path, capfd: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(project.parent / "moved/skills/a")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(project.parent / "moved"))
    assert _states(_seen("claude-code", capfd)) == [("a", "~/.claude/skills", "listed")]


def test_a_prefix_selects_names(project: Path, capfd: Printed) -> None:
    write_skill(project / ".agents/skills/abc")
    write_skill(project / ".agents/skills/xyz")
    assert [name for name, _, _ in _states(_seen("codex", capfd, "ab"))] == ["abc"]


def test_text_of_a_skill_is_printed_as_one_line(project: Path, capfd: Printed) -> None:
    write_skill(project / ".agents/skills/evil", description='"\\e[2J clear \\u202e turned\\nnext"')
    run(["list", "--seen-by", "codex"])
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert out.count("\n") == 1


def test_an_unknown_agent_is_a_usage_error_that_lists_the_known_ones(project: Path, capfd: Printed) -> None:
    assert run(["list", "--seen-by", "claud-code"]) == exit_codes.USAGE
    error = capfd.readouterr().err
    assert "no agent is called 'claud-code' (did you mean 'claude-code'?); known agents: adal, " in error
    assert all(name in error for name in other_agents())


@pytest.mark.parametrize(
    ("options", "named"),
    [(["--root", "."], "--root"), (["--tag", "a"], "--tag"), (["--environment", "x"], "--environment")],
)
def test_options_that_select_other_sources_are_refused(
    project: Path, capfd: Printed, options: list[str], named: str
) -> None:
    assert run(["list", "--seen-by", "codex", *options]) == exit_codes.USAGE
    assert f"leave out {named}" in capfd.readouterr().err
