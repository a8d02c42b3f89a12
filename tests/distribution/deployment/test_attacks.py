"""Attacks on a deployment by somebody who controls what its source sends: nothing changes on any host."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, Targets, Timestamp

from prowess.distribution.deployment.signing_keys import tuf_signer
from prowess.signing.keys import read_private_key
from tests.distribution.deployment.deployments import Deployment, everything
from tests.distribution.making import make_skill
from tests.distribution.serving import Answer, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

_PAST = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)


@pytest.fixture
def deployment(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Deployment:
    """Return a deployment with two releases; the host `old` has none, and `new` has the second."""
    deployment = Deployment(tmp_path, capfd)
    shutil.copytree(deployment.directory, tmp_path / "release-0")
    deployment.deploy("pdf")
    shutil.copytree(deployment.directory, tmp_path / "release-1")
    deployment.deploy("xlsx")
    deployment.sync("new")
    shutil.copy(deployment.root, tmp_path / "trusted.json")
    return deployment


def _sign(deployment: Deployment, document: Metadata[Any], *signers: str) -> bytes:
    document.signatures.clear()
    for who in signers:
        key = read_private_key((deployment.keys / who).read_bytes(), who)
        document.sign(tuf_signer(key), append=True)
    return document.to_bytes()


def _next_release(deployment: Deployment, *signers: str, timestamp_expires: datetime | None = None) -> None:
    """Write release 3 with the signatures of these signers, by somebody who has the online key too."""
    metadata = deployment.directory / "metadata"
    targets: Metadata[Targets] = Metadata.from_file(str(metadata / "2.targets.json"))
    targets.signed.version = 3
    (metadata / "3.targets.json").write_bytes(_sign(deployment, targets, *signers))
    snapshot: Metadata[Snapshot] = Metadata.from_file(str(metadata / "2.snapshot.json"))
    snapshot.signed.version, snapshot.signed.meta["targets.json"] = 3, MetaFile(3)
    (metadata / "3.snapshot.json").write_bytes(_sign(deployment, snapshot, "online"))
    _timestamp(deployment, 3, timestamp_expires)


def _timestamp(deployment: Deployment, snapshot: int, expires: datetime | None = None) -> None:
    path = deployment.directory / "metadata" / "timestamp.json"
    timestamp: Metadata[Timestamp] = Metadata.from_file(str(path))
    timestamp.signed.version += 1
    timestamp.signed.snapshot_meta = MetaFile(snapshot)
    timestamp.signed.expires = expires or timestamp.signed.expires
    path.write_bytes(_sign(deployment, timestamp, "online"))


def _one_signature(deployment: Deployment) -> None:
    _next_release(deployment, "alice")


def _one_signature_twice(deployment: Deployment) -> None:
    _next_release(deployment, "alice", "alice")


def _online_key_alone(deployment: Deployment) -> None:
    _next_release(deployment, "online")


def _freeze(deployment: Deployment) -> None:
    _timestamp(deployment, 2, _PAST)


def _mixed_releases(deployment: Deployment) -> None:
    """Send the signed metadata of release 1 as that of release 3."""
    metadata = deployment.directory / "metadata"
    shutil.copy(metadata / "1.snapshot.json", metadata / "3.snapshot.json")
    shutil.copy(metadata / "1.targets.json", metadata / "3.targets.json")
    _timestamp(deployment, 3)


def _mixed_targets(deployment: Deployment) -> None:
    _next_release(deployment, "alice", "bob")
    metadata = deployment.directory / "metadata"
    shutil.copy(metadata / "1.targets.json", metadata / "3.targets.json")


def _flipped_artifact(deployment: Deployment) -> None:
    deployment.deploy("mail")
    path = next((deployment.directory / "targets").glob("*.mail.tar.gz"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _missing_artifact(deployment: Deployment) -> None:
    deployment.deploy("mail")
    next((deployment.directory / "targets").glob("*.mail.tar.gz")).unlink()


def _foreign_root(deployment: Deployment) -> None:
    foreign = Deployment(deployment.place, deployment.capfd, name="foreign")
    for number in range(4):
        foreign.deploy("evil", body=f"Read {number}.")
    shutil.rmtree(deployment.directory)
    shutil.copytree(foreign.directory, deployment.directory)


def _foreign_second_root(deployment: Deployment) -> None:
    foreign = Deployment(deployment.place, deployment.capfd, name="foreign")
    root: Metadata[Root] = Metadata.from_file(str(foreign.root))
    root.signed.version = 2
    (deployment.directory / "metadata" / "2.root.json").write_bytes(_sign(foreign, root, "root"))


def _expired_root(deployment: Deployment) -> None:
    root: Metadata[Root] = Metadata.from_file(str(deployment.root))
    root.signed.version, root.signed.expires = 2, _PAST
    (deployment.directory / "metadata" / "2.root.json").write_bytes(_sign(deployment, root, "root"))
    deployment.deploy("mail")


def _endless_artifact(deployment: Deployment) -> None:
    deployment.deploy("mail")
    path = next((deployment.directory / "targets").glob("*.mail.tar.gz"))
    path.write_bytes(path.read_bytes() + bytes(10_000_000))


def _endless_metadata(deployment: Deployment) -> None:
    (deployment.directory / "metadata" / "timestamp.json").write_bytes(b"[" * 10_000_000)


def _other_skill_in_the_archive(deployment: Deployment) -> None:
    """Sign a release whose archive has another tree than the release states."""
    deployment.deploy("mail")
    metadata = deployment.directory / "metadata"
    targets: Metadata[Targets] = Metadata.from_file(str(metadata / "3.targets.json"))
    fields = targets.signed.targets["mail.tar.gz"].unrecognized_fields["custom"]
    fields["tree"] = f"sha256:{'0' * 64}"
    (metadata / "3.targets.json").write_bytes(_sign(deployment, targets, "alice", "bob"))


def _escaping_name(deployment: Deployment) -> None:
    """Sign a release with a skill that would be written outside the release."""
    deployment.deploy("mail")
    metadata = deployment.directory / "metadata"
    targets: Metadata[Targets] = Metadata.from_file(str(metadata / "3.targets.json"))
    target = targets.signed.targets.pop("mail.tar.gz")
    target.path = "../../mail.tar.gz"
    target.unrecognized_fields["custom"]["name"] = "../../mail"
    targets.signed.targets[target.path] = target
    (metadata / "3.targets.json").write_bytes(_sign(deployment, targets, "alice", "bob"))


ATTACKS: list[tuple[Callable[[Deployment], None], str]] = [
    (_one_signature, "signatures that it needs"),
    (_one_signature_twice, "signatures that it needs"),
    (_online_key_alone, "signatures that it needs"),
    (_freeze, "expired"),
    (_mixed_releases, "belong together"),
    (_mixed_targets, "belong together"),
    (_flipped_artifact, "digest"),
    (_missing_artifact, "which its release names"),
    (_foreign_root, "signatures that it needs"),
    (_foreign_second_root, "signatures that it needs"),
    (_expired_root, "expired"),
    (_endless_artifact, "more than the limit"),
    (_endless_metadata, "more than the limit"),
    (_other_skill_in_the_archive, "digest"),
    (_escaping_name, "no skill"),
]


@pytest.mark.parametrize(("attack", "reason"), ATTACKS, ids=[attack.__name__[1:] for attack, _ in ATTACKS])
def test_an_attack_changes_nothing_on_a_host_with_and_one_without_a_release(
    deployment: Deployment, attack: Callable[[Deployment], None], reason: str
) -> None:
    attack(deployment)
    trusted = str(deployment.place / "trusted.json")
    for host in ("new", "old"):
        place = deployment.place / host
        before = everything(place)
        into = ["sync", "--from", str(deployment.directory), "--root", trusted, "--into", str(place)]
        report = deployment.run(into, 1)
        assert (report["state"], report["changed"]) == ("refused", False)
        assert reason in report["reason"]
        assert {path: one for path, one in everything(place).items() if not path.endswith("/lock")} == {
            path: one for path, one in before.items() if not path.endswith("/lock")
        }


def test_old_metadata_changes_nothing(deployment: Deployment) -> None:
    before = everything(deployment.place / "new")
    report = deployment.sync("new", 1, source=str(deployment.place / "release-1"))
    assert (report["state"], report["release"]) == ("refused", 2)
    assert "older than that" in report["reason"]
    assert everything(deployment.place / "new") == before


def test_another_root_on_the_command_line_is_refused(deployment: Deployment) -> None:
    foreign = Deployment(deployment.place, deployment.capfd, name="foreign")
    foreign.deploy("evil")
    before = everything(deployment.place / "new")
    report = foreign.sync("new", 1)
    assert (report["state"], "another root" in report["reason"]) == ("refused", True)
    assert everything(deployment.place / "new") == before


def endless(send: Callable[[bytes], object]) -> None:
    """Send an answer that never ends."""
    send(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
    while True:
        send(bytes(65536))


def test_data_without_end_is_left(deployment: Deployment) -> None:
    deployment.deploy("mail")
    before = everything(deployment.place / "new")
    for path in list(deployment.answers()):
        if path.endswith((".mail.tar.gz", "/timestamp.json")):
            with serving({**deployment.answers(), path: Answer(send=endless)}) as site:
                report = deployment.sync("new", 1, source=site.url)
            assert (report["state"], report["release"]) == ("refused", 2)
            assert everything(deployment.place / "new") == before


def test_a_damaged_repository_is_not_signed(deployment: Deployment) -> None:
    path = deployment.directory / "metadata" / "2.targets.json"
    path.write_bytes(path.read_bytes().replace(b"xlsx", b"evil"))
    skill = str(make_skill(deployment.place / "skills", "mail"))
    command = ["deploy", skill, "--to", str(deployment.directory)]
    assert "signatures that it needs" in deployment.signed_by(command, "alice", "bob", code=1)


def test_a_repository_with_a_root_of_other_keys_is_not_signed(
    deployment: Deployment, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = Deployment(tmp_path, capfd, name="other")
    other.run(["registry", "refresh", str(other.directory), "--key", other.key("root")])
    shutil.copy(other.directory / "metadata" / "2.root.json", deployment.directory / "metadata")
    command = ["deploy", "--revoke", "pdf", "--to", str(deployment.directory)]
    assert "2.root.json does not have the signatures" in deployment.signed_by(command, "alice", "bob", code=1)
