"""`prowess verify`: verifies the signatures of skills and files, offline."""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.tree_digest import read_tree
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.key_files import key_file_bytes, read_verifying_key
from prowess.cli.options import json_option
from prowess.distribution.signatures import signatures_beside, verify_file, verify_skill
from prowess.errors import LimitExceededError, SignatureError
from prowess.format.skill_directories import find_skill_directories
from prowess.policy.packages.trusted_publishers import trust_in_publishers
from prowess.signing import allowed_signers
from prowess.signing.allowed_signers import read_allowed_signers
from prowess.signing.bundle import MAX_BYTES
from prowess.signing.certificates import read_certificates
from prowess.signing.trust import Trust, TrustedIdentity, TrustedKey, TrustedRoot
from prowess.signing.verdict import STATUSES, SignatureVerdict
from prowess.signing.verification import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.installation.verification import InstalledCopy
    from prowess.lockfile.places import Scope

_NO_FILE = "there is no such file or directory; without PATH, the installed skills are verified"
_FAILED = frozenset({"changed", "untrusted", "invalid", "missing"})
_COLOURS = {"verified": "green", "unsigned": "yellow"}


class Verified(Struct, frozen=True, kw_only=True):
    """One row of the result: a path as it was given or found, the skill's name, and the verdict.

    `is_stored` means that the path is in the store, where it is less readable than the name.
    """

    path: str
    name: str
    verdict: SignatureVerdict
    is_stored: bool = False


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--root", "roots", multiple=True, metavar="PEM", help="Trust this certificate authority.")
@click.option("--key", "keys", multiple=True, metavar="PEM", help="Trust this public key.")
@click.option("--allowed-signers", metavar="FILE", help="Trust the SSH keys in this file (see ssh-keygen).")
@click.option("--identity", metavar="ID", help="Trust this identity in Sigstore certificates; needs --issuer.")
@click.option("--issuer", metavar="URL", help="The issuer that vouches for the identity.")
@click.option("--trusted-root", metavar="FILE", help="Sigstore's trusted root; defaults to the one it ships.")
@click.option("--signature", metavar="FILE", help="The signature of the one PATH, if it is kept elsewhere.")
@json_option
@click.option("--scope", type=click.Choice(("project", "personal")), help="Without PATH: only the skills of this lock.")
def command(
    *, paths: tuple[str, ...], signature: str | None, as_json: bool, scope: Scope | None, **trusted: object
) -> int:
    """Verify the signatures of skills and files. Nothing is fetched.

    Without PATH, every skill that the locks of this project and of you name is compared with the lock, in the store and
    where other agents read it, and its signature is verified.

    PATH is a skill, its SKILL.md, a folder of skills, or one file such as an archive. A skill's signature is its
    skill.oms.sig; that of a file is beside it: FILE.sigstore.json, FILE.sigstore, FILE.dsse.json or FILE.sig.

    Publishers are trusted by `prowess key trust`. If an option names whom to trust, only that counts. Exits with 1 if
    a skill or file is changed, untrusted, invalid or missing. One without a signature is unsigned, which is an error
    only if the policy has require_signature.

    \b
    Example:
      prowess verify
      prowess verify skills
      prowess verify skills --root publisher-root.pem
      prowess verify csv-report.tar.gz --allowed-signers allowed_signers
    """  # noqa: D301 -- click needs the control character
    verifier = Verifier(_trust(**trusted), dt.datetime.now(dt.UTC))  # type: ignore[arg-type]  # click's types
    if paths and scope is not None:
        raise click.UsageError("--scope takes no PATH")
    if not paths and signature is not None:
        raise click.UsageError("--signature needs a PATH")
    if not paths:
        return _finished(_installed(verifier, scope), as_json=as_json)
    places = [place for path in paths for place in _places(path)]
    if signature is not None and len(places) != 1:
        raise click.UsageError(f"--signature belongs to one skill or file, but the paths name {len(places)}")
    given = None if signature is None else key_file_bytes(signature, MAX_BYTES)
    found = [_verified(path, verifier, given) for path in dict.fromkeys(places)]
    return _finished(found, as_json=as_json)


def _finished(found: Sequence[Verified], *, as_json: bool) -> int:
    report(found, as_json=as_json)
    statuses = {one.verdict.status for one in found}
    if "unsigned" in statuses and not statuses & _FAILED:
        # Imported here because most results do not depend on the policy.
        from prowess.policy.policy_in_force import load_policy

        if load_policy().require_signature:
            output.note("the policy asks for signatures, so a skill without one is an error")
            return exit_codes.FAILED
    return exit_codes.FAILED if statuses & _FAILED else exit_codes.OK


def _installed(verifier: Verifier, kind: Scope | None) -> list[Verified]:
    """Return a row for each place of each locked skill: the store, and the targets."""
    # Imported here because a verification of given paths asks no lock.
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.installation.verification import installed_copies
    from prowess.lockfile import stored_tree

    kinds: tuple[Scope, ...] = ("project", "personal") if kind is None else (kind,)
    return [
        Verified(
            path=copy.path,
            name=copy.skill.name,
            verdict=_verdict(copy, verifier, scope),
            is_stored=copy.path == stored_tree(scope.home, copy.skill.tree, copy.skill.name),
        )
        for scope in map(InstallScope.find, kinds)
        for copy in installed_copies(scope)
    ]


