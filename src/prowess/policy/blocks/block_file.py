"""The file of blocked skills, `blocks.json`, beside the policy of the machine and of the user.

    {"prowess_blocks":1,"blocks":[
    {"id":"block-0123456789ab","kind":"name","value":"deploy","reason":"…","by":"ada","at":"2026-11-29T10:00:00Z"}
    ]}

`prowess.governance.blocking` writes it, one block a line. A file that is damaged, or that another user could change,
denies every call, as a policy file with an error does.
"""

from __future__ import annotations

import os
import stat
from typing import Literal, get_args

from msgspec import DecodeError, Struct, json

from prowess._internal.places import exposure, weakness_above
from prowess._internal.text.canonical_json import is_digest, sha256_of
from prowess.errors import PolicyError

BlockKind = Literal["name", "digest", "file", "source", "publisher"]
BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
MOST_BYTES = 256 * 1024 * 1024
_OF_DIGESTS = ("digest", "file")
_ROOT = 0
# A pipe must not block the open.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_REPAIR = "until it is repaired, nothing is permitted: restore the file, or remove it and block again"


class Block(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One act that blocks every skill with this fact. `at` is a time in UTC (ISO 8601)."""

    id: str
    kind: BlockKind
    value: str
    reason: str
    by: str
    at: str

    @property
    def said(self) -> str:
        """The fact and the reason, for a sentence."""
        return f"{self.kind} {self.value}: {self.reason}"


class _Content(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    prowess_blocks: Literal[1]
    blocks: list[Block]


class BlockFile(Struct, frozen=True, kw_only=True):
    """The blocks of one file, in its order. `digest` is that of its bytes.

    `is_shared` is true for those of the store of an organisation, whose `path` is no path of this machine.
    """

    path: str
    digest: str
    blocks: tuple[Block, ...]
    is_shared: bool = False

    @property
    def version(self) -> tuple[str, str]:
        """The path and the digest, which tell one content from another."""
        return self.path, self.digest


def read_block_file(path: str, *, is_machine: bool) -> BlockFile | None:
    """Return the blocks of a file; None if there is no such file.

    Raises:
        PolicyError: the file is damaged, cannot be read, or another user could change it.
    """
    try:
        with open(os.open(path, _READ), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _fault(path, "it is not a regular file")
            weakness = weakness_above(path, _ROOT) if is_machine and hasattr(os, "getuid") else exposure(path)
            data = file.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise _fault(path, "it is not a regular file") from None
    except FileNotFoundError:
        if os.path.islink(path):
            raise _fault(path, "it is a link to nothing") from None
        return None
    except NotADirectoryError:
        return None
    except OSError as fault:
        raise _fault(path, fault.strerror or str(fault)) from None
    if weakness is not None:
        raise _fault(path, f"someone else could change it: {weakness}")
    if len(data) > MOST_BYTES:
        raise _fault(path, f"it is larger than {MOST_BYTES} bytes")
    return BlockFile(path=path, digest=sha256_of(data), blocks=tuple(_blocks(path, data)))


def _blocks(path: str, data: bytes) -> list[Block]:
    try:
        found = json.decode(data, type=_Content).blocks
    except (DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise _fault(path, str(fault)) from None
    seen: set[str] = set()
    for number, block in enumerate(found, 2):
        if not block.id or not block.value:
            raise _fault(f"{path}:{number}", "id and value must not be empty")
        if block.id in seen:
            raise _fault(f"{path}:{number}", f"{block.id!r} is the id of another block")
        if block.kind in _OF_DIGESTS and not is_digest(block.value):
            raise _fault(f"{path}:{number}", f"{block.value[:80]!r} is no digest: sha256: and 64 lowercase digits")
        seen.add(block.id)
    return found


def render_blocks(blocks: tuple[Block, ...]) -> bytes:
    """Return the text of a file with these blocks."""
    lines = b",\n".join(map(json.Encoder().encode, blocks))
    return b'{"prowess_blocks":1,"blocks":[\n' + lines + b"\n]}\n"


def _fault(place: str, reason: str) -> PolicyError:
    return PolicyError((f"{place}: {reason}; {_REPAIR}",))
