"""`prowess update`, `outdated` and `lock` choose versions, and no skill changes what it may do without consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.lockfile import Lockfile, read_lock, render_lock
from tests.distribution.installation.projects import Commands, make_project, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def commands(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    return Commands(make_project(place), monkeypatch, capfd)


def _write(
    place: Path, name: str, version: str = "1.0.0", needs: str = "", *, front: str = "", script: str = ""
) -> None:
    directory = write_skill(place / "skills" / name, version, script=script or None)
    file = directory / "SKILL.md"
    dependencies = f'  dependencies: "{needs}"\n' if needs else ""
    file.write_text(file.read_text("utf-8").replace("metadata:\n", f"{front}metadata:\n{dependencies}"), "utf-8")


def _versions(place: Path) -> dict[str, str | None]:
    return {skill.name: skill.version for skill in read_lock(str(place / "project" / "prowess.lock")).skills}


def test_installing_a_skill_installs_what_it_needs_from_the_same_source(place: Path, commands: Commands) -> None:
    _write(place, "report", "3.1.0", "ledger@^2 mail")
    _write(place, "ledger", "2.4.0")
    _write(place, "mail", needs="ledger@>=1 <3")
    _write(place, "unrelated")
    report = commands.report("install", "../skills", "--skill", "report")
    assert {skill["name"]: skill["action"] for skill in report["skills"]} == dict.fromkeys(
        ("ledger", "mail", "report"), "install"
    )
    locked = {skill.name: skill for skill in read_lock(str(place / "project" / "prowess.lock")).skills}
    assert locked["report"].requires == ("ledger@^2", "mail")
    assert (locked["report"].requested, locked["ledger"].requested) == ("*", None)
    assert commands.report("install")["changed"] is False


def test_a_conflict_leaves_the_lock_alone_and_names_each_demand(place: Path, commands: Commands) -> None:
    _write(place, "ledger", "1.0.0")
    _write(place, "report", "3.1.0", "ledger@^2")
    commands.text("install", "../skills", "--skill", "report", code=exit_codes.FAILED)
    assert "report 3.1.0 needs ledger@^2" in commands.err
    assert "ledger: " in commands.err
    assert "1.0.0" in commands.err
    assert not (place / "project" / "prowess.lock").exists()


def test_a_locked_version_stays_unless_it_is_named(place: Path, commands: Commands) -> None:
    _write(place, "report")
    _write(place, "ledger")
    commands.text("install", "../skills", "--skill", "report", "--skill", "ledger")
    _write(place, "report", "1.1.0")
    _write(place, "ledger", "1.1.0")
    commands.text("update", "report")
    assert _versions(place) == {"report": "1.1.0", "ledger": "1.0.0"}
    commands.text("update")
    assert _versions(place) == {"report": "1.1.0", "ledger": "1.1.0"}
    assert commands.report("update")["changed"] is False


def test_an_update_brings_what_the_new_version_needs_and_removes_what_nothing_needs(
    place: Path, commands: Commands
) -> None:
    _write(place, "report", needs="ledger@^1")
    _write(place, "ledger")
    commands.text("install", "../skills", "--skill", "report")
    _write(place, "report", "1.1.0", "mail")
    _write(place, "mail")
    report = commands.report("update", "report")
    assert {skill["name"]: skill["action"] for skill in report["skills"]} == {
        "ledger": "remove",
        "mail": "install",
        "report": "update",
    }


@pytest.mark.parametrize(
    ("word", "change", "shown"),
    [
        ("major", ({}, {"version": "2.0.0"}), ["- 1.0.0", "+ 2.0.0"]),
        ("scripts", ({"script": "print(1)\n"}, {"script": "print(2)\n"}), ["-print(1)", "+print(2)"]),
        ("scripts", ({}, {"script": "print(2)\n"}), ["+print(2)"]),
        ("tools", ({"front": "allowed-tools: Read\n"}, {"front": "allowed-tools: Read Bash(rm:*)\n"}), ["Bash(rm:*)"]),
        ("tools", ({"front": "allowed-tools: Read\n"}, {}), ["- allowed-tools: Read"]),
        ("tools", ({}, {"front": "disallowed-tools: Bash\n"}), ["+ disallowed-tools: Bash"]),
        ("permissions", ({}, {"front": "execution:\n  sandbox: false\n"}), ["+ execution: {"]),
        ("permissions", ({"front": "agent: a\n"}, {"front": "agent: b\n"}), ["- agent: a", "+ agent: b"]),
        ("major", ({"version": "spring"}, {"version": "autumn"}), ["- spring", "+ autumn"]),
    ],
)
def test_a_change_of_what_a_skill_may_do_is_shown_and_exits_3_until_it_is_accepted(
    place: Path, commands: Commands, word: str, change: tuple[dict[str, str], dict[str, str]], shown: list[str]
) -> None:
    before, after = change
    _write(place, "report", **before)
    commands.text("install", "../skills", "--skill", "report")
    lock = (place / "project" / "prowess.lock").read_bytes()
    _write(place, "report", **{"version": "1.0.1", **after})
    others = ",".join({"major", "tools", "scripts", "permissions", "signer", "source"} - {word})
    for given in ((), ("--dry-run",), ("--accept", others)):
        commands.text("update", *given, code=exit_codes.DENIED)
        assert f"report: {word}" in commands.err
        for text in shown:
            assert text in commands.err
        assert "--accept" in commands.err
        assert (place / "project" / "prowess.lock").read_bytes() == lock
    report = commands.report("update", code=exit_codes.DENIED)
    assert report["changed"] is False
    assert report["problems"][0]["code"] == "approval_required"
    commands.text("update", "--accept", word)
    assert _versions(place)["report"] == after.get("version", "1.0.1")


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("", "Now: !`curl example.org`\n", "+ Now: !`curl example.org`"),
        ("", "```!\nmake\n```\n", "+ make"),
        ("```!\nmake\n```\n", "```!\nmake all\n```\n", "+ make all"),
        ("!`make\nit`\n", "!`make\nall`\n", "+ all`"),
        ("!`make`\n", "!`make`\n\nAgain:\n\n!`make`\n", "+ !`make`"),
    ],
)
def test_a_command_in_the_instructions_counts_as_a_script(
    place: Path, commands: Commands, before: str, after: str, shown: str
) -> None:
    _write(place, "report")
    file = place / "skills" / "report" / "SKILL.md"
    text = file.read_text("utf-8")
    file.write_text(text + before, "utf-8")
    commands.text("install", "../skills", "--skill", "report")
    file.write_text(text + after, "utf-8")
    commands.text("update", code=exit_codes.DENIED)
    assert shown in commands.err


def test_a_hook_and_an_executable_file_that_is_no_text_count_as_scripts(place: Path, commands: Commands) -> None:
    _write(place, "report")
    program = place / "skills" / "report" / "bin" / "tool"
    program.parent.mkdir()
    program.write_bytes(b"\x7fELF\xff")
    program.chmod(0o755)
    commands.text("install", "../skills", "--skill", "report")
    program.write_bytes(b"\x7fELF\xfe")
    commands.text("update", code=exit_codes.DENIED)
    assert "bin/tool differs" in commands.err
    commands.text("update", "--accept", "scripts")
    _write(place, "report", front="hooks:\n  PreToolUse: []\n")
    commands.text("update", code=exit_codes.DENIED)
    assert "+ hooks: {" in commands.err


@pytest.mark.parametrize(("path", "first"), [("tools/run", "#!/usr/bin/env python3\n"), ("tools/Run.PY", "")])
def test_a_file_that_an_interpreter_runs_counts_as_a_script_whatever_its_mode_and_folder(
    place: Path, commands: Commands, path: str, first: str
) -> None:
    _write(place, "report")
    file = place / "skills" / "report" / path
    file.parent.mkdir()
    file.write_text(f"{first}print(1)\n", "utf-8")
    commands.text("install", "../skills", "--skill", "report")
    file.write_text(f"{first}print(2)\n", "utf-8")
    commands.text("update", code=exit_codes.DENIED)
    assert "report: scripts" in commands.err
    assert "+print(2)" in commands.err


def test_a_change_of_texts_alone_needs_no_consent(place: Path, commands: Commands) -> None:
    _write(place, "report")
    commands.text("install", "../skills", "--skill", "report")
    file = place / "skills" / "report" / "SKILL.md"
    file.write_text(file.read_text("utf-8") + "One more line.\n", "utf-8")
    assert commands.report("update")["changed"] is True


def test_another_source_for_an_installed_skill_needs_consent(place: Path, commands: Commands) -> None:
    _write(place, "report")
    commands.text("install", "../skills", "--skill", "report")
    (place / "other").mkdir()
    (place / "skills").rename(place / "other" / "skills")
    commands.text("install", "../other/skills", "--skill", "report", code=exit_codes.DENIED)
    assert "report: source" in commands.err
    commands.text("install", "../other/skills", "--skill", "report", "--accept", "source")


def test_an_unknown_word_of_accept_is_a_usage_error(commands: Commands) -> None:
    commands.text("update", "--accept", "everything", code=exit_codes.USAGE)
    assert "'everything' is none of major, tools, scripts, permissions, signer, source" in commands.err


def test_updating_a_skill_that_is_not_installed_fails(commands: Commands) -> None:
    commands.text("update", "absent", code=exit_codes.FAILED)
    assert "'absent' is not installed" in commands.err


def test_outdated_lists_what_is_newer_and_changes_nothing(place: Path, commands: Commands) -> None:
    _write(place, "report")
    _write(place, "ledger")
    commands.text("install", "../skills", "--skill", "report", "--skill", "ledger")
    assert "all up to date" in commands.text("outdated")
    lock = (place / "project" / "prowess.lock").read_bytes()
    _write(place, "report", "1.1.0")
    rows = commands.text("outdated").splitlines()
    assert rows[0].split() == ["SKILL", "INSTALLED", "ALLOWED", "NEWEST", "SOURCE"]
    assert rows[1].split() == ["report", "1.0.0", "1.1.0", "1.1.0", "../skills"]
    assert len(rows) == 2
    shown = {skill["name"]: skill for skill in commands.report("outdated")["skills"]}
    assert shown["report"] == {
        "name": "report",
        "package": "skills",
        "source": "../skills",
        "requested": "*",
        "installed": "1.0.0",
        "allowed": "1.1.0",
        "newest": "1.1.0",
        "outdated": True,
    }
    assert shown["ledger"]["outdated"] is False
    assert (place / "project" / "prowess.lock").read_bytes() == lock


def test_a_merged_lock_whose_requirements_do_not_fit_is_resolved_by_lock(place: Path, commands: Commands) -> None:
    _write(place, "report", needs="ledger@^1")
    _write(place, "ledger")
    commands.text("install", "../skills", "--skill", "report")
    path = place / "project" / "prowess.lock"
    whole = read_lock(str(path))
    torn = Lockfile(skills=tuple(skill for skill in whole.skills if skill.name != "ledger"))
    path.write_bytes(render_lock(torn))
    commands.text("install", code=exit_codes.FAILED)
    assert "prowess lock" in commands.err
    assert "all requirements fit" in commands.text("lock")
    assert _versions(place) == {"report": "1.0.0", "ledger": "1.0.0"}
    commands.text("install")


def test_a_skill_that_is_required_from_another_source_is_not_removed_alone_and_leaves_with_its_dependant(
    place: Path, commands: Commands
) -> None:
    _write(place, "report")
    write_skill(place / "others" / "mail")
    manifest = "composition:\n  dependencies:\n    - {skillName: mail, source: ../others, reason: Sends it.}\n"
    (place / "skills" / "report" / "skill.manifest.yaml").write_text(manifest, "utf-8")
    commands.text("install", "../skills", "--skill", "report")
    commands.text("remove", "mail", code=exit_codes.FAILED)
    assert "'mail' is required by 'report'" in commands.err
    commands.text("remove", "report")
    assert _versions(place) == {}


def test_a_conflict_names_yanked_versions(place: Path, commands: Commands) -> None:
    _write(place, "ledger")
    _write(place, "report", needs="ledger")
    commands.text("publish", "../skills", "--to", "../registry")
    commands.text("publish", "--to", "../registry", "--yank", "ledger@1.0.0")
    commands.text("install", "../registry", "--skill", "report", code=exit_codes.FAILED)
    assert "registry has only yanked versions: 1.0.0\n    report 1.0.0 needs ledger" in commands.err
    commands.text("install", "../registry", "--skill", "ledger", code=exit_codes.FAILED)
    assert "every version of 'ledger' is yanked; only a lock that names one gets it" in commands.err


def test_a_request_that_keeps_a_version_is_told_and_so_is_its_change(place: Path, commands: Commands) -> None:
    _write(place, "ledger", "1.0.0")
    commands.text("publish", "../skills", "--to", "../registry")
    _write(place, "ledger", "1.1.0")
    commands.text("publish", "../skills", "--to", "../registry")
    commands.text("install", "../registry@1.0.0", "--skill", "ledger")
    assert "1 skill in prowess.lock: nothing to do" in commands.text("update", "ledger")
    assert "ledger stays at 1.0.0, because 1.0.0 is asked for" in commands.err
    assert "prowess install ../registry@RANGE --skill ledger" in commands.err
    told = "1 skill in prowess.lock: no skill changed, only requests or targets"
    assert told in commands.text("install", "../registry@~1.0", "--skill", "ledger")
