"""harness.lock of hlock: the skills of an agent's setup. All else in it has no counterpart.

Source: hlock 0.8.0.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from prowess.lockfile.foreign.entries import (
    ForeignLock,
    ForeignSkill,
    RecordedHash,
    items_of,
    needed_text,
    refuse,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK = "harness.lock"
_VERSION = 1
_OTHERS = {
    "llm": "models",
    "tool": "MCP servers",
    "instructions": "instructions",
    "native": "native settings",
    "package": "packages",
    "runtime": "runtimes",
}


def read_harness_lock(data: bytes, path: str) -> ForeignLock:
    """Read harness.lock. Raises LockfileError."""
    try:
        whole = tomllib.loads(data.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        refuse(path, f"it is not TOML ({fault})")
    if whole.get("lock-version") != _VERSION:
        refuse(path, f"its lock-version is {whole.get('lock-version')!r}; {_VERSION} can be read")
    unmapped = [f"{what} ([[{key}]])" for key, what in _OTHERS.items() if whole.get(key)]
    skills = []
    for entry in items_of(whole.get("skill"), path, "skill"):
        name = needed_text(entry, "name", path, "a skill")
        if entry.get("enabled") is False:
            unmapped.append(f"skill {name!r}, which is not enabled")
        elif text_of(entry, "provided-by", path, f"skill {name!r}") is not None:
            unmapped.append(f"skill {name!r}, which a plugin provides")
        else:
            skills.append(_skill(name, entry, path))
    return ForeignLock(format=LOCK, skills=tuple(skills), unmapped=tuple(unmapped))


def _skill(name: str, entry: Mapping[str, object], path: str) -> ForeignSkill:
    what = f"skill {name!r}"
    digest = text_of(entry, "digest", path, what)
    commit = text_of(entry, "commit", path, what)
    vendored = text_of(entry, "vendored", path, what)
    given = f"./{vendored}" if vendored else needed_text(entry, "source", path, what)
    source, inside = _source(given, path, what)
    return ForeignSkill(
        name=name,
        source=source,
        state=commit,
        is_pinned=commit is not None,
        path=inside,
        hashes=() if digest is None else (RecordedHash(kind="hlock", expected=digest),),
        is_requested=not entry.get("required-by"),
    )


def _source(text: str, path: str, what: str) -> tuple[str, str | None]:
    """Return the reference of a source, and the skill's directory in it if it is known."""
    for prefix in ("github:", "gh:"):
        if text.startswith(prefix):
            owner, _, rest = text.removeprefix(prefix).partition("@")[0].replace("//", "/").partition("/")
            name, _, inside = rest.partition("/")
            return f"{owner}/{name}", _directory(inside)
    if text.startswith("git+"):
        url, _, fragment = text.removeprefix("git+").partition("#")
        inside = parse_qs(fragment).get("path", [""])[0]
        url = url.partition("@")[0] if url.startswith("file:") else url
        return f"git+{url}", _directory(inside)
    if text.startswith(("path:", "./")):
        local = text.removeprefix("path:")
        return (local if local.startswith(("./", "../", "/")) else f"./{local}"), None
    return refuse(path, f"{what} has the source {text!r}, which has no counterpart")


def _directory(inside: str) -> str:
    return inside.strip("/").removesuffix("SKILL.md").rstrip("/")
