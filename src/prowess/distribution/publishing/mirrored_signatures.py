"""Fetches the signatures that a source has beside a skill, so that a mirror can carry them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.distribution.installation.disk.staging import Stage
from prowess.distribution.installation.fetching import Fetcher, fetch_locked
from prowess.distribution.signatures import signature_in
from prowess.lockfile import stored_tree

if TYPE_CHECKING:
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.permission.permission import Permission
    from prowess.distribution.sources.protocol import Access, Signature
    from prowess.lockfile import Lockfile


def fetch_signatures(
    lock: Lockfile, scope: InstallScope, access: Access, permission: Permission
) -> tuple[dict[tuple[str, str], tuple[Signature, ...]], tuple[str, ...]]:
    """Fetch the signatures that are beside a skill and not in it: by tree and name, and the contacted hosts.

    Only skills with a signer in the lock and without a `skill.oms.sig` are fetched. Raises as `fetch_locked`,
    and as `Permission.before_fetch`.
    """
    signed = [
        skill
        for skill in lock.skills
        if skill.signer and signature_in(stored_tree(scope.home, skill.tree, skill.name)) is None
    ]
    if not signed:
        return {}, ()
    with Stage(scope.home) as stage, Fetcher(stage, access, permission) as fetcher:
        fetch_locked(signed, scope, fetcher)
        return {key: one.signatures for key, one in fetcher.fetched.items()}, fetcher.contacted
