"""Why a login is refused: a word for the audit log, and a sentence for the person."""

from __future__ import annotations

from typing import Literal

RefusalReason = Literal[
    "form",  # of another site, or of another login
    "limit",  # too many failures of one address
    "token",  # unknown, removed or expired
    "machine",  # the token of a machine
    "state",  # unknown, used, too old, or of another browser
    "denied",  # by the issuer, to the person
    "issuer",  # the answer comes from another issuer
    "code",  # not redeemed by the issuer
    "algorithm",
    "signature",
    "nonce",
    "audience",
    "expiry",
    "claims",
    "tenant",
    "unavailable",
]

_ISSUER = "The issuer's answer does not prove who you are. Try again; if it stays so, tell an administrator."
_SENTENCES: dict[RefusalReason, str] = {
    "form": "The form was too old, or was not sent from this page. Log in again.",
    "limit": "Too many logins failed. Wait a minute, then try again.",
    "token": "This token is not valid. It may have expired or been removed.",
    "machine": "This is the token of a machine. Log in with the token of a person.",
    "state": "This login was begun in another browser, too long ago, or is finished already. Log in again.",
    "denied": "The issuer did not log you in.",
    "code": "The issuer did not accept its own answer. Log in again.",
    "claims": "The issuer does not tell what is needed about you. Tell an administrator.",
    "tenant": "You do not belong to a tenant of this server. Tell an administrator.",
    "unavailable": "The issuer cannot be reached at the moment. Try again in a minute.",
}


class LoginRefusedError(Exception):
    """A login is refused. `detail` is for the audit log, and has no secret."""

    def __init__(self, reason: RefusalReason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail

    @property
    def sentence(self) -> str:
        """The sentence for the person. It does not tell which part of a forged answer was noticed."""
        return _SENTENCES.get(self.reason, _ISSUER)

    @property
    def status(self) -> int:
        """The status of the answer."""
        match self.reason:
            case "limit":
                return 429
            case "unavailable":
                return 503
            case _:
                return 403
