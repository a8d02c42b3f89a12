"""Statements of people about skills: approved, refused, or revoked. An approvals file contains them in their order.

A statement is about the bytes of one skill and one rule. It is never changed: a later statement revokes it. The file is
`approvals.json` beside the policy file, and is trusted by its owner and mode.
"""

from __future__ import annotations

import os
import stat
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from prowess._internal.files.toml_file import read_toml_bytes
from prowess._internal.places import others_can_change
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.errors import MissingExtraError, PolicyError, SignatureError
from prowess.signing.vote_signature import VoteSignature, require_signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

APPROVALS_FILE = "approvals.json"  # beside a policy file
Vote = Literal["approve", "refuse", "revoke"]
VoterKind = Literal["person", "service"]
MAX_BYTES = 32 * 1024 * 1024  # about 50 000 statements
_VERSION = 1
_REPAIR = "until it is repaired, nothing is permitted: restore the file, or remove it and approve again"
_DIGITS = 32  # of a request's id: 128 bits
_Time = Annotated[datetime, Meta(tz=True)]
_Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
_Text = Annotated[str, Meta(min_length=1, max_length=4096)]


class Voter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who voted: the user of the process, of a token, or of a login.

    `key` is the fingerprint of the key that signed the statement. `is_author` states that the voter was known to be an
    author of the skill.
    """

    user: _Text
    uid: int | None = None
    kind: VoterKind = "person"
    identified_by: Literal["system", "token", "login"] = "system"
    key: _Digest | None = None
    is_author: bool = False


class VoteStatement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One vote about one skill.

    `tree` is the digest of the whole directory. `capabilities` are those that the voter was shown; None if they were
    not known. `shown` is the digest of the whole text that was shown. `rule` is the name of the rule that asks, `role`
    the role in which the person voted. `until` is None for an approval without an end.
    """

    vote: Vote
    skill: _Text
    tree: _Digest
    capabilities: tuple[str, ...] | None = None
    shown: _Digest
    rule: _Text
    role: _Text
    until: _Time | None = None
    voter: Voter
    reason: Annotated[str, Meta(max_length=4096)] = ""
    at: _Time
    signature: VoteSignature | None = None

    @property
    def request(self) -> str:
        """The id of the question that the statement answers."""
        return request_id(self.tree, self.rule)

    @property
    def signed_value(self) -> dict[str, object]:
        """The statement without its signature, as JSON."""
        value: dict[str, object] = to_builtins(self)
        del value["signature"]
        return value

    def end(self, expires: int | None) -> datetime | None:
        """Return when the vote ends under a rule with `expires` seconds: the earlier of the two ends."""
        ends = [self.until] if self.until is not None else []
        if expires is not None:
            ends.append(self.at + timedelta(seconds=expires))
        return min(ends, default=None)


def request_id(tree: str | None, rule: str) -> str:
    """Return the id of the question whether a skill with this digest is approved under a rule."""
    digest = sha256_of(canonical_json({"tree": tree, "rule": rule}))
    return f"skill-{digest.removeprefix('sha256:')[:_DIGITS]}"


class Approvals(Struct, frozen=True, kw_only=True, dict=True):
    """The statements of one place, and the policy files whose rules they can satisfy: those of its layer and below.

    `policy_files` is None for the store of an organisation, whose statements count for every file.
    """

    place: str
    statements: tuple[VoteStatement, ...] = ()
    policy_files: frozenset[str] | None = None
    is_machine: bool = False  # whether it is the file of the machine
    version: str = ""  # a digest of the statements

    @cached_property
    def by_tree(self) -> Mapping[str, Sequence[VoteStatement]]:
        """The statements about each digest, in their order."""
        found: dict[str, list[VoteStatement]] = {}
        for one in self.statements:
            found.setdefault(one.tree, []).append(one)
        return found


def approvals_path(policy_file: str) -> str:
    """Return the path of the approvals file beside a policy file."""
    return os.path.join(os.path.dirname(os.path.abspath(policy_file)), APPROVALS_FILE)


def read_statements(path: str, *, is_machine: bool) -> Approvals:
    """Return the statements of an approvals file; without any if there is no file.

    `is_machine` states whether the file is the machine's, which only root may be able to change.

    Raises:
        PolicyError: the file is damaged, has an invalid signature, or someone else could change it.
    """
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Approvals(place=path, is_machine=is_machine)
    except OSError as fault:
        raise PolicyError((f"{path}: {fault.strerror}",)) from None
    if not stat.S_ISREG(found.st_mode):
        raise PolicyError((f"{path}: it is not a regular file",))
    if (weakness := others_can_change(path, is_machine=is_machine)) is not None:
        raise PolicyError((f"{path} is not used, because someone else could change it: {weakness}",))
    try:
        data = read_toml_bytes(path, MAX_BYTES)
        statements = parse_statements(data, path)
        return Approvals(place=path, statements=statements, version=sha256_of(data), is_machine=is_machine)
    except ValueError as fault:
        raise fault if isinstance(fault, PolicyError) else PolicyError((f"{fault}; {_REPAIR}",)) from None


def parse_statements(data: bytes, path: str) -> tuple[VoteStatement, ...]:
    """Return the statements of the bytes of an approvals file. Raise PolicyError with the first fault."""
    try:
        value = strict_json(data, "it")
        if not isinstance(value, dict) or value.keys() != {"prowess_approvals", "statements"}:
            raise PolicyError((f"{path}: it is no approvals file; {_REPAIR}",))
        if value["prowess_approvals"] != _VERSION:
            raise PolicyError((f"{path}: a newer version of Prowess wrote it; update Prowess",))
        statements = tuple(map(checked_statement, _listed(value["statements"])))
    except (StrictJsonError, ValidationError) as fault:
        raise PolicyError((f"{path}: {fault}; {_REPAIR}",)) from None
    except (SignatureError, MissingExtraError) as fault:
        raise PolicyError((f"{path}: {fault}",)) from None
    return statements


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def checked_statement(value: object) -> VoteStatement:
    """Return the statement with this JSON value. Raises ValidationError, SignatureError or MissingExtraError."""
    one = convert(value, VoteStatement)
    if one.signature is not None:
        require_signed(one.signature, one.signed_value, one.skill, one.tree, one.voter.key)
    return one


def render_statements(statements: Sequence[VoteStatement]) -> bytes:
    """Return the bytes of an approvals file."""
    from msgspec.json import encode
    from msgspec.json import format as indented

    return indented(encode({"prowess_approvals": _VERSION, "statements": statements}), indent=1) + b"\n"
