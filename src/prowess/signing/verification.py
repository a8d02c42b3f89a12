"""Verifies signatures of trees, of files and of git objects against a `Trust`.

Nothing is read here: the caller passes the hashes of a tree or the bytes of a file, and the signature file. A signature
is judged in this order: is it well formed, does it cover these bytes or this statement, is its signer trusted, are the
files those of the statement. A statement of a signer who is not trusted can only refuse.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.tree_digest import TreeManifest  # noqa: TC001 -- the type of a field
from prowess.errors import SignatureError
from prowess.signing.bundle import CertificateBundle, KeyBundle, SigstoreBundle, key_hints, read_signature_file
from prowess.signing.certificates import signing_key, verify_chain
from prowess.signing.envelope import Envelope
from prowess.signing.git_object import read_commit, read_tag
from prowess.signing.sigstore_bundle import verify_sigstore
from prowess.signing.ssh_signature import BEGIN as SSH_BEGIN
from prowess.signing.ssh_signature import read_ssh_signature
from prowess.signing.statement import (
    PREDICATE_TYPE,
    differences,
    read_in_toto,
    read_statement,
    subjects_of,
)
from prowess.signing.verdict import SignatureVerdict, Signed, Untrusted

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from prowess.signing.bundle import SignatureFile
    from prowess.signing.certificates import VerifiedChain
    from prowess.signing.git_object import GitObject
    from prowess.signing.keys import PublicKey
    from prowess.signing.trust import Trust, TrustedKey
    from prowess.signing.verdict import Format

FILE_NAMESPACE, GIT_NAMESPACE = "file", "git"  # of SSH signatures


class _Content(Struct, frozen=True, kw_only=True):
    """What the signature should cover: the files of a skill, or the bytes of one file.

    `artifact` is the SHA-256 in hex of the verified artifact from which the files came, such as a manifest of OCI.
    """

    manifest: TreeManifest | None = None
    data: bytes | None = None
    artifact: str | None = None

    @property
    def sha256(self) -> bytes:
        """The digest of what a signature of bytes must cover. Raises SignatureError if there are no such bytes."""
        return hashlib.sha256(_bytes(self)).digest() if self.artifact is None else bytes.fromhex(self.artifact)


class Verifier:
    """Verifies many signatures against one `Trust` at one time. A chain of certificates is verified once."""

    def __init__(self, trust: Trust, now: dt.datetime) -> None:
        self._trust, self._now = trust, now
        self._keys: dict[bytes, PublicKey] = {}
        self._chains: dict[tuple[bytes, ...], VerifiedChain | Untrusted] = {}

    def tree(self, manifest: TreeManifest, signature: bytes | None, *, artifact: str | None = None) -> SignatureVerdict:
        """Verify a signature over a skill's files.

        `artifact` is the verified digest (`sha256:<64 hex>`) of the artifact from which the files were unpacked. A
        statement or a Sigstore signature about the artifact is one about the files. It is for signatures in a registry.
        """
        if signature is None:
            return SignatureVerdict(status="unsigned", reason="it has no signature file skill.oms.sig")
        digest = None if artifact is None else artifact.removeprefix("sha256:")
        return self._judge(signature, _Content(manifest=manifest, artifact=digest))

    def content(self, data: bytes, signature: bytes | None) -> SignatureVerdict:
        """Verify a signature over the bytes of one file, such as an archive."""
        if signature is None:
            return SignatureVerdict(status="unsigned", reason="no signature was found beside it")
        return self._judge(signature, _Content(data=data))

    def git_tag(self, data: bytes) -> tuple[SignatureVerdict, GitObject | None]:
        """Verify the signature of a tag object. The result has no object if the bytes are not one."""
        return self._git(data, is_tag=True)

    def git_commit(self, data: bytes) -> tuple[SignatureVerdict, GitObject | None]:
        """Verify the signature of a commit object. The result has no object if the bytes are not one."""
        return self._git(data, is_tag=False)

    def _git(self, data: bytes, *, is_tag: bool) -> tuple[SignatureVerdict, GitObject | None]:
        try:
            found = read_tag(data) if is_tag else read_commit(data)
        except SignatureError as fault:
            return SignatureVerdict(status="invalid", reason=_reason(fault)), None
        if found.signature is None:
            return SignatureVerdict(status="unsigned", reason="it is not signed"), found
        if not found.signature.startswith(SSH_BEGIN):
            reason = "its signature is none of SSH; signatures of OpenPGP and X.509 in git are not verified"
            return SignatureVerdict(status="untrusted", reason=reason), found
        verdict = self._judge(found.signature, _Content(data=found.payload), namespace=GIT_NAMESPACE)
        return replace(verdict, format="git-ssh"), found

    def _judge(self, signature: bytes, content: _Content, namespace: str = FILE_NAMESPACE) -> SignatureVerdict:
        form: Format | None = None
        try:
            if signature.startswith(SSH_BEGIN):
                form = "ssh"
                signed = self._by_ssh(signature, content, namespace)
            else:
                file = read_signature_file(signature)
                form = _format(file)
                signed = self._by_file(file, content)
            if isinstance(signed, Untrusted):
                verdict = SignatureVerdict(status="untrusted", format=form, signer=signed.signer, reason=signed.reason)
                if signed.payload is None:
                    return verdict
                if (other := _compared(verdict, signed.payload, content)).status == verdict.status:
                    return other
                return replace(verdict, signer=None, covers=False, reason=f"{signed.reason}; besides, {other.reason}")
            verdict = SignatureVerdict(status="verified", format=form, signer=signed.signer, publisher=signed.publisher)
            return verdict if signed.payload is None else _compared(verdict, signed.payload, content)
        except SignatureError as fault:
            return SignatureVerdict(status="invalid", format=form, reason=_reason(fault))

    def _by_file(self, file: SignatureFile, content: _Content) -> Signed | Untrusted:
        match file:
            case KeyBundle():
                return self._by_key(file, content)
            case CertificateBundle():
                return self._by_certificate(file)
            case SigstoreBundle():
                return verify_sigstore(file.data, None if file.is_envelope else content.sha256, self._trust)
            case Envelope():
                return self._by_keys(file)
            case _:
                assert_never(file)

    def _by_key(self, bundle: KeyBundle, content: _Content) -> Signed | Untrusted:
        known = [one for one in self._trust.keys if not bundle.hint or bundle.hint in key_hints(one.key)]
        if not known:
            is_digest = re.fullmatch("[0-9a-f]{64}", bundle.hint) is not None  # see `key_hint`
            named = f"sha256sum of its .pub file: {bundle.hint}" if is_digest else bundle.hint or "not named"
            payload = bundle.content.payload if isinstance(bundle.content, Envelope) else None
            return Untrusted(reason=f"it was signed with a key that is not trusted here ({named})", payload=payload)
        if isinstance(bundle.content, Envelope):
            message, signature = bundle.content.signed_bytes, bundle.content.signatures[0].signature
            payload = bundle.content.payload
        else:
            message, signature, payload = _bytes(content), bundle.content.signature, None
            if bundle.content.digest not in {None, hashlib.sha256(message).digest()}:
                raise SignatureError("the bundle", "it is a signature of other bytes")
        if (maker := _maker(known, signature, message)) is None:
            raise SignatureError("the bundle", "its key did not make this signature")
        return Signed(signer=_key_signer(maker.key), publisher=maker.publisher, payload=payload)

    def _by_keys(self, envelope: Envelope) -> Signed | Untrusted:
        """Verify an envelope without a bundle. Each of its signatures must be of a trusted key."""
        makers = [_maker(self._trust.keys, one.signature, envelope.signed_bytes) for one in envelope.signatures]
        if not all(makers):
            reason = "a signature of the envelope was made by no key that is trusted here"
            return Untrusted(reason=reason, payload=envelope.payload)
        found = [maker for maker in makers if maker is not None]
        publishers = {maker.publisher for maker in found}
        return Signed(
            signer=" ".join(dict.fromkeys(_key_signer(maker.key) for maker in found)),
            publisher=publishers.pop() if len(publishers) == 1 else None,
            payload=envelope.payload,
        )

    def _by_certificate(self, bundle: CertificateBundle) -> Signed | Untrusted:
        key = self._keys.get(bundle.certificates[0])
        if key is None:
            key = self._keys[bundle.certificates[0]] = signing_key(bundle.certificates)
        if not key.verifies(bundle.envelope.signatures[0].signature, bundle.envelope.signed_bytes):
            raise SignatureError("the bundle", "the key of its certificate did not make this signature")
        chain = self._chains.get(bundle.certificates)
        if chain is None:
            roots = [root.der for root in self._trust.roots]
            chain = self._chains[bundle.certificates] = verify_chain(bundle.certificates, roots, self._now)
        if isinstance(chain, Untrusted):
            return replace(chain, payload=bundle.envelope.payload)
        publisher = next(root.publisher for root in self._trust.roots if root.der == chain.root)
        return Signed(signer=chain.signer, publisher=publisher, payload=bundle.envelope.payload)

    def _by_ssh(self, data: bytes, content: _Content, namespace: str) -> Signed | Untrusted:
        signature = read_ssh_signature(data)
        if signature.namespace != namespace:
            reason = f"it is for the namespace {signature.namespace!r}, not for {namespace!r}"
            raise SignatureError("the SSH signature", reason)
        if not signature.verifies(_bytes(content)):
            raise SignatureError("the SSH signature", "it is a signature of other bytes")
        signer = _key_signer(signature.key)
        for known in self._trust.keys:
            if known.key == signature.key:
                return Signed(signer=signer, publisher=known.publisher)
        for line in self._trust.allowed_signers:
            if line.allows(signature.key, namespace, self._now):
                return Signed(signer=signer, publisher=line.principals[0])
        return Untrusted(signer=signer, reason=f"it was signed with {signer}, which is not trusted here")


def _compared(verdict: SignatureVerdict, payload: bytes, content: _Content) -> SignatureVerdict:
    """Compare what a signer stated with what is there. The status is that of `verdict` if these are the files."""
    if content.manifest is None:
        stated = {digest for _, digest in subjects_of(read_in_toto(payload))}
        if hashlib.sha256(content.data or b"").hexdigest() in stated:
            return verdict
        return replace(verdict, status="changed", reason="the file is not the one that was signed")
    if read_in_toto(payload).get("predicateType") != PREDICATE_TYPE:
        stated = {digest for _, digest in subjects_of(read_in_toto(payload))}
        tree, obstacles = content.manifest.digest, content.manifest.obstacles
        if tree is not None and stated & ({tree.removeprefix("sha256:"), content.artifact} - {None}):
            return verdict
        return replace(verdict, status="changed", reason="the statement is about other files", files=obstacles)
    statement = read_statement(payload)
    differing = differences(statement, content.manifest)
    if differing is None:
        return verdict if statement.skill is None else replace(verdict, version=statement.skill.version)
    reason = "files, or executable bits of files, are not as they were signed"
    return replace(verdict, status="changed", reason=reason, files=differing)


def _maker(known: Sequence[TrustedKey], signature: bytes, message: bytes) -> TrustedKey | None:
    return next((one for one in known if one.key.verifies(signature, message)), None)


def _key_signer(key: PublicKey) -> str:
    return f"key {key.fingerprint}"


def _bytes(content: _Content) -> bytes:
    if content.data is None:
        raise SignatureError(
            "the signature", "it covers one file, not a skill's directory; sign that with `prowess sign`"
        )
    return content.data


def _format(file: SignatureFile) -> Format:
    match file:
        case SigstoreBundle():
            return "sigstore"
        case KeyBundle(content=content) if not isinstance(content, Envelope):
            return "sigstore"
        case KeyBundle() | CertificateBundle():
            return "oms"
        case Envelope():
            return "dsse"


def _reason(fault: SignatureError) -> str:
    return f"{fault.what}: {fault.reason}"
