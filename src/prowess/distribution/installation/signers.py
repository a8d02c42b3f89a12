"""Who signed a fetched skill: its own `skill.oms.sig`, a signature beside it, or its signed tag or commit.

The first installation pins the signer in the lock. A signature that is damaged, or does not fit the files, is refused.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution.signatures import signature_in
from prowess.errors import SignatureError
from prowess.lockfile import Lockfile  # noqa: TC001 -- msgspec resolves it
from prowess.policy.packages.trusted_publishers import trust_in_publishers
from prowess.signing.verdict import SignatureVerdict
from prowess.signing.verification import Verifier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.distribution.sources import Fetched, Signature
    from prowess.lockfile import LockedSkill

_UNSIGNED = SignatureVerdict(status="unsigned", reason="it has no signature")
_REFUSED = frozenset({"changed", "invalid"})


class SignedLock(Struct, frozen=True, kw_only=True):
    """A lock with the signers of what was fetched, and what each signature is worth, by the key of the skill."""

    lock: Lockfile
    statuses: dict[tuple[str, str], str]


def with_signers(
    lock: Lockfile,
    fetched: Mapping[tuple[str, str], Fetched],
    locked: Collection[tuple[str, str]],
    *,
    allow_unsigned: bool = False,
) -> SignedLock:
    """Pin the signer of each skill that was fetched. `fetched` and `locked` are by tree and name.

    Those in `locked` were fetched as the lock names them, so the lock stays as it is. With `allow_unsigned`, the lock
    records that the others were accepted without a signature if they have none.

    Raises:
        SignatureError: a signature is damaged or does not fit the files, or a skill in `locked` was signed by another
            signer than the lock names.
    """
    skills = []
    statuses: dict[tuple[str, str], str] = {}
    signers = Signers()
    for skill in lock.skills:
        if (found := fetched.get((skill.tree, skill.name))) is None:
            skills.append(skill)
            continue
        is_locked = (skill.tree, skill.name) in locked
        verdict = signers.verdict(found, pinned=skill.signer if is_locked else None)
        statuses[skill.key] = verdict.status
        if not is_locked:
            unsigned = verdict.status == "unsigned" and (allow_unsigned or skill.unsigned)
            skill = replace(skill, signer=verdict.signer, unsigned=unsigned)  # noqa: PLW2901 -- the same skill, completed
        elif skill.signer not in {None, verdict.signer}:
            raise SignatureError(f"skill {skill.name!r}", f"the lock names {skill.signer}, but {_found(verdict)}")
        skills.append(skill)
    return SignedLock(lock=replace(lock, skills=tuple(skills)), statuses=statuses)


def _found(verdict: SignatureVerdict) -> str:
    if verdict.signer is None and verdict.status == "untrusted":
        return f"{verdict.reason}; to trust it: prowess key trust FILE --as PUBLISHER"
    return f"{verdict.signer or 'nobody'} signed it"


class Signers:
    """Verifies the signatures of fetched skills. The trusted publishers are read at the first signature."""

    def __init__(self, verifier: Verifier | None = None) -> None:
        self._verifier = verifier

    def verdict(self, fetched: Fetched, pinned: str | None = None) -> SignatureVerdict:
        """Return the best verdict on the signatures in the skill and beside it (see `best_verdict`).

        Raises:
            SignatureError: the signature in the skill is damaged, or does not fit the files or the version.
            ConfigurationError: the publishers cannot be read.
        """
        signature = signature_in(fetched.directory)
        if signature is None and not fetched.signatures:
            return _UNSIGNED
        if self._verifier is None:
            self._verifier = Verifier(trust_in_publishers(), dt.datetime.now(dt.UTC))
        own = self._verifier.tree(fetched.manifest, signature)
        if own.status in _REFUSED or not own.covers:
            raise SignatureError(f"skill {fetched.name!r}", own.reason or own.status)
        best = best_verdict(own, fetched, fetched.manifest, fetched.signatures, self._verifier, pinned=pinned)
        for verdict in (own, best):
            _require_version(fetched, verdict.version)
        return best


def _require_version(fetched: Fetched, signed: str | None) -> None:
    """Refuse an old signed skill that a registry offers as another version.

    The versions of a repository and of an installed package are their own, and tell nothing about the skill's.
    """
    is_own = fetched.artifact is None or fetched.commit is not None
    if not is_own and signed is not None and _plain(signed) != _plain(fetched.version or ""):
        reason = f"it was signed as version {signed}, but {fetched.source} offers it as {fetched.version}"
        raise SignatureError(f"skill {fetched.name!r}", reason)


def _plain(version: str) -> str:
    """Return a version without the `v` of a tag: registries state `1.2.0` for a tag `v1.2.0`."""
    return version.strip().removeprefix("v")


def best_verdict(
    own: SignatureVerdict,
    skill: Fetched | LockedSkill,
    manifest: TreeManifest,
    signatures: Iterable[Signature],
    verifier: Verifier,
    *,
    pinned: str | None,
) -> SignatureVerdict:
    """Return the best of `own`, the verdict on the signature in the skill, and those on `signatures` beside it.

    The best is that of the signer `pinned`, then verified, then untrusted, then unsigned.
    """
    if own.status in _REFUSED or not own.covers:
        return own
    verdicts = [own, *(_beside(skill, manifest, one, verifier) for one in signatures)]
    order = ("verified", "untrusted", "unsigned")
    return min(verdicts, key=lambda one: (pinned is None or one.signer != pinned, order.index(one.status)))


def _beside(
    skill: Fetched | LockedSkill, manifest: TreeManifest, signature: Signature, verifier: Verifier
) -> SignatureVerdict:
    """Return the verdict on a signature that is not in the skill. One that does not fit proves nothing."""
    match signature.kind:
        case "git-tag":
            verdict, found = verifier.git_tag(signature.data)
            fits = found is not None and found.target == skill.commit
        case "git-commit":
            verdict, _ = verifier.git_commit(signature.data)
            fits = skill.commit in _names_of_commit(signature.data)
        case _:
            verdict = verifier.tree(manifest, signature.data, artifact=skill.artifact)
            fits = True
    if fits and verdict.status not in _REFUSED:
        return verdict
    reason = verdict.reason or "it is a signature of something else"
    return SignatureVerdict(status="untrusted", format=verdict.format, reason=reason)


def _names_of_commit(data: bytes) -> tuple[str, str]:
    """Return the names that git gives a commit with these bytes, by both of its hashes."""
    named = b"commit %d\0%b" % (len(data), data)
    return hashlib.sha1(named, usedforsecurity=False).hexdigest(), hashlib.sha256(named).hexdigest()
