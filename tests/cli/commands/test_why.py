"""`prowess why`: the copy in use, the others, and the reasons."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.locking import lock, locked
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    write_skill(own_home / ".prowess" / "skills" / "deploy")
    write_skill(root / ".prowess" / "skills" / "deploy")
    write_skill(tmp_path / "acme-tools" / "deploy")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    return ["why", "deploy", "--trust-project", "--plugin", str(tmp_path / "acme-tools")]


def test_every_copy_stands_on_a_line_with_its_layer_place_and_state(
    project: Path, own_home: Path, tmp_path: Path, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (project / ".claude" / "skills").mkdir(parents=True)
    (project / ".claude" / "skills" / "again").symlink_to(own_home / ".prowess" / "skills" / "deploy")
    assert run(words) == exit_codes.OK
    mine = str(own_home / ".prowess" / "skills" / "deploy")
    width, blank = len(mine), " " * 18
    assert capfd.readouterr().out.splitlines() == [
        f"deploy  personal  {mine}  active (personal is a higher layer than project) [catalog.layer]",
        f"{blank}also reached as .claude/skills/again",
        (
            f"        project   {'.prowess/skills/deploy':<{width}}  "
            "shadowed by personal (a higher layer replaces the whole skill) [catalog.layer]"
        ),
        (
            f"{blank}to change this: rename this copy, or remove {mine}, "
            "or use --layers-order project-first (setting layers.order)"
        ),
        (
            f"        plugin    {'acme-tools: deploy@acme-tools':<{width}}  "
            "shadowed by personal (a higher layer replaces the whole skill); still reachable as deploy@acme-tools "
            "[catalog.layer]"
        ),
        f"{blank}in {tmp_path / 'acme-tools' / 'deploy'}",
        f"{blank}to change this: rename this copy, or remove {mine}",
    ]


@pytest.mark.proves("catalog.why.states", "tooling.cli.catalog")
@pytest.mark.usefixtures("project")
def test_json_lists_the_copies_in_the_order_of_precedence(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--json"]) == exit_codes.OK
    document = json.loads(capfd.readouterr().out)
    assert document["name"] == "deploy"
    assert [(copy["layer"], copy["state"]) for copy in document["copies"]] == [
        ("personal", "active"),
        ("project", "shadowed"),
        ("plugin", "shadowed"),
    ]
    assert [copy["rule"] for copy in document["copies"]] == ["catalog.layer"] * 3
    assert [copy["policy"] for copy in document["copies"]] == [None] * 3
    assert document["copies"][0]["reason"] == "active (personal is a higher layer than project)"


@pytest.mark.proves("catalog.why.inactive")
def test_a_skill_that_was_left_out_is_explained(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("# no front matter\n")
    assert run(["why", "bad", "--root", str(tmp_path)]) == exit_codes.FAILED
    printed = capfd.readouterr()
    assert f"{tmp_path}/bad/SKILL.md" in printed.out
    assert "skipped: " in printed.out
    assert "[frontmatter.missing]" in printed.out
    assert printed.err == "error: no copy of 'bad' is used\n"


@pytest.mark.usefixtures("project")
def test_a_skill_that_is_held_back_is_explained(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_skill(tmp_path / "project" / ".prowess" / "skills" / "theirs")
    assert run(["why", "theirs", "--quiet"]) == exit_codes.FAILED
    printed = capfd.readouterr().out
    assert "is not trusted [catalog.trust]" in printed
    assert "to change this: prowess trust" in printed


def _advice(words: list[str], capfd: pytest.CaptureFixture[str]) -> list[str | None]:
    run([*words, "--json"])
    return [copy["advice"] for copy in json.loads(capfd.readouterr().out)["copies"]]


def test_every_key_of_a_scope_that_does_not_match_is_named_with_a_change_that_helps(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scope = "scope:\n  agents: reviewer\n  tenants: [acme, globex]\n  environments: staging\n"
    write_skill(tmp_path / "audit", extra=scope)
    words = ["why", "audit", "--root", str(tmp_path), "--tenant", "initech", "--environment", "staging"]
    assert run(words) == exit_codes.FAILED
    assert (
        "out of scope (its scope allows agents reviewer, but none is known here; it allows tenants acme, globex, but "
        "here it is initech) [catalog.scope]"
    ) in capfd.readouterr().out
    (advice,) = _advice(words, capfd)
    assert advice == (
        "use --agent reviewer, PROWESS_AGENT or agent= in Python, or remove scope.agents; and "
        "use --tenant acme, PROWESS_TENANT or tenant= in Python, or add initech to scope.tenants"
    )
    text = (tmp_path / "audit" / "SKILL.md").read_text()
    (tmp_path / "audit" / "SKILL.md").write_text(text.replace("[acme,", "[acme, initech,"))
    assert run([*words, "--agent", "reviewer"]) == exit_codes.OK


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("fault", ["skipped", "out_of_scope"])
def test_each_change_that_is_advised_for_a_reserved_name_helps(
    own_home: Path, fault: str, capfd: pytest.CaptureFixture[str]
) -> None:
    above = own_home / ".prowess" / "skills" / "deploy" / "SKILL.md"
    above.write_text(
        "# no front matter\n"
        if fault == "skipped"
        else "---\nname: deploy\ndescription: D.\nscope:\n  tenants: acme\n---\n"
    )
    words = ["why", "deploy", "--trust-project", "--quiet"]
    assert run(words) == exit_codes.FAILED
    capfd.readouterr()
    _, advice = _advice(words, capfd)
    order = "--layers-order project-first"
    assert advice == f"rename this copy, or remove {above}, or use {order} (setting layers.order)"
    assert run([*words, *order.split()]) == exit_codes.OK
    above.unlink()
    assert run(words) == exit_codes.OK


def test_on_a_narrow_terminal_states_are_on_lines_of_their_own_and_no_line_is_too_long(
    project: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run(words)
    lines = capfd.readouterr().out.splitlines()
    at = lines.index("        project   .prowess/skills/deploy")
    assert lines[at + 1 : at + 4] == [
        f"{'':18}shadowed by personal (a higher layer replaces the whole skill)",
        f"{'':20}[catalog.layer]",
        f"{'':18}to change this: rename this copy, or remove",
    ]
    assert all(len(line) <= 80 or " " not in line.strip() for line in lines[1:])  # only a long path is not broken
    write_skill(project / ".prowess" / "skills" / "one")
    assert run(["why", "one", "--trust-project"]) == exit_codes.OK
    assert capfd.readouterr().out == "one  project  .prowess/skills/one  active\n"


def test_the_directory_of_a_skill_with_another_name_leads_to_its_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_skill(tmp_path / "deploy", name="rollout")
    write_skill(tmp_path / "tidy", name="clean", extra="scope:\n  tenants: acme\n")
    assert run(["why", "deploy", "--root", str(tmp_path)]) == exit_codes.FAILED
    assert capfd.readouterr().err == "error: no skill is called 'deploy'; did you mean 'rollout'?\n"
    assert run(["why", "tidy", "--root", str(tmp_path)]) == exit_codes.FAILED
    assert "clean" not in capfd.readouterr().err


def test_a_locked_copy_is_shown_with_package_version_signer_and_lock(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    own = lock(
        locked("review", signer="acme-release", order=1), locked("review", package="beta", version="2.0.0", order=2)
    )
    assert run(["why", "review"]) == exit_codes.OK
    text = capfd.readouterr().out
    assert "package beta 2.0.0, unsigned, locked by" in text
    assert "package acme 1.0.0, signed by acme-release, locked by" in text
    assert "active (its plugin was added last)" in text
    assert run(["why", "acme/review", "--json"]) == exit_codes.OK
    second = json.loads(capfd.readouterr().out)["copies"][1]
    tree = second["locked"].pop("tree")
    assert tree.startswith("sha256:")
    assert second["locked"] == {
        "package": "acme",
        "version": "1.0.0",
        "source": "acme/skills",
        "signer": "acme-release",
        "lock": str(own),
    }
    assert (second["state"], second["version"]) == ("shadowed", "1.0.0")


def test_a_locked_skill_that_is_not_in_the_store_is_explained_with_the_command(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lock(locked("review", tree=f"sha256:{'0' * 64}"), project=project)
    assert run(["why", "review", "--trust-project"]) == exit_codes.FAILED
    text = capfd.readouterr().out
    assert "to change this: run `prowess install`\n" in text
    assert "package acme 1.0.0, unsigned, locked by prowess.lock" in text
