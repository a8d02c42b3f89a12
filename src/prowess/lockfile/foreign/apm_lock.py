"""apm.lock.yaml, versions 1 and 2: the skills of the packages that `apm` installed.

A package can have several skills and other parts. Its skills are those that were deployed, which the lock lists with
their files.

Source: microsoft/apm 0.35.0, lockfile specification; OpenAPM 0.1, section 5.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from prowess.lockfile.foreign.entries import (
    ForeignLock,
    ForeignSkill,
    RecordedHash,
    items_of,
    needed_text,
    refuse,
    table_of,
    text_of,
)
from prowess.lockfile.foreign.yaml_lock import texts_of, yaml_table

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK = "apm.lock.yaml"
_VERSIONS = frozenset({"1", "2"})
_DEPLOYED = re.compile(r"(?P<folder>(?:[^/]+/)*skills)/(?P<name>[^/]+)/(?P<path>.+)")
_OTHERS = {
    "mcp_servers": "MCP servers",
    "lsp_servers": "LSP servers",
    "local_deployed_files": "files of the project itself",
}


def read_apm_lock(data: bytes, path: str) -> ForeignLock:
    """Read apm.lock.yaml. Raises LockfileError."""
    whole = yaml_table(data, path)
    if (version := whole.get("lockfile_version", "1")) not in _VERSIONS:
        refuse(path, f"its lockfile_version is {version!r}; 1 and 2 can be read")
    unmapped = [f"{what} ({key})" for key, what in _OTHERS.items() if whole.get(key)]
    skills: list[ForeignSkill] = []
    for entry in items_of(whole.get("dependencies"), path, "dependencies"):
        name = needed_text(entry, "repo_url", path, "a dependency")
        found = _skills(name, entry, path)
        skills += found
        kind = text_of(entry, "package_type", path, name)
        if not found:
            unmapped.append(f"package {name}, of which no skill is deployed")
        elif kind not in {"claude_skill", "skill_bundle"}:
            unmapped.append(f"what package {name} has beside skills")
    return ForeignLock(format=LOCK, skills=tuple(skills), unmapped=tuple(unmapped))


def _skills(package: str, entry: Mapping[str, object], path: str) -> list[ForeignSkill]:
    deployed: dict[str, dict[str, dict[str, str]]] = {}  # by skill and directory of an agent: hash by path
    hashes = table_of(entry.get("deployed_file_hashes") or {}, path, f"deployed_file_hashes of {package}")
    for file in texts_of(entry.get("deployed_files"), path, f"deployed_files of {package}"):
        if (found := _DEPLOYED.fullmatch(file)) is not None:
            files = deployed.setdefault(found["name"], {}).setdefault(found["folder"], {})
            files[found["path"]] = str(hashes.get(file, ""))
    inside = (text_of(entry, "virtual_path", path, package) or "").strip("/")
    is_skill = len(deployed) == 1 and text_of(entry, "package_type", path, package) == "claude_skill"
    whole = _hashes_of_package(entry, path, package) if is_skill else ()
    source, state, artifact = _source(package, entry, path)
    return [
        ForeignSkill(
            name=name,
            source=source,
            state=state,
            is_pinned=state is not None and artifact is None,
            path=inside if is_skill else None,
            version=_version(entry, path, package),
            artifact=artifact,
            hashes=(*whole, *_hashes_of_files(copies)),
            is_requested=text_of(entry, "resolved_by", path, package) is None,
        )
        for name, copies in deployed.items()
    ]


def _hashes_of_files(copies: Mapping[str, Mapping[str, str]]) -> tuple[RecordedHash, ...]:
    """Return the hashes of the files of one copy, if each file has one."""
    complete = [files for files in copies.values() if files and all(files.values())]
    return (RecordedHash(kind="apm-files", files=complete[0]),) if complete else ()


def _hashes_of_package(entry: Mapping[str, object], path: str, package: str) -> tuple[RecordedHash, ...]:
    found = []
    if (content := text_of(entry, "content_hash", path, package)) is not None:
        found.append(RecordedHash(kind="apm-package", expected=content))
    if (tree := text_of(entry, "tree_sha256", path, package)) is not None:
        found.append(RecordedHash(kind="apm-tree", expected=tree))
    return tuple(found)


def _version(entry: Mapping[str, object], path: str, package: str) -> str | None:
    version = text_of(entry, "version", path, package)
    return None if version == "unknown" else version


def _source(package: str, entry: Mapping[str, object], path: str) -> tuple[str, str | None, str | None]:
    """Return the reference, the state, and the digest of the artifact if there is one."""
    match text_of(entry, "source", path, package):
        case "local":
            local = needed_text(entry, "local_path", path, package)
            return (local if local.startswith(("./", "../", "/")) else f"./{local}"), None, None
        case "registry":
            digest = needed_text(entry, "resolved_hash", path, package)
            return needed_text(entry, "resolved_url", path, package), None, digest
        case None | "git":
            commit = needed_text(entry, "resolved_commit", path, package)
            return _repository(package, entry, path), commit, None
        case other:
            return refuse(path, f"package {package} has the source {other!r}, which is not known")


def _repository(package: str, entry: Mapping[str, object], path: str) -> str:
    place = text_of(entry, "materialization_repo_url", path, package) or package
    if "://" in place:
        return place if place.startswith("git+") else f"git+{place}"
    host = text_of(entry, "host", path, package)
    first = place.partition("/")[0]
    if host is None and "." in first:
        host, place = first.lower(), place.partition("/")[2]
    if posixpath.normpath(place).startswith(".."):
        refuse(path, f"package {package} is no repository")
    port = text_of(entry, "port", path, package)
    if host in {None, "github.com"} and port is None:
        return place
    return f"git+https://{host or 'github.com'}{f':{port}' if port else ''}/{place}"
