"""New deployment repositories: their first root metadata, by which hosts trust them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_lock import locked
from prowess.distribution.deployment.release_storage import LOCK
from prowess.distribution.deployment.repository import ROOT_DAYS, DeploymentRepository, in_days
from prowess.distribution.deployment.signing_keys import key_id, require_tuf, tuf_key, tuf_signer
from prowess.distribution.installation.disk.staging import nothing_changed
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.deployment.release_storage import ReleaseStorage
    from prowess.signing.keys import PrivateKey, PublicKey

_MODE = 0o644


def create_repository(
    directory: str,
    *,
    root: PrivateKey,
    online: PrivateKey,
    online_file: str,
    signers: Sequence[PublicKey],
    threshold: int,
) -> str:
    """Write the first root metadata and return its path. Hosts trust a repository by this file.

    Raises:
        DistributionError: there is a repository already, or the keys cannot be used like this.
        StoreError: the directory cannot be written.
        SignatureError: a key is of a kind that cannot sign metadata.
    """
    require_tuf()
    if len({key_id(key) for key in signers}) != len(signers):
        raise DistributionError("one of the signers is named twice; each signature must be of another key")
    if not 1 <= threshold <= len(signers):
        raise DistributionError(f"--threshold {threshold}: there are {len(signers)} signers")
    if online.public in (root.public, *signers):
        raise DistributionError("the online key must be another one than that of the root and of each signer")
    document = _first_root(root, online.public, signers, threshold)
    repository = DeploymentRepository(directory)
    with nothing_changed(repository.directory):
        os.makedirs(repository.directory, mode=0o755, exist_ok=True)
        with locked(repository.path(LOCK)):
            if repository.exists:
                raise DistributionError(f"{directory} is a deployment already; it was not changed")
            for folder in ("metadata", "targets", "hosts"):
                os.makedirs(os.path.join(repository.directory, folder), mode=0o755, exist_ok=True)
            write_atomically(repository.path("online-key"), os.path.abspath(online_file).encode() + b"\n", _MODE)
            path = repository.path("metadata", "1.root.json")
            write_atomically(path, document, _MODE)
    return path


def create_shared_repository(storage: ReleaseStorage, key: PrivateKey) -> DeploymentRepository:
    """Return the repository of an organisation in a store, which is made if it is not there. `key` signs alone.

    Raises:
        DistributionError: others made it at the same moment.
        SignatureError: the key is of a kind that cannot sign metadata.
        StoreError: the store cannot be used.
    """
    require_tuf()
    repository = DeploymentRepository("", storage)
    if not repository.exists:
        with storage.exclusive():
            storage.has("metadata/1.root.json")  # so that `commit` notices another one
            storage.write("metadata/1.root.json", _first_root(key, key.public, [key.public], 1))
            storage.commit()
    return repository


def _first_root(root: PrivateKey, online: PublicKey, signers: Sequence[PublicKey], threshold: int) -> bytes:
    from tuf.api.metadata import Metadata, Root  # of the extra

    content = Root(expires=in_days(ROOT_DAYS), consistent_snapshot=True)
    content.add_key(tuf_key(root.public, "--key"), "root")
    for role in ("snapshot", "timestamp"):
        content.add_key(tuf_key(online, "--online"), role)
    for signer in signers:
        content.add_key(tuf_key(signer, "--signer"), "targets")
    content.roles["targets"].threshold = threshold
    document = Metadata(content)
    document.sign(tuf_signer(root))
    return document.to_bytes()
