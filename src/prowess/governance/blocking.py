"""Blocks skills and lifts blocks, in the file of the machine or of the user (`prowess.policy.blocks`).

Writers exclude each other by a lock, and the file is replaced as a whole. So of two writers both blocks stay, and a
writer that is killed leaves the file as it was. Sessions notice the new file at their next call.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.atomic_write import remove_drafts, write_atomically
from prowess._internal.files.file_lock import locked
from prowess._internal.places import (
    MACHINE_POLICY,
    PUBLISHERS_FILE,
    NotPrivateError,
    block_places,
    ensure_private_directory,
)
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.errors import ConfigurationError, InvalidArgumentsError, PolicyDeniedError, StoreError
from prowess.format.name import normalise
from prowess.governance.acts import act, person
from prowess.lockfile import parse_reference
from prowess.policy.blocks.block_file import Block, read_block_file, render_blocks
from prowess.policy.blocks.blocked import SIGNERS, name_key
from prowess.policy.packages.trusted_publishers import MACHINE_FILE, trusted_publishers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.audit.record import AuditLog
    from prowess.policy.blocks.block_file import BlockKind

BlockScope = Literal["machine", "user"]
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_MOST_CHARACTERS = 2000  # of a value or a reason


class PlacedBlock(Struct, frozen=True, kw_only=True):
    """A block, the file that has it, and the scope of this file. `is_new` is false if it had the block before."""

    block: Block
    scope: BlockScope
    path: str
    is_new: bool = True


def own_scope() -> BlockScope:
    """Return the scope that this user's blocks have if none is chosen: `machine` for root."""
    return "machine" if hasattr(os, "geteuid") and os.geteuid() == 0 else "user"


class BlockedSkills:
    """The blocks of this machine and this user. `audit` records each change."""

    def __init__(self, audit: AuditLog | None = None, *, enterprise_file: str = MACHINE_POLICY) -> None:
        machine, user = block_places(enterprise_file)
        self._places: dict[BlockScope, str] = {"machine": machine, "user": user}
        self._audit, self._enterprise_file = audit, enterprise_file

    def all(self) -> list[PlacedBlock]:
        """Return every block, the machine's first. Raises PolicyError if a file is damaged."""
        return [
            PlacedBlock(block=block, scope=scope, path=path, is_new=False)
            for scope, path in self._places.items()
            for block in self._read(scope)
        ]

    def add(self, kind: BlockKind, value: str, reason: str, scope: BlockScope) -> PlacedBlock:
        """Block every skill with this fact. If it is blocked in this scope, return that block.

        Raises:
            ConfigurationError: no skill can have this fact, or the reason is missing.
            PolicyError: the file is damaged, or another user could change it.
            StoreError, PolicyDeniedError: the file cannot be written.
            AuditError: the act cannot be recorded.
        """
        machine_file = os.path.join(os.path.dirname(self._enterprise_file), PUBLISHERS_FILE)
        wanted, reason = checked_block(kind, value, reason, machine_file, of_user=scope == "user")
        path = self._places[scope]
        with self._locked(scope):
            before = self._read(scope)
            for block in before:
                if is_same_block(block, kind, wanted):
                    return PlacedBlock(block=block, scope=scope, path=path, is_new=False)
            block = new_block(kind, wanted, reason, person(), before)
            with act(self._audit, "block", {**block_facts(block), "scope": scope}):
                self._write(scope, (*before, block))
        return PlacedBlock(block=block, scope=scope, path=path)

    def lift(self, block_id: str) -> PlacedBlock:
        """Remove a block. Raises as `add`; InvalidArgumentsError if there is none with this id."""
        for scope, path in self._places.items():
            if all(block.id != block_id for block in self._read(scope)):
                continue
            with self._locked(scope):
                before = self._read(scope)
                if (block := next((one for one in before if one.id == block_id), None)) is not None:
                    with act(self._audit, "unblock", {**block_facts(block), "scope": scope}):
                        self._write(scope, tuple(one for one in before if one.id != block_id))
                    return PlacedBlock(block=block, scope=scope, path=path)
        reason = f"there is no block {block_id[:80]!r}; `prowess block --list` shows the blocks"
        raise InvalidArgumentsError((reason,))

    @contextmanager
    def _locked(self, scope: BlockScope) -> Iterator[None]:
        path = self._places[scope]
        with ExitStack() as held:
            with _converted(path, scope):
                if scope == "user":
                    ensure_private_directory(os.path.dirname(path))
                else:
                    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
                held.enter_context(locked(f"{path}.lock"))
            yield

    def _read(self, scope: BlockScope) -> tuple[Block, ...]:
        found = read_block_file(self._places[scope], is_machine=scope == "machine")
        return () if found is None else found.blocks

    def _write(self, scope: BlockScope, blocks: tuple[Block, ...]) -> None:
        path = self._places[scope]
        with _converted(path, scope):
            remove_drafts(*os.path.split(path))
            write_atomically(path, render_blocks(blocks), 0o644 if scope == "machine" else 0o600)


