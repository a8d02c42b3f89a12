"""The requirements on packages, at the command line: install, use, verify, update, publish, pack and roll back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.places import prowess_home
from prowess._internal.text.canonical_json import sha256_of
from prowess.catalog import Catalog, TrustStore
from prowess.cli import exit_codes
from prowess.distribution.publishing.publish import publish
from prowess.lockfile import read_lock
from prowess.lockfile.source_reference import parse_reference
from tests.catalog.locking import edit
from tests.distribution.installation.projects import Commands, make_project, snapshot, write_skill
from tests.distribution.serving import Answer, serving


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    project = make_project(tmp_path, "ledger", "mail")
    TrustStore().trust(str(project))
    return Commands(project, monkeypatch, capfd)


def files_below(root: Path) -> dict[str, Answer]:
    """Return what a web server answers for each file below a directory."""
    return {
        f"/{path.relative_to(root).as_posix()}": Answer(path.read_bytes()) for path in root.rglob("*") if path.is_file()
    }


def names() -> list[str]:
    return [entry.name for entry in Catalog.discover().entries()]


@pytest.mark.proves("governance.plugin.install", "governance.plugin.usable")
@pytest.mark.parametrize("kind", ["directory", "archive", "repository", "registry"])
def test_one_command_installs_from_each_kind_of_source_and_the_next_session_has_it(
    kind: str, commands: Commands, tmp_path: Path
) -> None:
    skills = tmp_path / "skills"
    if kind == "directory":
        source = "../skills"
    elif kind == "archive":
        commands.text("pack", "../skills/ledger", "-o", "../ledger.tar.gz")
        source = "../ledger.tar.gz"
    elif kind == "repository":
        git = ["git", "-C", str(skills), "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "skills"], check=True)
        source = f"git+file://{skills}"
    else:
        commands.text("publish", "../skills/ledger", "--to", "../registry")
        source = ""
    if source:
        commands.text("install", source, "--skill", "ledger")
    else:
        with serving(files_below(tmp_path / "registry")) as site:
            commands.text("install", site.url, "--skill", "ledger")
    assert names() == ["ledger"]
    assert commands.text("run", "ledger", "run.py") == "ledger\n"
    assert "# Do it" in commands.text("load", "ledger")


@pytest.mark.proves("governance.plugin.usable")
def test_another_agent_has_an_installed_skill_without_further_steps(commands: Commands) -> None:
    commands.text("install", "../skills", "--skill", "ledger", "--target", "claude-code")
    assert "ledger" in commands.text("list", "--seen-by", "claude-code")
    place = commands.directory / ".claude" / "skills" / "ledger"
    assert read_tree(str(place)).digest == read_lock(str(commands.lock)).skills[0].tree


@pytest.mark.proves("governance.plugin.verified")
def test_what_differs_from_its_digest_writes_nothing(commands: Commands, tmp_path: Path) -> None:
    commands.text("publish", "../skills/ledger", "--to", "../registry")
    (artifact,) = (path for path in (tmp_path / "registry").rglob("*.tar.gz"))
    data = bytearray(artifact.read_bytes())
    data[data.index(b"# Do it")] ^= 1
    artifact.chmod(0o644)
    artifact.write_bytes(data)
    with serving(files_below(tmp_path / "registry")) as site:
        commands.text("install", site.url, "--skill", "ledger", code=exit_codes.FAILED)
    assert "digest" in commands.err
    assert not commands.lock.exists()
    assert not os.path.isdir(os.path.join(prowess_home(), "store")) or not os.listdir(
        os.path.join(prowess_home(), "store")
    )
    assert names() == []


@pytest.mark.proves("governance.plugin.uninstall")
@pytest.mark.parametrize("name", ["..", "../ledger", "/etc", ".", "../../skills/ledger", "mail", "ledger/../ledger"])
def test_removing_what_is_not_installed_removes_nothing(name: str, commands: Commands, tmp_path: Path) -> None:
    commands.text("install", "../skills", "--skill", "ledger")
    write_skill(commands.directory / ".prowess" / "skills" / "mail")
    before = snapshot(tmp_path, Path(prowess_home(), "store"))
    commands.text("remove", name, code=exit_codes.FAILED)
    assert "not installed" in commands.err
    assert snapshot(tmp_path, Path(prowess_home(), "store")) == before
    assert names() == ["ledger", "mail"]
    commands.text("remove", "ledger")
    assert names() == ["mail"]


@pytest.mark.proves("governance.plugin.isolated")
def test_an_installed_skill_reads_no_files_of_another_package(commands: Commands, tmp_path: Path) -> None:
    secret = "tell nobody"
    (tmp_path / "skills" / "mail" / "secret.txt").write_text(secret)
    reading = (
        "import os, pathlib\n"
        "here = pathlib.Path(os.environ['SKILL_DIR'])\n"
        f"roots = (here.parent, here.parent.parent, {prowess_home()!r}, {str(tmp_path)!r})\n"
        "for root in map(pathlib.Path, roots):\n"
        "    for path in root.rglob('secret.txt'):\n"
        "        print(path.read_text())\n"
        "        path.write_text('mine')\n"
    )
    (tmp_path / "skills" / "ledger" / "scripts" / "run.py").write_text(reading)
    commands.text("install", "../skills", "--skill", "*")
    before = snapshot(tmp_path / "skills", Path(prowess_home(), "store"))
    assert secret not in commands.text("run", "ledger", "run.py")
    assert snapshot(tmp_path / "skills", Path(prowess_home(), "store")) == before
    (mail,) = (skill for skill in read_lock(str(commands.lock)).skills if skill.name == "mail")
    stored = os.path.join(prowess_home(), "store", mail.tree, "mail", "secret.txt")
    for path in (stored, os.path.relpath(stored, os.path.dirname(os.path.dirname(stored)))):
        assert secret not in commands.text("read", "ledger", path, code=exit_codes.FAILED)


@pytest.mark.proves("governance.version.declared", "governance.version.request")
def test_the_lock_has_the_exact_version_and_digest_and_a_version_is_never_replaced_by_another(
    commands: Commands, tmp_path: Path
) -> None:
    for version in ("1.0.0", "1.1.0"):
        write_skill(tmp_path / "skills" / "ledger", version)
        commands.text("publish", "../skills/ledger", "--to", "../registry")
    with serving(files_below(tmp_path / "registry")) as site:
        commands.text("install", f"{site.url}/@1.0.0", "--skill", "ledger")
        (skill,) = read_lock(str(commands.lock)).skills
        assert (skill.version, skill.requested) == ("1.0.0", "1.0.0")
        assert skill.tree.startswith("sha256:")
        commands.text("install", f"{site.url}/@1.0.1", "--skill", "ledger", code=exit_codes.FAILED)
    assert read_lock(str(commands.lock)).skills == (skill,)
    assert commands.report("load", "ledger@1.0.0")
    commands.text("load", "ledger@1.1.0", code=exit_codes.FAILED)
    assert "has the version 1.1.0; there is 1.0.0" in commands.err


@pytest.mark.proves("governance.plugin.publish", "tooling.authoring.publish-checked")
def test_one_command_checks_packs_and_publishes_and_a_faulty_skill_is_refused(
    commands: Commands, tmp_path: Path
) -> None:
    published = commands.report("publish", "../skills", "--to", "../registry")["published"]
    assert [skill["name"] for skill in published] == ["ledger", "mail"]
    archives = {sha256_of(path.read_bytes()) for path in (tmp_path / "registry").rglob("*.tar.gz")}
    assert archives == {skill["artifact"] for skill in published}
    commands.text("install", "../registry", "--skill", "*")
    assert names() == ["ledger", "mail"]
    write_skill(tmp_path / "skills" / "ledger", "2.0.0", body="Read [this](../../../etc/passwd).\n")
    commands.text("publish", "../skills", "--to", "../other", code=exit_codes.FAILED)
    assert "reference.escape" in commands.err
    assert not list((tmp_path / "other").rglob("*"))
    other = parse_reference(str(tmp_path / "other"))
    report = publish([str(tmp_path / "skills" / "ledger")], other, check=lambda _: ())  # the caller's own checks
    assert [skill.version for skill in report.published] == ["2.0.0"]


@pytest.mark.proves("governance.plugin.reproducible")
def test_one_tree_packs_to_the_same_bytes_at_another_time_and_place(commands: Commands, tmp_path: Path) -> None:
    commands.text("pack", "../skills/ledger", "-o", "../one.tar.gz")
    shutil.copytree(tmp_path / "skills" / "ledger", tmp_path / "elsewhere" / "ledger")
    for path in (tmp_path / "elsewhere").rglob("*"):
        os.utime(path, (1, 1))
    environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "prowess", "pack", "../elsewhere/ledger", "-o", "../two.tar.gz"]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()


@pytest.mark.proves("governance.beyond.rollback")
def test_an_earlier_state_comes_back_in_one_step(commands: Commands, tmp_path: Path) -> None:
    commands.text("install", "../skills", "--skill", "ledger")
    first = commands.lock.read_bytes()
    write_skill(tmp_path / "skills" / "ledger", "2.0.0", body="# Do it otherwise\n")
    commands.text("install", "../skills", "--skill", "ledger", "--accept", "major")
    assert "otherwise" in commands.text("load", "ledger")
    commands.text("rollback")
    assert commands.lock.read_bytes() == first
    assert "otherwise" not in commands.text("load", "ledger")


@pytest.mark.proves("governance.plugin.verified")
def test_a_stored_skill_that_changed_is_repaired_by_the_command_that_the_finding_names(commands: Commands) -> None:
    commands.text("install", "../skills", "--skill", "ledger")
    (skill,) = read_lock(str(commands.lock)).skills
    stored = os.path.join(prowess_home(), "store", skill.tree, "ledger")
    edit(Path(stored) / "scripts" / "run.py", "print('other')\n")
    commands.text("run", "ledger", "run.py", code=exit_codes.FAILED)
    assert "run `prowess install`" in commands.err
    commands.text("install")
    assert commands.text("run", "ledger", "run.py") == "ledger\n"


@pytest.mark.proves("governance.policy.allow-block")
@pytest.mark.parametrize("fact", ["name", "source", "publisher", "digest"])
def test_a_policy_permits_and_prohibits_skills_and_prohibition_wins(
    fact: str, commands: Commands, tmp_path: Path
) -> None:
    commands.text("key", "new", "../release.key")
    commands.text("key", "trust", "../release.key.pub", "--as", "acme")
    commands.text("key", "new", "../other.key")
    commands.text("key", "trust", "../other.key.pub", "--as", "other")
    (tmp_path / "skills" / "mail").rename(tmp_path / "mail")
    commands.text("sign", "../skills/ledger", "--key", "../release.key")
    commands.text("sign", "../mail", "--key", "../other.key")
    commands.text("install", "../skills", "../mail")
    (skill,) = (skill for skill in read_lock(str(commands.lock)).skills if skill.name == "ledger")
    value = {"name": "ledger", "source": "skills", "publisher": skill.signer, "digest": skill.tree}[fact]
    policy = Path(prowess_home()) / "policy.toml"
    permits = f'[[rule]]\neffect = "allow"\ntool = "*"\nmatch = {{ "skill.{fact}" = "{value}" }}\n'
    policy.write_text(f'default = "deny"\n{permits}')
    assert commands.text("run", "ledger", "run.py") == "ledger\n"
    commands.text("run", "mail", "run.py", code=exit_codes.DENIED)
    policy.write_text(f'default = "allow"\n{permits}{permits.replace("allow", "deny")}')
    commands.text("run", "ledger", "run.py", code=exit_codes.DENIED)
    assert commands.text("run", "mail", "run.py") == "mail\n"


@pytest.mark.proves("governance.version.breaking")
@pytest.mark.parametrize("change", ["major", "tools", "scripts", "permissions"])
def test_an_update_that_changes_more_than_text_is_shown_and_needs_consent(
    change: str, commands: Commands, tmp_path: Path
) -> None:
    commands.text("install", "../skills", "--skill", "ledger")
    before, skill = commands.lock.read_bytes(), tmp_path / "skills" / "ledger"
    document = (skill / "SKILL.md").read_text()
    if change == "scripts":
        (skill / "scripts" / "run.py").write_text("print('other')\n")
    else:
        old, new = {
            "major": ('"1.0.0"', '"2.0.0"'),
            "tools": ("metadata:", "allowed-tools: Bash\nmetadata:"),
            "permissions": ("metadata:", "execution:\n  network: restricted\nmetadata:"),
        }[change]
        (skill / "SKILL.md").write_text(document.replace(old, new))
    commands.text("update", "ledger", code=exit_codes.DENIED)
    assert f"ledger: {change}" in commands.err
    assert f"--accept {change}" in commands.err
    assert commands.lock.read_bytes() == before
    commands.text("update", "ledger", "--accept", change)
    assert commands.lock.read_bytes() != before
    (skill / "references").mkdir()
    (skill / "references" / "more.md").write_text("More.\n")
    commands.text("update", "ledger")


@pytest.mark.proves("governance.compose.dependencies")
def test_an_installation_brings_what_a_skill_needs_or_explains_the_conflict(commands: Commands, tmp_path: Path) -> None:
    for name, needed in (("report", "ledger@^1"), ("audit", "ledger@^2")):
        skill = write_skill(tmp_path / "skills" / name)
        text = (skill / "SKILL.md").read_text()
        (skill / "SKILL.md").write_text(text.replace("metadata:\n", f'metadata:\n  dependencies: "{needed}"\n'))
    commands.text("install", "../skills", "--skill", "report")
    assert names() == ["ledger", "report"]
    before = commands.lock.read_bytes()
    commands.text("install", "../skills", "--skill", "audit", code=exit_codes.FAILED)
    assert "audit 1.0.0 needs ledger@^2" in commands.err
    assert "ledger: " in commands.err
    assert commands.lock.read_bytes() == before


@pytest.mark.proves("tooling.authoring.version-bump")
def test_a_step_of_a_version_that_is_smaller_than_the_change_is_a_warning(commands: Commands, tmp_path: Path) -> None:
    commands.text("publish", "../skills/ledger", "--to", "../registry")
    write_skill(tmp_path / "skills" / "ledger", "1.0.1")
    shutil.rmtree(tmp_path / "skills" / "ledger" / "scripts")
    commands.text("publish", "../skills/ledger", "--to", "../registry")
    assert "ledger: from 1.0.0 to 1.0.1 is a patch step, but" in commands.err
    assert "which asks for a major step" in commands.err


@pytest.mark.proves("governance.beyond.marketplace")
def test_an_index_of_an_organisation_is_searched_and_installed_from(commands: Commands, tmp_path: Path) -> None:
    commands.text("publish", "../skills", "--to", "../registry")
    with serving(files_below(tmp_path / "registry")) as site:
        found = commands.text("registry", "search", "does", "mail", "--registry", site.url)
        assert found.startswith("mail  1.0.0")
        assert "ledger" not in found
        commands.text("install", site.url, "--skill", "mail")
    assert names() == ["mail"]
