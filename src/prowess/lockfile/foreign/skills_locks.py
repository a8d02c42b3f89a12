"""Locks of the npm client `skills`: skills-lock.json (version 1) of a project, and .skill-lock.json (version 3).

The second one is for a user and is shared with `gh skill`. Neither has commits, only a hash of the skill's files and,
if one was given, a branch or tag.

Source: `skills` 1.7.4.
"""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.lockfile.foreign.entries import (
    ForeignLock,
    ForeignSkill,
    RecordedHash,
    needed_text,
    refuse,
    table_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROJECT_LOCK, USER_LOCK = "skills-lock.json", ".skill-lock.json"
_VERSIONS = {PROJECT_LOCK: 1, USER_LOCK: 3}
_TREE = re.compile(r"[0-9a-f]{40}")


def read_skills_lock(data: bytes, path: str, name: str) -> ForeignLock:
    """Read skills-lock.json or .skill-lock.json, as `name` has it. Raises LockfileError."""
    try:
        whole = table_of(strict_json(data, name), path, "the lock")
    except StrictJsonError as fault:
        refuse(path, str(fault))
    if whole.get("version") != _VERSIONS[name]:
        refuse(path, f"its version is {whole.get('version')!r}; {_VERSIONS[name]} can be read")
    skills = table_of(whole.get("skills", {}), path, "skills")
    entries = tuple(_skill(key, table_of(entry, path, f"skill {key!r}"), path, name) for key, entry in skills.items())
    unmapped = []
    if whole.get("lastSelectedAgents"):
        unmapped.append("the agents that were selected last; give them as --target")
    if any(table_of(entry, path, "a skill").get("subagents") for entry in skills.values()):
        unmapped.append("the sub-agents of a skill")
    return ForeignLock(format=name, skills=entries, unmapped=tuple(unmapped))


def _skill(name: str, entry: Mapping[str, object], path: str, lock: str) -> ForeignSkill:
    what = f"skill {name!r}"
    document = text_of(entry, "skillPath", path, what)
    recorded = text_of(entry, "computedHash" if lock == PROJECT_LOCK else "skillFolderHash", path, what)
    return ForeignSkill(
        name=name,
        source=_source(entry, path, what),
        state=text_of(entry, "pinnedRef", path, what) or text_of(entry, "ref", path, what),
        path=None if document is None else posixpath.dirname(document),
        version=text_of(entry, "version", path, what),
        hashes=tuple(_hashes(recorded, text_of(entry, "wellKnownDigest", path, what))),
    )


def _hashes(recorded: str | None, of_site: str | None) -> Iterator[RecordedHash]:
    if recorded is not None:
        yield RecordedHash(kind="git-tree" if _TREE.fullmatch(recorded) else "skills", expected=recorded)
    if of_site is not None:
        yield RecordedHash(kind="skills-site", expected=of_site)


def _source(entry: Mapping[str, object], path: str, what: str) -> str:
    source = needed_text(entry, "source", path, what)
    kind = needed_text(entry, "sourceType", path, what)
    url = text_of(entry, "sourceUrl", path, what)
    match kind:
        case "github":
            return source
        case "local":
            return source if source.startswith(("./", "../", "/")) or source in {".", ".."} else f"./{source}"
        case "node_modules":
            return f"npm:{source}"
        case "gitlab" | "git" | "azure":
            return f"git+{url or source}" if "://" in (url or source) else (url or source)
        case "well-known" | "download":
            return text_of(entry, "sourceBaseUrl", path, what) or url or source
        case _:
            return refuse(path, f"{what} has the source type {kind!r}, which is not known")


class ProjectEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One skill of skills-lock.json, with the client's names of keys in the client's order."""

    source: str
    sourceUrl: str | None = None  # noqa: N815 -- the client's name
    ref: str | None = None
    sourceType: str  # noqa: N815 -- as above
    skillPath: str | None = None  # noqa: N815 -- as above
    version: str | None = None
    computedHash: str = ""  # noqa: N815 -- as above

    def with_hash(self, digest: str) -> ProjectEntry:
        """Return the entry with the hash of the skill's files."""
        return replace(self, computedHash=digest)


def render_skills_lock(entries: Mapping[str, ProjectEntry]) -> bytes:
    """Return the text of skills-lock.json as the client writes it: sorted by UTF-16, two blanks, one final line end."""
    names = sorted(entries, key=lambda name: name.encode("utf-16-be"))
    whole = {"version": _VERSIONS[PROJECT_LOCK], "skills": {name: to_builtins(entries[name]) for name in names}}
    return (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode()