def checked_block(
    kind: BlockKind, value: str, reason: str, machine_file: str = MACHINE_FILE, *, of_user: bool = False
) -> tuple[str, str]:
    """Return the value and the reason of a new block as they are stored.

    `machine_file` has the publishers of the machine; with `of_user` those of the user are known too.

    Raises:
        ConfigurationError: no skill can have this fact, or the reason is missing.
    """
    wanted = _checked(kind, value, machine_file, of_user=of_user)
    if not reason.strip() or not reason.isprintable() or len(reason) > _MOST_CHARACTERS:
        raise ConfigurationError(
            (f"the reason must be a line of 1 to {_MOST_CHARACTERS} characters; those who ask why see it",)
        )
    return wanted, reason.strip()


def _checked(kind: BlockKind, value: str, machine_file: str, *, of_user: bool) -> str:
    text = value.strip()
    if not text or not text.isprintable() or len(text) > _MOST_CHARACTERS:
        raise ConfigurationError((f"the {kind} must be a line of 1 to {_MOST_CHARACTERS} characters",))
    if kind in {"digest", "file"}:
        if (found := _DIGEST.fullmatch(text.lower())) is None:
            of, how = ("file", "sha256sum FILE") if kind == "file" else ("skill", "prowess load NAME --json")
            why = f"{text[:80]!r} is not the digest of a {of} (64 hexadecimal digits); `{how}` prints it"
            raise ConfigurationError((why,))
        return f"sha256:{found[1]}"
    if "*" in text:
        why = f"{text[:80]!r} is a pattern, and a block names one {kind}"
        raise ConfigurationError((f"{why}; for patterns write a rule in a policy file",))
    match kind:
        case "name":
            return normalise(text)
        case "source":
            return _source(text)
        case "publisher":
            _require_known(text, machine_file, of_user=of_user)
    return text


def _require_known(publisher: str, machine_file: str, *, of_user: bool) -> None:
    if publisher.startswith(SIGNERS):
        return
    known = [one for one in trusted_publishers(machine_file) if of_user or one.path == machine_file]
    if any(one.publisher.name == publisher for one in known):
        return
    names = ", ".join(sorted({one.publisher.name for one in known})) or "none"
    why = f"no publisher {publisher[:80]!r} is known here (known: {names}), so no skill would be blocked"
    raise ConfigurationError((f"{why}; give the signer that `prowess why NAME` shows, such as 'key sha256:...'",))


@contextmanager
def _converted(path: str, scope: BlockScope) -> Iterator[None]:
    try:
        yield
    except TimeoutError as fault:
        raise StoreError(path, f"{fault}; try again") from fault
    except NotPrivateError as fault:
        raise StoreError(path, f"is not used, because {fault.strerror}; nothing was changed") from fault
    except OSError as fault:
        reason = f"cannot be written ({fault.strerror or fault}); nothing was changed"
        if scope == "machine" and isinstance(fault, PermissionError):
            raise PolicyDeniedError("owner", f"{path} {reason}; the blocks of a machine are root's") from fault
        raise StoreError(path, reason) from fault


def _source(text: str) -> str:
    """Return a path made absolute, another source as typed."""
    try:
        reference = parse_reference(text, has_version=False)
    except InvalidArgumentsError:
        if "://" in text or "@" in text or os.path.isabs(text):
            raise
        return text  # the label of a source
    return reference.location if reference.is_local and reference.kind == "directory" else text


def is_same_block(block: Block, kind: BlockKind, value: str) -> bool:
    """Return whether a block is about this fact. `value` is a checked one."""
    return block_subject(block.kind, block.value) == block_subject(kind, value)


def block_subject(kind: BlockKind, value: str) -> str:
    """Return a digest of what is blocked: the same for every spelling of a name. `value` is a checked one."""
    return sha256_of(canonical_json([kind, name_key(value) if kind == "name" else value]))


def new_block(kind: BlockKind, value: str, reason: str, by: str, before: Iterable[Block] = ()) -> Block:
    """Return a block of now, with an id that none of `before` has. Value and reason are checked ones."""
    known = {block.id for block in before}
    while (chosen := f"block-{secrets.token_hex(6)}") in known:
        pass
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Block(id=chosen, kind=kind, value=value, reason=reason, by=by, at=at)


def block_facts(block: Block) -> dict[str, object]:
    """Return the facts of a block for the audit log."""
    return {"block": block.id, "match": {block.kind: block.value}, "reason": block.reason}
