"""The values of a lock: the installed skills, the requests for them, and which agents read them.

The request (`source`, `requested`) is kept beside the answer, so that no second file can disagree with the lock.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

CopyMode = Literal["copy", "link"]

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MODES = frozenset({"copy", "link"})
_MOST_CHARACTERS = 4096  # of one value
_MOST_NAME_BYTES = 255  # a name is a directory of the store
_MOST_ORDER = 2**53  # the largest integer that every reader of TOML and JSON keeps


class LockedSkill(Struct, frozen=True, kw_only=True):
    """One installed skill: the request and the choice. None and False mean that the key is absent.

    `name` and `package` together are unique in a lock; `package` is empty if the source has no name for itself.
    `source` is the reference as it was given, without a version; a local directory is relative to the lock. `path` is
    the skill's directory in the source. `tree` is the digest of the skill's files, `artifact` the SHA-256 of the bytes
    as they were fetched. `requires` are demands as `name@range`, sorted. `order` counts the installations: of equal
    names the highest one is used. `requested` is the range that a person asked for, or None for a dependency.
    `unsigned` means that the person accepted a skill without signature.
    """

    name: str
    package: str = ""
    version: str | None = None
    source: str
    path: str | None = None
    commit: str | None = None
    artifact: str | None = None
    tree: str
    requires: tuple[str, ...] = ()
    order: int = 0
    requested: str | None = None
    signer: str | None = None
    unsigned: bool = False

    def __post_init__(self) -> None:
        """Sort `requires`, so that equal demands have equal texts."""
        if self.requires:
            force_setattr(self, "requires", tuple(sorted(set(self.requires))))

    @property
    def key(self) -> tuple[str, str]:
        """Name and package, which no other skill of a lock has."""
        return self.name, self.package


class LockedTarget(Struct, frozen=True, kw_only=True):
    """An agent that reads the installed skills in its own directory, as copies or through links."""

    agent: str
    mode: CopyMode = "copy"

    @property
    def key(self) -> str:
        """The agent, which no other target of a lock has."""
        return self.agent


class Lockfile(Struct, frozen=True, kw_only=True):
    """The content of one lock. Skills are sorted by name and package, targets by agent.

    Raises:
        ValueError: two skills have the same name and package, or two targets the same agent.
    """

    skills: tuple[LockedSkill, ...] = ()
    targets: tuple[LockedTarget, ...] = ()

    def __post_init__(self) -> None:
        """Sort the blocks and refuse duplicates."""
        keys = [skill.key for skill in self.skills]
        agents = [target.key for target in self.targets]
        if keys != (in_order := sorted(set(keys))):
            if len(in_order) < len(keys):
                name, package = next(key for key in in_order if keys.count(key) > 1)
                raise ValueError(f"skill {name!r}{f' of package {package!r}' if package else ''} is listed twice")
            force_setattr(self, "skills", sorted(self.skills, key=lambda skill: skill.key))
        if agents != (agents_in_order := sorted(set(agents))):
            if len(agents_in_order) < len(agents):
                twice = next(agent for agent in agents_in_order if agents.count(agent) > 1)
                raise ValueError(f"target {twice!r} is listed twice")
            force_setattr(self, "targets", sorted(self.targets, key=lambda target: target.key))
        force_setattr(self, "skills", tuple(self.skills))
        force_setattr(self, "targets", tuple(self.targets))

    def named(self, name: str) -> tuple[LockedSkill, ...]:
        """Return the skills of this name, in the order of their installation: the last one is used."""
        return tuple(sorted((s for s in self.skills if s.name == name), key=lambda skill: (skill.order, skill.package)))

    def find(self, name: str, package: str = "") -> LockedSkill | None:
        """Return the skill of this name and package, or None."""
        return next((skill for skill in self.skills if skill.key == (name, package)), None)


def fault_of(block: LockedSkill | LockedTarget) -> tuple[str, str] | None:
    """Return the key and the fault of the first value that a lock cannot hold, or None.

    Names become directories of the store and paths are looked up in sources, so a value that could lead out of one is a
    fault, as is a digest that is none.
    """
    if isinstance(block, LockedTarget):
        if block.mode not in _MODES:
            return "mode", f"{block.mode!r} is neither copy nor link"
        return _fault_of_texts((("agent", block.agent),)) or _fault_of_name("agent", block.agent)
    optional = (
        ("package", block.package or None),
        ("version", block.version),
        ("path", block.path),
        ("requested", block.requested),
        ("signer", block.signer),
    )
    texts = (("name", block.name), ("source", block.source), *optional, *(("requires", one) for one in block.requires))
    return _fault_of_texts(texts) or _fault_of_name("name", block.name) or _fault_of_facts(block)


def _fault_of_texts(texts: tuple[tuple[str, str | None], ...]) -> tuple[str, str] | None:
    for key, text in texts:
        if text is None:
            continue
        if not text or len(text) > _MOST_CHARACTERS:
            return key, f"it has {len(text)} characters; 1 to {_MOST_CHARACTERS} are allowed"
        if text != text.strip():
            return key, "it begins or ends with a blank"
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            return key, "it is not Unicode text"
    return None


def _fault_of_name(key: str, name: str) -> tuple[str, str] | None:
    if name in {".", ".."} or any(sign in "/\\" or sign < " " or sign == "\x7f" for sign in name):
        return key, f"{name!r} is not the name of a directory"
    if len(name.encode()) > _MOST_NAME_BYTES:
        return key, f"it is longer than {_MOST_NAME_BYTES} bytes"
    return None


def _fault_of_facts(skill: LockedSkill) -> tuple[str, str] | None:
    for key, digest in (("tree", skill.tree), ("artifact", skill.artifact)):
        if digest is not None and _DIGEST.fullmatch(digest) is None:
            return key, f"{digest!r} is not sha256: and 64 lower-case hexadecimal digits"
    if skill.commit is not None and _COMMIT.fullmatch(skill.commit) is None:
        return "commit", f"{skill.commit!r} is not 40 or 64 lower-case hexadecimal digits"
    if skill.path is not None and not _stays_inside(skill.path):
        return "path", f"{skill.path!r} is not a path inside the source"
    if not 0 <= skill.order <= _MOST_ORDER:
        return "order", f"{skill.order} is not between 0 and {_MOST_ORDER}"
    return None


def _stays_inside(path: str) -> bool:
    return "\0" not in path and "\\" not in path and not {"", ".", ".."} & set(path.split("/"))
