"""The index of a site: versions 0.2.0 and 0.1 of the discovery index for Agent Skills.

Version 0.2.0 has one artifact and its digest for each skill. Prowess adds two keys that other readers ignore: `version`
of the artifact, and `versions`, a list with each artifact that was ever published. A skill of which every version was
yanked is in a list `yanked` beside `skills`, where other readers do not see it. An entry that is not valid is left
out with a sentence; an added key that is not valid is ignored. An index without `$schema` has version 0.1: it lists the
files of each skill, without digests.

Source: cloudflare/agent-skills-discovery-rfc.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from prowess._internal.files.contained import check_relative
from prowess._internal.text.canonical_json import is_digest
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import DistributionError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
INDEX_PATH = ".well-known/agent-skills/index.json"
LEGACY_INDEX_PATH = ".well-known/skills/index.json"
MAX_DESCRIPTION = 1024
_NAME = re.compile(r"(?!-)(?!.*--)[a-z0-9-]{1,64}(?<!-)")
_VERSION = re.compile(r"[^\s\x00-\x1f\x7f-][^\x00-\x1f\x7f]{0,249}")
_SHOWN = 60

ArtifactType = Literal["archive", "skill-md"]


class IndexArtifact(Struct, frozen=True, kw_only=True):
    """One version of a skill: a file on the site.

    `url` may be relative to the index. `version` and `requires` are None if the index does not state them.
    """

    type: ArtifactType
    url: str
    digest: str
    version: str | None = None
    requires: tuple[str, ...] | None = None
    yanked: bool = False


class IndexEntry(Struct, frozen=True, kw_only=True):
    """One skill. The first of `artifacts` is the one that readers of 0.2.0 use."""

    name: str
    description: str
    artifacts: tuple[IndexArtifact, ...]


class LegacyEntry(Struct, frozen=True, kw_only=True):
    """One skill of version 0.1. `files` are paths relative to the directory `name` beside the index."""

    name: str
    description: str
    files: tuple[str, ...]


class SkillIndex(Struct, frozen=True, kw_only=True):
    """An index. `legacy` is empty for version 0.2.0 and `entries` for version 0.1. `problems` are sentences."""

    entries: tuple[IndexEntry, ...] = ()
    legacy: tuple[LegacyEntry, ...] = ()
    problems: tuple[str, ...] = ()


def parse_index(data: bytes, what: str) -> SkillIndex:
    """Read an index. `what` is its address for messages.

    Raises:
        DistributionError: it is no index, or one of a version that Prowess does not know.
    """
    try:
        found = strict_json(data, what)
    except StrictJsonError as fault:
        raise DistributionError(f"{what} is not an index of skills: {fault}") from None
    if not isinstance(found, dict) or not isinstance(skills := found.get("skills"), list):
        raise DistributionError(f"{what} is not an index of skills: it has no list `skills`")
    if "$schema" not in found:
        return _legacy(skills)
    if found["$schema"] != SCHEMA:
        shown = printable_line(str(found["$schema"])[:_SHOWN])
        raise DistributionError(f"{what} has the unknown schema {shown!r}; Prowess knows {SCHEMA}")
    entries: dict[str, IndexEntry] = {}
    problems: list[str] = []
    yanked = found.get("yanked")
    for number, row in enumerate([*skills, *(yanked if isinstance(yanked, list) else ())], 1):
        if isinstance(entry := _entry(row), str):
            problems.append(f"skill {number} of the index{_called(row)}: left out, because {entry}")
        elif entry.name in entries:
            problems.append(f"skill {number} of the index{_called(row)}: left out, because the name occurs twice")
        else:
            entries[entry.name] = entry
    return SkillIndex(entries=tuple(entries.values()), problems=tuple(problems))


def render_index(entries: Sequence[IndexEntry]) -> bytes:
    """Return the text of an index 0.2.0, sorted by name."""
    rows: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for entry in sorted(entries, key=lambda entry: entry.name):
        rows[all(artifact.yanked for artifact in entry.artifacts)].append(_row(entry))
    whole = {"$schema": SCHEMA, "skills": rows[False], **({"yanked": rows[True]} if rows[True] else {})}
    return f"{json.dumps(whole, ensure_ascii=False, indent=2)}\n".encode()


def has_index(directory: str) -> bool:
    """Return whether a directory has the layout of a site with an index."""
    return os.path.isfile(os.path.join(directory, INDEX_PATH))


def is_index_name(name: str) -> bool:
    """Return whether the index allows a name: ASCII lower case, digits and single hyphens, at most 64."""
    return _NAME.fullmatch(name) is not None


def _row(entry: IndexEntry) -> dict[str, Any]:
    versions = [{"type": artifact.type, **_artifact_row(artifact)} for artifact in entry.artifacts]
    return {"name": entry.name, "description": entry.description, **versions[0], "versions": versions}


def _artifact_row(artifact: IndexArtifact) -> dict[str, Any]:
    row: dict[str, Any] = {"url": artifact.url, "digest": artifact.digest}
    if artifact.version is not None:
        row["version"] = artifact.version
    if artifact.requires is not None:
        row["requires"] = list(artifact.requires)
    if artifact.yanked:
        row["yanked"] = True
    return row


def _called(row: object) -> str:
    name = row.get("name") if isinstance(row, dict) else None
    return f" ({printable_line(name[:_SHOWN])})" if isinstance(name, str) else ""


def _entry(row: object) -> IndexEntry | str:
    """Return the entry, or what is wrong with it."""
    if isinstance(fault := _named(row), str):
        return fault
    first = _artifact(fault, fault.get("type"))
    if isinstance(first, str):
        return first
    artifacts = [first]
    known = {first.version, first.digest}  # a version is known only once, and a digest without version too
    versions = fault.get("versions")
    for listed in versions if isinstance(versions, list) else ():  # other publishers may mean something else by it
        artifact = _artifact(listed, listed.get("type", first.type)) if isinstance(listed, dict) else "is no object"
        if not isinstance(artifact, str) and (artifact.version or artifact.digest) not in known:
            artifacts.append(artifact)
            known |= {artifact.version, artifact.digest}
    return IndexEntry(name=fault["name"], description=fault["description"], artifacts=tuple(artifacts))


def _named(row: object) -> dict[str, Any] | str:
    if not isinstance(row, dict):
        return "it is no object"
    name, description = row.get("name"), row.get("description")
    if not isinstance(name, str) or not is_index_name(name):
        return "`name` is missing or not valid"
    if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION:
        return f"`description` is missing, empty or longer than {MAX_DESCRIPTION} characters"
    return row


def _artifact(row: dict[str, Any], kind: object) -> IndexArtifact | str:
    url, digest, version, requires = row.get("url"), row.get("digest"), row.get("version"), row.get("requires")
    if kind not in {"archive", "skill-md"}:
        return "`type` is neither archive nor skill-md"
    if not isinstance(url, str) or not url or not url.isprintable() or " " in url:
        return "`url` is missing or not valid"
    if not isinstance(digest, str) or not is_digest(digest):
        return "`digest` is not sha256: and 64 lower-case hexadecimal digits"
    if not isinstance(version, str) or _VERSION.fullmatch(version) is None:
        version = None
    if not isinstance(requires, list) or not all(isinstance(item, str) for item in requires):
        requires = None
    return IndexArtifact(
        type="archive" if kind == "archive" else "skill-md",
        url=url,
        digest=digest,
        version=version,
        requires=None if requires is None else tuple(requires),
        yanked=row.get("yanked") is True,
    )


def _legacy(skills: list[Any]) -> SkillIndex:
    entries: dict[str, LegacyEntry] = {}
    problems: list[str] = []
    for number, row in enumerate(skills, 1):
        fault = _named(row)
        if not isinstance(fault, str):
            files = _files(fault.get("files"))
            if not isinstance(files, str) and fault["name"] not in entries:
                entry = LegacyEntry(name=fault["name"], description=fault["description"], files=files)
                entries[entry.name] = entry
                continue
            fault = files if isinstance(files, str) else "the name occurs twice"
        problems.append(f"skill {number} of the index{_called(row)}: left out, because {fault}")
    return SkillIndex(legacy=tuple(entries.values()), problems=tuple(problems))


def _files(listed: object) -> tuple[str, ...] | str:
    if not isinstance(listed, list) or not listed or not all(isinstance(path, str) for path in listed):
        return "`files` is not a list of paths"
    if len(set(listed)) != len(listed):
        return "`files` has one path twice"
    try:
        for path in listed:
            check_relative(path)
    except UnsafePathError as fault:
        return f"`files` has the path {printable_line(fault.path[:_SHOWN])!r}: {fault.reason}"
    if "SKILL.md" not in listed:
        return "`files` does not contain SKILL.md"
    return tuple(listed)
