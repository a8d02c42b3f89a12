"""skills.lock.json of skills-oci: skills in container registries, by the digest of their manifest.

Source: salaboy/skills-oci, README and `pkg/skill/types.go`.
"""

from __future__ import annotations

from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.lockfile.foreign.entries import ForeignLock, ForeignSkill, items_of, needed_text, refuse, table_of, text_of

LOCK = "skills.lock.json"
_VERSION = 1


def read_oci_lock(data: bytes, path: str) -> ForeignLock:
    """Read skills.lock.json. Raises LockfileError."""
    try:
        whole = table_of(strict_json(data, LOCK), path, "the lock")
    except StrictJsonError as fault:
        refuse(path, str(fault))
    if whole.get("lockfileVersion") != _VERSION:
        refuse(path, f"its lockfileVersion is {whole.get('lockfileVersion')!r}; {_VERSION} can be read")
    skills, unmapped = [], []
    for entry in items_of(whole.get("skills"), path, "skills"):
        name = needed_text(entry, "name", path, "a skill")
        what = f"skill {name!r}"
        source = table_of(entry.get("source"), path, f"source of {what}")
        digest = needed_text(source, "digest", path, what)
        repository = needed_text(source, "repository", path, what)
        skills.append(
            ForeignSkill(
                name=name,
                source=f"oci://{needed_text(source, 'registry', path, what)}/{repository}",
                state=digest,
                is_pinned=True,
                version=text_of(source, "tag", path, what),
                artifact=digest,
            )
        )
        if entry.get("additionalInstalledPaths"):
            unmapped.append(f"further directories of {what}; give agents as --target")
    return ForeignLock(format=LOCK, skills=tuple(skills), unmapped=tuple(unmapped))
