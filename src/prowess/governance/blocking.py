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
from prowess.errors import ConfigurationError, InvalidArgumentsError, PolicyDeniedError, StoreError
from prowess.format.name import normalise
from prowess.governance.acts import act, person
from prowess.lockfile import parse_reference
from prowess.policy.blocks.block_file import Block, read_block_file, render_blocks
from prowess.policy.blocks.blocked import SIGNERS, name_key
from prowess.policy.packages.trusted_publishers import trusted_publishers

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        wanted = self._checked(kind, value, scope)
        if not reason.strip() or not reason.isprintable() or len(reason) > _MOST_CHARACTERS:
            raise ConfigurationError(
                (f"the reason must be a line of 1 to {_MOST_CHARACTERS} characters; those who ask why see it",)
            )
        path = self._places[scope]
        with self._locked(scope):
            before = self._read(scope)
            for block in before:
                if block.kind == kind and _key(block) == _key_of(kind, wanted):
                    return PlacedBlock(block=block, scope=scope, path=path, is_new=False)
            block = Block(id=_new_id(before), kind=kind, value=wanted, reason=reason.strip(), by=person(), at=_now())
            with act(self._audit, "block", _facts(block, scope)):
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
                    with act(self._audit, "unblock", _facts(block, scope)):
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

    def _checked(self, kind: BlockKind, value: str, scope: BlockScope) -> str:
        """Return the value as the file has it."""
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
                self._require_known(text, scope)
        return text

    def _require_known(self, publisher: str, scope: BlockScope) -> None:
        if publisher.startswith(SIGNERS):
            return
        machine_file = os.path.join(os.path.dirname(self._enterprise_file), PUBLISHERS_FILE)
        known = [one for one in trusted_publishers(machine_file) if scope == "user" or one.path == machine_file]
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


def _key(block: Block) -> str:
    return _key_of(block.kind, block.value)


def _key_of(kind: BlockKind, value: str) -> str:
    """Return the text that equal blocks share."""
    return name_key(value) if kind == "name" else value


def _new_id(before: tuple[Block, ...]) -> str:
    known = {block.id for block in before}
    while (chosen := f"block-{secrets.token_hex(6)}") in known:
        pass
    return chosen


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _facts(block: Block, scope: BlockScope) -> dict[str, object]:
    return {"block": block.id, "match": {block.kind: block.value}, "reason": block.reason, "scope": scope}
