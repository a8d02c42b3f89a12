"""The text of a lock: one rendering for each value, and a parser that accepts nothing else.

The text is TOML: a fixed head, then a block for each skill and each target. The keys of a block are always in one
order, and absent ones are left out. The last line of a block, `seal`, is the SHA-256 of its other lines. A lock has no
times, names of machines or other facts that differ between two runs.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from prowess.diagnostics import Location
from prowess.errors import LockfileError
from prowess.lockfile.lock import LockedSkill, LockedTarget, Lockfile, fault_of

MOST_BYTES = 64 * 1024 * 1024  # of one lock; 100 000 skills have 60 MB
VERSION = 1
HEAD = f"# Written by prowess: change it with `prowess install`, `update` or `remove`.\nversion = {VERSION}\n"
CONFLICT = "<<<<<<< "  # the line with which git begins a conflict

_SKILL, _TARGET = "[[skill]]", "[[target]]"
# Escaped: control characters, and those that change the direction of the text or are invisible.
_SPECIAL = re.compile(
    '["\\\\\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]'
)
_KEYS = {_SKILL: {*LockedSkill.__struct_fields__, "seal"}, _TARGET: {*LockedTarget.__struct_fields__, "seal"}}
_NOT_SEALED = "the block that ends here was changed: its seal does not fit; take the file back from version control"
_NOT_CANONICAL = "this line is not as prowess writes it; take the file back from version control"
_decode = msgspec.json.Decoder().decode  # each value is written as TOML and JSON have it in common
_convert = msgspec.convert
_seal_of = hashlib.sha256


def render_lock(lock: Lockfile) -> bytes:
    """Return the only text of a lock, as UTF-8 with LF.

    Raises:
        ValueError: a value cannot be in a lock (see `fault_of`).
    """
    return "".join((HEAD, *(f"\n{block_text(block)}" for block in _blocks(lock)))).encode()


def _blocks(lock: Lockfile) -> list[LockedSkill | LockedTarget]:
    return [*lock.skills, *lock.targets]


def block_text(block: LockedSkill | LockedTarget) -> str:
    """Return the lines of one block with its seal. Raises ValueError as `render_lock`."""
    if (fault := fault_of(block)) is not None:
        raise ValueError(f"{_named(block)} cannot be locked: {fault[0]}: {fault[1]}")
    text = _text_of(block)
    return f'{text}seal = "sha256:{_seal_of(text.encode()).hexdigest()}"\n'


def parse_lock(data: bytes, path: str | None = None) -> Lockfile:
    """Read a lock. Only the text that `render_lock` writes is accepted. `path` is for the message alone.

    Raises:
        LockfileError: the bytes are no lock; carries the first line that is different.
    """
    if len(data) > MOST_BYTES:
        raise _error(path, 1, f"it has {len(data)} bytes; a lock has {MOST_BYTES} at most")
    try:
        text = data.decode()
    except UnicodeDecodeError as fault:
        raise _error(path, data.count(b"\n", 0, fault.start) + 1, "it is not UTF-8") from None
    if not text.startswith(HEAD):
        raise _error(path, *_fault_of_head(text))
    body = text[len(HEAD) :]
    line = HEAD.count("\n") + 2
    if not body:
        return Lockfile()
    if body[0] != "\n" or body[-1] != "\n":
        raise _error(path, line - 1 if body[0] != "\n" else text.count("\n") + 1, "a line break is missing")
    skills, targets = [], []
    last: tuple[object, ...] = ()
    for part in body[1:-1].split("\n\n"):
        block = _block(part.split("\n"), line, path)
        if isinstance(block, LockedSkill):
            skills.append(block)
            place: tuple[object, ...] = (0, block.key)
        else:
            targets.append(block)
            place = (1, block.key)
        if place <= last:
            problem = "is there twice" if place == last else "is not in its place: blocks are sorted by name"
            raise _error(path, line, f"{_named(block)} {problem}")
        last = place
        line += part.count("\n") + 2
    return Lockfile(skills=tuple(skills), targets=tuple(targets))


def _block(lines: list[str], first: int, path: str | None) -> LockedSkill | LockedTarget:
    """Read one block, which begins at line `first`."""
    keys = _KEYS.get(lines[0])
    if keys is None:
        raise _error(path, first, _fault_of_line(lines[0]) or f"expected {_SKILL} or {_TARGET}")
    values = {}
    for number, line in enumerate(lines[1:], first + 1):
        key, _, value = line.partition(" = ")
        if key not in keys:
            raise _error(path, number, _fault_of_line(line) or f"{key!r} is no key of a lock")
        try:
            values[key] = _decode(value)
        except ValueError:
            raise _error(path, number, _fault_of_line(line) or f"the value of {key} cannot be read") from None
    seal = values.pop("seal", None)
    text = "\n".join(lines[:-1]) + "\n"
    if seal != f"sha256:{_seal_of(text.encode()).hexdigest()}":
        raise _error(path, first + len(lines) - 1, _NOT_SEALED)
    try:
        block: LockedSkill | LockedTarget = (
            _convert(values, LockedSkill) if lines[0] == _SKILL else _convert(values, LockedTarget)
        )
    except ValueError as fault:
        raise _error(path, first, str(fault)) from None
    if (reason := fault_of(block)) is not None:
        at = next((at for at, line in enumerate(lines) if line.startswith(f"{reason[0]} = ")), 0)
        raise _error(path, first + at, f"{reason[0]}: {reason[1]}")
    if (written := _text_of(block)) != text:
        pairs = enumerate(zip(lines, written.split("\n"), strict=False))
        raise _error(path, first + next(at for at, (one, other) in pairs if one != other), _NOT_CANONICAL)
    return block


def _text_of(block: LockedSkill | LockedTarget) -> str:
    return _skill_text(block) if isinstance(block, LockedSkill) else _target_text(block)


def _skill_text(skill: LockedSkill) -> str:
    lines = [_SKILL]
    for key in LockedSkill.__struct_fields__:
        value = getattr(skill, key)
        if isinstance(value, str):
            if value:
                lines.append(f"{key} = {_quoted(value)}")
        elif key == "order":
            lines.append(f"order = {value}")
        elif value is True:
            lines.append(f"{key} = true")
        elif value:
            lines.append(f"{key} = [{', '.join(map(_quoted, value))}]")
    lines.append("")
    return "\n".join(lines)


def _target_text(target: LockedTarget) -> str:
    return f"{_TARGET}\nagent = {_quoted(target.agent)}\nmode = {_quoted(target.mode)}\n"


def _quoted(text: str) -> str:
    return f'"{_SPECIAL.sub(_escaped, text)}"'


def _escaped(match: re.Match[str]) -> str:
    sign = match[0]
    return f"\\{sign}" if sign in '"\\' else f"\\u{ord(sign):04x}"


def _fault_of_head(text: str) -> tuple[int, str]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if (reason := _fault_of_line(line)) is not None:
            return number, reason
    if (found := re.search(r"^version = ([0-9]+)$", text, re.MULTILINE)) is not None and int(found[1]) > VERSION:
        return 2, f"it has version {found[1]}, which a newer prowess wrote; update prowess to read it"
    expected = HEAD.split("\n")
    number = next((at for at, (one, other) in enumerate(zip(lines, expected, strict=False)) if one != other), 0)
    return number + 1, f"expected {expected[number]!r}; this is no lock of prowess, so remove it or restore it"


def _fault_of_line(line: str) -> str | None:
    if line.startswith(CONFLICT):
        return "it has conflict markers of git; run `prowess lock`"
    if line.endswith("\r"):
        return "it has line ends of Windows; run `prowess lock setup-git`, and check the file out again"
    return None


def _named(block: LockedSkill | LockedTarget) -> str:
    return f"skill {block.name!r}" if isinstance(block, LockedSkill) else f"target {block.agent!r}"


def _error(path: str | None, line: int, reason: str) -> LockfileError:
    return LockfileError(Location(path=path, line=line), reason)
