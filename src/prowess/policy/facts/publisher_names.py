"""Publishers' names in rules: whom `skill.publisher = "acme"` means on this machine.

A lock has signers, which are the same on every machine. Their names are those of `publishers.toml`. The machine's
policy file trusts only the machine's publishers, so a user cannot give a name to a signer and thereby meet its rules.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, assert_never

from prowess._internal.globs import as_written, fits_text
from prowess._internal.places import BUNDLE_FOLDER, PUBLISHERS_FILE
from prowess.errors import ConfigurationError, MissingExtraError, PolicyError
from prowess.policy.packages.trusted_publishers import trusted_publishers
from prowess.signing.trust import TrustedIdentity, TrustedKey, TrustedRoot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.signing.publishers import Publisher


def publishers_trusted_by(path: str, enterprise_file: str) -> tuple[Publisher, ...]:
    """Return the publishers that the policy file at `path` trusts: the machine's, and the user's if it is another.

    Raises:
        PolicyError: a publishers file is damaged, another user could change it, or the extra `install` is missing.
    """
    machine = os.path.join(os.path.dirname(enterprise_file), PUBLISHERS_FILE)
    try:
        known = trusted_publishers(machine)
    except (ConfigurationError, MissingExtraError) as fault:
        raise PolicyError((f"{path} names publishers, and they cannot be read: {fault}",)) from None
    # Of a user's publishers, no file of the machine or of its organisation takes any.
    from_users = path != enterprise_file and os.path.dirname(path) != BUNDLE_FOLDER
    return tuple(one.publisher for one in known if from_users or one.path == machine)


def signers_meant(patterns: Sequence[str], publishers: Iterable[Publisher]) -> tuple[str, ...]:
    """Return patterns of the signers of those publishers whose names match one of `patterns`."""
    meant = (one for one in publishers if any(fits_text(one.name, pattern) for pattern in patterns))
    return tuple(map(_signer_pattern, meant))


def signed_by(signer: str, publishers: Iterable[Publisher]) -> bool:
    """Return whether `signer`, the text in a lock, is one of these publishers."""
    return any(fits_text(signer, _signer_pattern(one)) for one in publishers)


def _signer_pattern(publisher: Publisher) -> str:
    """Return the pattern of the publisher's text in locks (see `prowess.signing.verification`).

    A signer is one or more keys (`key sha256:… key sha256:…`), a root with a subject (`x509 sha256:… CN=…`), or an
    identity with its issuer (`sigstore ID ISSUER`).
    """
    match publisher.anchor:
        case TrustedKey():
            return f"key *{publisher.fingerprint}*"
        case TrustedRoot():
            return f"x509 {publisher.fingerprint} *"
        case TrustedIdentity():
            return as_written(f"sigstore {publisher.fingerprint}")
        case _:
            assert_never(publisher.anchor)
