"""Deploy, revoke and roll back with several signers, and hosts that follow."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from anyio import to_thread

from prowess import Session
from prowess._internal.places import prowess_home
from prowess._internal.text.canonical_json import sha256_of
from prowess.catalog import Catalog
from prowess.catalog.layers import Layer
from prowess.catalog.sources.enterprise import EnterpriseSource
from prowess.cli.dispatch import run
from prowess.errors import SkillNotFoundError
from prowess.signing.keys import new_private_key
from tests.distribution.deployment.deployments import Deployment, everything
from tests.distribution.making import files_of, make_skill
from tests.distribution.serving import serving

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def deployment(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Deployment:
    """Return a deployment without a release."""
    return Deployment(tmp_path, capfd)


@pytest.mark.proves("governance.deploy.command")
def test_a_release_of_two_signers_appears_whole_on_a_host(deployment: Deployment, tmp_path: Path) -> None:
    report = deployment.deploy("pdf", "xlsx")
    assert report["release"] == 1
    assert [(one["name"], one["tree"][:7]) for one in report["skills"]] == [("pdf", "sha256:"), ("xlsx", "sha256:")]
    first = deployment.sync("host")
    assert (first["state"], first["changed"], first["release"], first["reason"]) == ("current", True, 1, "")
    assert first["skills"] == report["skills"]
    assert os.readlink(tmp_path / "host" / "skills") == "releases/1"
    assert deployment.skills("host") == files_of(tmp_path / "skills")
    assert deployment.sync("host")["changed"] is False


@pytest.mark.proves("governance.deploy.command")
def test_too_few_signatures_are_kept_for_the_other_signers_and_publish_nothing(deployment: Deployment) -> None:
    before = files_of(deployment.directory / "metadata")
    report = deployment.deploy("pdf", signers=("alice",), code=3)
    assert (report["release"], report["state"], report["missing"]) == (1, "pending", 1)
    assert files_of(deployment.directory / "metadata") == before
    assert files_of(deployment.directory / "targets") == {}
    again = deployment.deploy("pdf", signers=("alice",), code=3)  # the same signature counts once
    assert again["missing"] == 1
    assert deployment.sync("host", 4)["state"] == "none"
    assert deployment.deploy("pdf", signers=("carol",))["state"] == "published"
    assert deployment.sync("host")["release"] == 1
    assert not (deployment.directory / "pending").exists()


def test_archives_of_a_killed_command_do_not_stay_pending(deployment: Deployment) -> None:
    deployment.deploy("pdf", signers=("alice",), code=3)
    (deployment.directory / "pending" / ".draft.0123456789ab.tmp").touch()
    deployment.deploy("pdf", signers=("alice",), code=3)
    assert [name[-11:] for name in os.listdir(deployment.directory / "pending")] == [".pdf.tar.gz"]
    (deployment.directory / "pending.json").unlink()
    deployment.deploy("xlsx")
    assert not (deployment.directory / "pending").exists()


def test_a_pending_release_that_a_killed_command_had_published_is_forgotten(deployment: Deployment) -> None:
    deployment.deploy("pdf", signers=("alice",), code=3)
    pending = (deployment.directory / "pending.json").read_bytes()
    deployment.signed_by(["deploy", "--to", str(deployment.directory)], "bob")
    (deployment.directory / "pending.json").write_bytes(pending)
    assert "no release is pending" in deployment.signed_by(
        ["deploy", "--to", str(deployment.directory)], "carol", code=1
    )
    (deployment.directory / "pending.json").write_bytes(pending)
    assert deployment.deploy("xlsx")["release"] == 2


def test_another_signer_signs_the_pending_release_without_its_skills(deployment: Deployment, tmp_path: Path) -> None:
    pending = deployment.deploy("pdf", signers=("alice",), code=3)
    assert deployment.run(["deploy", "--to", str(deployment.directory)], code=3) == pending
    shutil.rmtree(tmp_path / "skills")
    report = deployment.signed_by(["deploy", "--to", str(deployment.directory)], "bob")
    assert (report["state"], report["skills"]) == ("published", pending["skills"])
    assert deployment.run(["deploy", "--to", str(deployment.directory)])["state"] == "none"


def test_other_content_does_not_replace_what_is_pending(deployment: Deployment) -> None:
    deployment.deploy("pdf", signers=("alice",), code=3)
    assert "is pending" in deployment.deploy("xlsx", signers=("bob", "carol"), code=1)
    assert deployment.run(["deploy", "--to", str(deployment.directory), "--discard"]) == {"discarded": 1}
    assert deployment.deploy("xlsx", signers=("bob", "carol"))["release"] == 1


@pytest.mark.proves("governance.deploy.revoke")
def test_revoking_removes_a_skill_by_name_or_digest(deployment: Deployment, tmp_path: Path) -> None:
    skills = deployment.deploy("pdf", "xlsx", "mail")["skills"]
    deployment.sync("host")
    to = ["--to", str(deployment.directory)]
    deployment.signed_by(["revoke", "pdf", *to], "alice", code=3)
    deployment.signed_by(["revoke", "pdf", *to], "bob")
    deployment.signed_by(["deploy", "--revoke", skills[-1]["tree"], *to], "alice", "bob")
    assert "not deployed" in deployment.signed_by(["revoke", "pdf", *to], "alice", "bob", code=1)
    assert deployment.sync("host")["release"] == 3
    assert os.listdir(tmp_path / "host" / "skills") == ["mail"]


@pytest.mark.proves("governance.beyond.rollback")
def test_rolling_back_is_a_new_release_with_old_content(deployment: Deployment) -> None:
    first = deployment.deploy("pdf")
    deployment.deploy("pdf", body="Worse.")
    deployment.deploy("xlsx")
    back = ["rollback", "1", "--deployment", str(deployment.directory)]
    assert deployment.signed_by(back, "alice", code=3)["state"] == "pending"
    report = deployment.signed_by(back, "carol")
    assert (report["release"], report["skills"]) == (4, first["skills"])
    assert (report["added"], report["replaced"], report["removed"]) == ([], ["pdf"], ["xlsx"])
    deployment.sync("host")
    assert b"Read." in deployment.skills("host")["pdf/SKILL.md"][0]
    last = deployment.signed_by(["rollback", "--deployment", str(deployment.directory)], "alice", "bob")
    assert [one["name"] for one in last["skills"]] == ["pdf", "xlsx"]
    assert last["added"] == ["xlsx"]
    listed = deployment.run(["rollback", "--list", *back[2:]])["releases"]
    assert [(one["number"], len(one["skills"])) for one in listed] == [(5, 2), (4, 1), (3, 2), (2, 1), (1, 1)]
    assert "has no release 9" in deployment.signed_by([back[0], "9", *back[2:]], "alice", code=1)


@pytest.mark.proves("governance.deploy.command")
def test_a_skill_with_errors_is_not_signed(deployment: Deployment, tmp_path: Path) -> None:
    bad = make_skill(tmp_path, "bad", body="Read [this](../../../etc/passwd).")
    message = deployment.signed_by(["deploy", str(bad), "--to", str(deployment.directory)], "alice", "bob", code=1)
    assert "reference.escape" in message
    assert not (deployment.directory / "pending.json").exists()


def test_a_key_that_is_no_signer_is_refused(deployment: Deployment, tmp_path: Path) -> None:
    (deployment.keys / "stranger").write_bytes(new_private_key().pem())
    skill = str(make_skill(tmp_path, "pdf"))
    command = ["deploy", skill, "--to", str(deployment.directory)]
    assert "no signer" in deployment.signed_by(command, "alice", "stranger", code=1)
    assert not (deployment.directory / "pending.json").exists()


def test_the_online_key_may_be_given_and_may_have_moved(deployment: Deployment) -> None:
    os.rename(deployment.key("online"), deployment.key("moved"))
    assert "online cannot be read" in deployment.deploy("pdf", code=2)
    report = deployment.deploy("pdf", signers=("moved",))  # the two signatures were kept
    assert report["state"] == "published"
    command = ["registry", "refresh", str(deployment.directory)]
    assert deployment.run([*command, "--online", deployment.key("moved")])["expires"]
    assert "timestamp key" in deployment.run([*command, "--online", deployment.key("alice")], 1)


def test_a_renewed_root_reaches_hosts(deployment: Deployment, tmp_path: Path) -> None:
    deployment.deploy("pdf")
    deployment.sync("host")
    deployment.run(["registry", "refresh", str(deployment.directory), "--key", deployment.key("root")])
    assert (deployment.directory / "metadata" / "2.root.json").is_file()
    assert deployment.sync("host")["state"] == "current"
    assert (tmp_path / "host" / "deployment" / "metadata" / "root_history" / "2.root.json").is_file()


def test_metadata_that_expires_soon_is_renewed(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "prowess.distribution.deployment.repository"
    with monkeypatch.context() as patch:
        for name in ("SNAPSHOT_DAYS", "TARGETS_DAYS"):
            patch.setattr(f"{module}.{name}", 20)
        deployment.deploy("pdf")
    assert _expiry(deployment, "1.snapshot") < _days(25)
    deployment.run(["registry", "refresh", str(deployment.directory)])
    assert _expiry(deployment, "2.snapshot") > _days(25)
    assert deployment.deploy("pdf")["state"] == "published"  # the same skills, because the targets expire soon
    assert _expiry(deployment, "2.targets") > _days(25)
    number = len(os.listdir(deployment.directory / "metadata"))
    deployment.run(["registry", "refresh", str(deployment.directory)])
    assert deployment.deploy("pdf")["state"] != "published"
    assert len(os.listdir(deployment.directory / "metadata")) == number
    assert deployment.sync("host")["state"] == "current"


def _expiry(deployment: Deployment, name: str) -> str:
    document = json.loads((deployment.directory / "metadata" / f"{name}.json").read_bytes())
    return str(document["signed"]["expires"])


def _days(number: int) -> str:
    return (datetime.now(UTC) + timedelta(days=number)).isoformat()


def test_a_host_without_root_trusts_nothing(deployment: Deployment, tmp_path: Path) -> None:
    deployment.deploy("pdf")
    report = deployment.run(["sync", "--from", str(deployment.directory), "--into", str(tmp_path / "host")], 1)
    assert (report["state"], "--root FILE" in report["reason"]) == ("refused", True)
    assert not (tmp_path / "host" / "skills").exists()


@pytest.mark.proves("governance.deploy.offline")
def test_a_host_out_of_reach_keeps_what_it_has_and_tells_since_when(deployment: Deployment) -> None:
    deployment.deploy("pdf")
    known = deployment.sync("host")
    had = deployment.skills("host")
    deployment.directory.rename(deployment.place / "away")
    (deployment.place / "root.json").write_bytes((deployment.place / "away" / "metadata" / "1.root.json").read_bytes())
    report = deployment.run(["sync", "--from", str(deployment.directory), "--into", str(deployment.place / "host")], 4)
    assert (report["state"], report["changed"], report["since"]) == ("stale", False, known["since"])
    assert report["skills"] == known["skills"]
    assert deployment.skills("host") == had


def test_a_directory_that_somebody_filled_is_not_replaced(deployment: Deployment, tmp_path: Path) -> None:
    deployment.deploy("pdf")
    make_skill(tmp_path / "host" / "skills", "own")
    assert "was not made by" in deployment.sync("host", 1)
    assert (tmp_path / "host" / "skills" / "own" / "SKILL.md").is_file()


def test_a_changed_file_on_a_host_is_put_right(deployment: Deployment, tmp_path: Path) -> None:
    deployment.deploy("pdf")
    deployment.sync("host")
    had = deployment.skills("host")
    (tmp_path / "host" / "skills" / "pdf" / "SKILL.md").write_text("changed")
    assert deployment.sync("host")["state"] == "current"
    assert deployment.skills("host") == had
    make_skill(tmp_path / "host" / "releases" / "1", "added")
    assert deployment.sync("host")["state"] == "current"
    assert deployment.skills("host") == had


def test_a_release_is_readable_by_everybody_whatever_the_umask_is(deployment: Deployment, tmp_path: Path) -> None:
    deployment.deploy("pdf")
    before = os.umask(0o077)
    try:
        deployment.sync("host")
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "host" / "releases").rglob("*")}
    assert modes == {0o755, 0o644}
    assert (tmp_path / "host" / "releases").stat().st_mode & 0o777 == 0o755


@pytest.mark.proves("governance.deploy.immediate")
def test_hosts_shows_who_has_the_release(deployment: Deployment) -> None:
    deployment.deploy("pdf")
    for host in ("one", "two"):
        deployment.sync(host, more=("--host", host))
    deployment.deploy("xlsx")
    deployment.sync("two", more=("--host", "two"))
    (deployment.directory / "hosts" / "odd.json").write_text("{")
    shutil.copy(deployment.directory / "hosts" / "two.json", deployment.directory / "hosts" / "three.json")
    report = deployment.run(["hosts", "--from", str(deployment.directory)])
    assert report["release"] == 2
    assert [(row["host"], row["release"], row["current"]) for row in report["hosts"]] == [
        ("one", 1, False),
        ("two", 2, True),
    ]


def test_a_web_server_takes_no_reports_and_both_commands_say_so(deployment: Deployment) -> None:
    source = "https://skills.example.com"
    assert "takes no reports" in " ".join(deployment.run(["hosts", "--from", source], 2).split())
    assert "takes no reports" in " ".join(deployment.sync("host", 2, source=source, more=("--host", "one")).split())
    assert not (deployment.place / "host").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners")
def test_sync_tells_why_its_skills_are_no_enterprise_skills(deployment: Deployment, own_home: Path) -> None:
    deployment.deploy("pdf")
    place = own_home / ".prowess" / "enterprise"
    place.mkdir(parents=True)
    if os.getuid() == 0:
        os.chown(place, 12345, 12345)
    command = ["sync", "--from", str(deployment.directory), "--root", str(deployment.root), "--into", str(place)]
    deployment.capfd.readouterr()
    assert run(command) == 0
    assert "not used as enterprise skills: " in deployment.capfd.readouterr().err
    assert run(["list"]) == 0
    assert "could change or remove it" in deployment.capfd.readouterr().err


def test_a_release_comes_over_http(deployment: Deployment, tmp_path: Path) -> None:
    deployment.deploy("pdf")
    with serving(deployment.answers()) as site:
        assert deployment.sync("host", source=site.url)["state"] == "current"
    assert deployment.skills("host") == files_of(tmp_path / "skills")
    assert deployment.sync("host", 4, source=site.url)["state"] == "stale"


def test_the_archives_are_named_by_their_digest(deployment: Deployment) -> None:
    deployment.deploy("pdf")
    for path in (deployment.directory / "targets").iterdir():
        assert sha256_of(path.read_bytes()) == f"sha256:{path.name.partition('.')[0]}"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--threshold", "3"], "there are 2 signers"),
        (["--signer", "alice.pub", "--threshold", "1"], "named twice"),
        (["--signer", "online.pub", "--threshold", "1"], "must be another one"),
    ],
)
def test_keys_that_cannot_protect_a_deployment_are_refused(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, more: list[str], reason: str
) -> None:
    monkeypatch.chdir(deployment.keys)
    command = ["registry", "init", "new", "--key", "root", "--online", "online"]
    assert reason in deployment.run([*command, "--signer", "alice.pub", "--signer", "bob.pub", *more], 1)
    assert not os.path.exists("new/metadata")


def test_a_deployment_is_not_made_anew(deployment: Deployment) -> None:
    before = everything(deployment.directory)
    keys = [
        "--key",
        deployment.key("root"),
        "--online",
        deployment.key("online"),
        "--signer",
        deployment.key("bob.pub"),
    ]
    assert "already" in deployment.run(["registry", "init", str(deployment.directory), *keys, "--threshold", "1"], 1)
    assert everything(deployment.directory) == before


def test_a_policy_refuses_to_deploy_and_to_take_a_skill(deployment: Deployment) -> None:
    skills = deployment.deploy("pdf")["skills"]
    os.makedirs(prowess_home(), mode=0o700, exist_ok=True)
    with open(os.path.join(prowess_home(), "policy.toml"), "w", encoding="utf-8") as file:
        file.write(
            f'[[rule]]\neffect = "deny"\ntool = "packages.sync"\nreason = "steals"\n'
            f'match = {{ "skill.digest" = "{skills[0]["tree"]}" }}\n'
            '[[rule]]\neffect = "deny"\ntool = "packages.deploy"\nmatch = { "skill.name" = "xlsx" }\nreason = "no"\n'
        )
    report = deployment.sync("host", 1)
    assert (report["state"], "steals" in report["reason"]) == ("refused", True)
    assert not os.path.lexists(deployment.place / "host" / "skills")
    assert "denied" in deployment.deploy("xlsx", code=3)
    assert not (deployment.directory / "pending.json").exists()
    deployment.signed_by(["revoke", "pdf", "--to", str(deployment.directory)], "alice", "bob")
    assert deployment.sync("host")["state"] == "current"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners")
@pytest.mark.proves("governance.deploy.command")
def test_the_enterprise_layer_follows_the_link_and_asks_for_owner_and_mode(deployment: Deployment) -> None:
    deployment.deploy("pdf")
    deployment.sync("host")
    root = deployment.place / "host" / "skills"

    def listed() -> list[str]:
        source = EnterpriseSource(str(root), layer=Layer.ENTERPRISE, owner=os.getuid())
        return [entry.name for entry in Catalog(source).entries()]

    assert listed() == ["pdf"]
    deployment.deploy("xlsx")
    deployment.sync("host")
    assert listed() == ["pdf", "xlsx"]
    (deployment.place / "host" / "releases").chmod(0o777)
    assert listed() == []


@pytest.mark.anyio
async def test_a_session_that_began_before_follows_the_release(deployment: Deployment) -> None:
    await to_thread.run_sync(lambda: (deployment.deploy("pdf", "xlsx"), deployment.sync("host")))
    root = deployment.place / "host" / "skills"
    catalog = Catalog(EnterpriseSource(str(root), layer=Layer.ENTERPRISE, owner=os.getuid()))
    async with Session(catalog) as session:
        first = await session.load(["pdf"])
        await to_thread.run_sync(lambda: (deployment.deploy("pdf", body="Better."), deployment.sync("host")))
        second = await session.load(["pdf"])
        assert first.active_skills[0].digest != second.active_skills[0].digest
        revoke = ["revoke", "pdf", "--to", str(deployment.directory)]
        await to_thread.run_sync(lambda: (deployment.signed_by(revoke, "alice", "bob"), deployment.sync("host")))
        with pytest.raises(SkillNotFoundError):
            await session.load(["pdf"])
        last = await session.load(["xlsx"])
        assert [skill.name for skill in last.active_skills] == ["xlsx"]
        assert [(notice.code, notice.skill) for notice in last.notices] == [("skill_removed", "pdf")]
