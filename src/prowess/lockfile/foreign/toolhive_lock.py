"""toolhive.lock.yaml: skills of `thv skill`, from container registries and repositories of git.

Source: stacklok/toolhive, `pkg/skills/lockfile`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.lockfile.foreign.entries import (
    ForeignLock,
    ForeignSkill,
    RecordedHash,
    items_of,
    needed_text,
    refuse,
    text_of,
)
from prowess.lockfile.foreign.yaml_lock import is_true, texts_of, yaml_table

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK = "toolhive.lock.yaml"
_GIT = re.compile(r"git://(?P<place>[^@#]+)(?:@(?P<ref>[^#]*))?(?:#(?P<path>.*))?")
_OCI = re.compile(r"(?P<place>[^@]+?)(?::(?P<tag>[^:/@]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")


def read_toolhive_lock(data: bytes, path: str) -> ForeignLock:
    """Read toolhive.lock.yaml. Raises LockfileError."""
    whole = yaml_table(data, path)
    if whole.get("version", "1") != "1":
        refuse(path, f"its version is {whole.get('version')!r}; 1 can be read")
    entries = items_of(whole.get("skills"), path, "skills")
    unmapped = ["plugins"] if whole.get("plugins") else []
    requires: dict[str, list[str]] = {}
    for entry in entries:
        for parent in texts_of(entry.get("requiredBy"), path, "requiredBy"):
            requires.setdefault(parent, []).append(needed_text(entry, "name", path, "a skill"))
    skills = []
    for entry in entries:
        name = needed_text(entry, "name", path, "a skill")
        if entry.get("provenance"):
            unmapped.append(f"the signer of skill {name!r}; `prowess verify` checks signatures anew")
        skills.append(_skill(name, entry, path, tuple(requires.get(name, ()))))
    return ForeignLock(format=LOCK, skills=tuple(skills), unmapped=tuple(unmapped))


def _skill(name: str, entry: Mapping[str, object], path: str, requires: tuple[str, ...]) -> ForeignSkill:
    what = f"skill {name!r}"
    digest = needed_text(entry, "digest", path, what)
    content = text_of(entry, "contentDigest", path, what)
    resolved = text_of(entry, "resolvedReference", path, what) or needed_text(entry, "source", path, what)
    inside: str | None = None
    if (git := _GIT.fullmatch(resolved)) is not None:
        source, inside = f"git+https://{git['place'].rstrip('/')}", (git["path"] or "").strip("/")
    elif "/" in resolved and (oci := _OCI.fullmatch(resolved)) is not None:
        source = f"oci://{oci['place']}"
    else:
        refuse(path, f"{what} has the reference {resolved!r}, which is neither git:// nor one of a registry")
    return ForeignSkill(
        name=name,
        source=source,
        state=digest,
        is_pinned=True,
        path=inside,
        version=text_of(entry, "version", path, what),
        artifact=digest if digest.startswith("sha256:") else None,
        hashes=() if content is None else (RecordedHash(kind="toolhive", expected=content),),
        requires=requires,
        is_requested=is_true(entry.get("explicit")),
        unsigned=is_true(entry.get("unsigned")),
    )
