"""Versions of a git repository: its tags. `v1.2.0` is about every skill, `NAME-v1.2.0` and `NAME@1.2.0` about one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import LimitExceededError
from prowess.lockfile.version_ranges import is_prerelease, newest_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TAGS, _PEELED = "refs/tags/", "^{}"
_MAX_TAG = 255  # characters; git cannot store a longer name as a file
_MAX_NAMES = 10_000  # skills with tags of their own
_SEMANTIC = r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
_VERSION_TAG = re.compile(rf"(?:(?P<name>[^@/]+?)(?:-v|-|@v?|/v?))?v?(?P<version>{_SEMANTIC})")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class RepositoryState(Struct, frozen=True, kw_only=True):
    """One commit to read skills from. `version` is that of its tag; `only` is the one skill that the tag is about.

    `oid` is the annotated tag if there is one, else the commit.
    """

    commit: str
    oid: str
    version: str | None = None
    only: str | None = None


class RepositoryVersions:
    """The states of a repository by version. `name` is the repository's name, which tags may begin with."""

    def __init__(self, refs: Mapping[str, str], name: str) -> None:
        self._refs = refs
        self._tagged = [
            RepositoryState(commit=refs.get(ref + _PEELED, oid), oid=oid, version=found["version"], only=only)
            for ref, oid in refs.items()
            if ref.startswith(_TAGS) and (found := _of_tag(ref.removeprefix(_TAGS))) is not None
            for only in (None if found["name"] == name else found["name"],)
        ]

    def versions(self) -> tuple[str, ...]:
        """Return all versions, the newest first."""
        found = {state.version for state in self._tagged}
        return tuple(version for version in newest_first(found) if version is not None) if found else ()

    def newest(self) -> tuple[RepositoryState, ...]:
        """Return the states with the newest version of each skill, those that are about all skills first.

        A prerelease is the newest version only if there is no other one.

        Raises:
            LimitExceededError: more than 10 000 skills have tags of their own.
        """
        by_name: dict[str | None, list[RepositoryState]] = {}
        for state in self._tagged:
            by_name.setdefault(state.only, []).append(state)
        if len(by_name) > _MAX_NAMES:
            raise LimitExceededError("skills with tags of their own in the repository", _MAX_NAMES, len(by_name))
        whole = _newest(by_name.pop(None, ())) or self.named("HEAD")
        return (*whole, *(state for name in sorted(filter(None, by_name)) for state in _newest(by_name[name])))

    def named(self, version: str) -> tuple[RepositoryState, ...]:
        """Return the states with this version, or the one that a tag, a branch, HEAD or a full commit id names."""
        if found := tuple(state for state in self._tagged if state.version == version):
            return tuple(sorted(found, key=lambda state: state.only or ""))
        for ref in (f"{_TAGS}{version}", f"refs/heads/{version}", *(("HEAD",) if version == "HEAD" else ())):
            if (oid := self._refs.get(ref)) is not None:
                commit = self._refs.get(ref + _PEELED, oid)
                return (next((s for s in self._tagged if s.oid == oid), RepositoryState(commit=commit, oid=oid)),)
        if _COMMIT.fullmatch(version) is not None:
            return tuple(state for state in self._tagged if state.commit == version) or (
                RepositoryState(commit=version, oid=version),
            )
        return ()


def _of_tag(tag: str) -> re.Match[str] | None:
    return _VERSION_TAG.fullmatch(tag) if len(tag) <= _MAX_TAG else None


def names_version(tag: bytes, version: str | None) -> bool:
    """Return whether a tag object itself names this version. An old signed tag can be served under a new name."""
    headers = tag.partition(b"\n\n")[0].split(b"\n")
    names = [line.removeprefix(b"tag ").decode("utf-8", "replace") for line in headers if line.startswith(b"tag ")]
    found = _of_tag(names[0]) if len(names) == 1 else None
    return found is not None and found["version"] == version


def _newest(states: Iterable[RepositoryState]) -> tuple[RepositoryState, ...]:
    by_version = {state.version: state for state in states}
    if not by_version:
        return ()
    releases = [version for version in by_version if not is_prerelease(version)]
    return (by_version[newest_first(releases or by_version)[0]],)