def _verdict(copy: InstalledCopy, verifier: Verifier, scope: InstallScope) -> SignatureVerdict:
    if copy.state == "missing":
        return SignatureVerdict(
            status="missing", reason="the lock names it, but it is not there; run `prowess install`"
        )
    if copy.state == "changed":
        reason = "its files are not those that the lock names; run `prowess install --repair`"
        return SignatureVerdict(status="changed", reason=reason, files=copy.files)
    verdict, pinned = verify_skill(copy.path, verifier), copy.skill.signer
    if pinned is None or verdict.signer == pinned:
        return verdict
    # Imported here because most installed skills have their signature with them.
    from prowess.distribution.installation.disk.kept_signatures import kept_signatures
    from prowess.distribution.installation.disk.store import SkillStore
    from prowess.distribution.installation.signers import best_verdict

    if beside := kept_signatures(SkillStore(scope.home), copy.skill.tree, copy.skill.name):
        verdict = best_verdict(verdict, copy.skill, read_tree(copy.path), beside, verifier, pinned=pinned)
        if verdict.signer == pinned:
            return verdict
    if verdict.status == "unsigned":
        reason = f"{pinned} signed it when it was installed, and the signature is not in the store any more"
        return replace(verdict, status="untrusted", reason=reason)
    if verdict.status != "verified":
        return verdict
    reason = f"the lock names the signer {pinned}, but {verdict.signer} signed it"
    return replace(verdict, status="untrusted", reason=reason)


def report(found: Sequence[Verified], *, as_json: bool) -> None:
    """Print the result for people or as JSON."""
    counts = Counter(one.verdict.status for one in found)
    if as_json:
        summary = {status: counts[status] for status in STATUSES}
        output.document({"summary": summary, "skills": [_row(one) for one in found]})
        return
    for one in found:
        verdict = one.verdict
        status = output.styled(f"{verdict.status:9}", _COLOURS.get(verdict.status, "red"))
        told = f"signed by {_signer(verdict)}" if verdict.reason is None else verdict.reason
        shown = printable_line(f"{one.name} (installed)") if one.is_stored else output.shown_path(one.path)
        output.line(f"{status} {shown}: {printable_line(told)}")
        for file in verdict.files:
            output.line(f"          {printable_line(file)}")
    output.note(", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status]) or counted(0, "skill"))


def _row(one: Verified) -> dict[str, object]:
    verdict = one.verdict
    return {
        "path": one.path,
        "name": one.name,
        "status": verdict.status,
        "format": verdict.format,
        "signer": verdict.signer,
        "reason": verdict.reason,
        "files": list(verdict.files),
    }


def _signer(verdict: SignatureVerdict) -> str:
    return f"{verdict.publisher} ({verdict.signer})" if verdict.publisher else str(verdict.signer)


def _places(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        of_skill = os.path.basename(path).lower() == "skill.md" and os.path.exists(path) and not signatures_beside(path)
        yield os.path.dirname(path) or "." if of_skill else path
        return
    found = find_skill_directories(path)
    for note in found.notes:
        output.note(printable_line(note))
    yield from (os.path.normpath(one) for one in found.paths or (path,))


def _verified(path: str, verifier: Verifier, signature: bytes | None) -> Verified:
    name = os.path.basename(os.path.abspath(path))
    try:
        if os.path.isdir(path):
            return Verified(path=path, name=name, verdict=verify_skill(path, verifier, signature))
        return Verified(path=path, name=name, verdict=verify_file(path, verifier, signature))
    except FileNotFoundError:
        verdict = SignatureVerdict(status="missing", reason=_NO_FILE)
    except OSError as fault:
        verdict = SignatureVerdict(status="invalid", reason=f"it cannot be read: {fault.strerror or fault}")
    except (SignatureError, LimitExceededError) as fault:
        verdict = SignatureVerdict(status="invalid", reason=str(fault))
    return Verified(path=path, name=name, verdict=verdict)


def _trust(
    *,
    roots: tuple[str, ...],
    keys: tuple[str, ...],
    allowed_signers: str | None,
    identity: str | None,
    issuer: str | None,
    trusted_root: str | None,
) -> Trust:
    if (identity is None) != (issuer is None) or "" in {identity, issuer}:
        raise click.UsageError("--identity and --issuer belong together, and neither is empty")
    sigstore_root = None if trusted_root is None else key_file_bytes(trusted_root, MAX_BYTES)
    if not (roots or keys or allowed_signers or identity):
        known = trust_in_publishers()
        return Trust(keys=known.keys, roots=known.roots, identities=known.identities, sigstore_root=sigstore_root)
    try:
        return Trust(
            roots=tuple(
                TrustedRoot(der=der)
                for path in roots
                for der in read_certificates(key_file_bytes(path), printable_line(path))
            ),
            keys=tuple(TrustedKey(key=read_verifying_key(path)) for path in keys),
            allowed_signers=() if allowed_signers is None else _allowed_signers(allowed_signers),
            identities=() if identity is None else (TrustedIdentity(identity=identity, issuer=str(issuer)),),
            sigstore_root=sigstore_root,
        )
    except SignatureError as fault:
        raise click.UsageError(f"{fault.what}: {fault.reason}") from None


def _allowed_signers(path: str) -> tuple[allowed_signers.AllowedSigner, ...]:
    return read_allowed_signers(key_file_bytes(path, allowed_signers.MAX_BYTES), printable_line(path))
