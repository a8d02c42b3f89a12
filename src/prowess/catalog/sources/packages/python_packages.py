"""Reads an installed Python distribution with skills: its record, its name and version, and where its skills are.

Skills are directories with a SKILL.md at these places of the record:

- `.agents/skills/<name>/` at any depth of an import package (library-skills, which FastAPI and Streamlit follow);
- `<package>/skills/<name>/`, and up to two directories of categories between them;
- below the directory of each module that `entry_points.txt` names in the group `agent_skills`. The module is looked up
  as a path and never imported.

Only rows of RECORD inside the directory of distributions count. Sources: Binary distribution format (RECORD), Entry
points, Direct URL; library-skills, "Create".
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import re
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.files.open_flags import READ
from prowess._internal.text.terminal_text import counted
from prowess.catalog.ownership import stranger
from prowess.catalog.sources.packages.package import FoundPackage
from prowess.catalog.sources.packages.skill_places import GROUP, MAX_RECORD_BYTES, PYTHON_PLACES
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,98}\Z")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z", re.ASCII)
_IMPORT = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_ROW_HASH = re.compile(r"sha256=([A-Za-z0-9_-]{43})=?\Z")
_CHUNK = 1 << 20
_MAX_METADATA = 4 * 1024 * 1024
_MOST_SKILLS = 1000  # of one distribution
_LONGEST = 200  # characters of a path in a message
_DEEPEST = 3  # levels from `skills/` to a skill
_NO_SKILLS = frozenset({"test", "tests", "fixtures", "examples", "templates", "node_modules"})
_EDITABLE_BASES = ("", "src")
_UNREADABLE = "its METADATA is missing, is not as it was recorded, or has another name"


def read_distribution(site: str, dist_info: str) -> FoundPackage | None:
    """Return the distribution with the metadata directory `dist_info`, or None if it has no skills."""
    folder, _, version = dist_info.removesuffix(".dist-info").partition("-")
    name = normalised(folder)
    if _NAME.match(folder) is None or _VERSION.match(version) is None:
        return None  # no installer makes such a directory
    package = FoundPackage(kind="python", name=name, version=version, root=site, origin=f"{site}/{dist_info}")
    package.reason = stranger(site) or stranger(package.origin)
    record = _record(f"{site}/{dist_info}/RECORD")
    if isinstance(record, str):
        places = [f"{folder}/{place}" for place in PYTHON_PLACES]
        package.skills = tuple(_skills_in(site, places))
        package.reason = package.reason or f"{record}, so its files cannot be compared with it"
        return package if package.skills else None
    package.record = hashlib.sha256(record).hexdigest()
    facts = _read(site, dist_info, _rows(record, (f"{dist_info}/",)))
    if (origin := _editable(facts.get("direct_url.json"))) is not None:
        package.origin = origin
        package.folders = tuple(_editable_folders(origin, _modules(folder, facts.get("top_level.txt"))))
        return package if package.folders else None
    declared = tuple(f"{directory}/" for directory in _entry_points(facts.get("entry_points.txt", b"")))
    rows = _rows(record, declared, inside=b"/skills/")
    skills = list(_skills(rows, declared))
    package.skills = tuple(skills[:_MOST_SKILLS])
    package.faults = tuple(_faults(record, len(skills)))
    if not package.skills:
        return None
    if package.reason is None and not _agrees(facts.get("METADATA"), name, version):
        package.reason = _UNREADABLE
    package.hashes = {path: digest for path, digest in rows.items() if digest}
    if package.reason is None and not any(_of_a_skill(path, package.skills) for path in package.hashes):
        package.reason = "its RECORD has no hashes (SHA-256) of the files of its skills"
    return package


def _record(path: str) -> bytes | str:
    """Return the bytes of RECORD, or why it cannot be used."""
    try:
        fd = os.open(path, READ)
    except FileNotFoundError:
        return "it has no RECORD"
    except OSError as fault:
        return f"its RECORD cannot be opened ({os.strerror(fault.errno or 0)})"
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "its RECORD is not a regular file"
        data = read_at_most(fd, MAX_RECORD_BYTES + 1, _CHUNK)
    except OSError as fault:
        return f"its RECORD cannot be read ({os.strerror(fault.errno or 0)})"
    finally:
        os.close(fd)
    return data if len(data) <= MAX_RECORD_BYTES else f"its RECORD is larger than {MAX_RECORD_BYTES} bytes"


def normalised(name: str) -> str:
    """Return the normal form of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _rows(record: bytes, leads: tuple[str, ...], *, inside: bytes | None = None) -> dict[str, str]:
    """Return the SHA-256 in lower-case hex by path; empty for a row without one.

    Only the rows are parsed whose paths begin with one of `leads` or contain `inside`, because a record may have ten
    thousand rows. Rows that lead out of the site are left out.
    """
    rows: dict[str, str] = {}
    starts = tuple(start for lead in leads for start in (lead.encode(), f'"{lead}'.encode()))
    wanted = [line for line in record.split(b"\n") if line.startswith(starts) or (inside and inside in line)]
    for row in _parsed(line.decode("utf-8", "surrogateescape").rstrip("\r") for line in wanted):
        try:
            if "/".join(check_relative(row[0])) != row[0]:
                continue
        except UnsafePathError:
            continue
        found = _ROW_HASH.match(row[1])
        rows[row[0]] = "" if found is None else base64.urlsafe_b64decode(f"{found[1]}=").hex()
    return rows


def _parsed(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the rows with a path and a hash. Rows after one that is no CSV are left out, as if not recorded."""
    try:
        yield from (row for row in csv.reader(lines) if len(row) > 1)
    except csv.Error:
        return


def _read(site: str, dist_info: str, rows: Mapping[str, str]) -> dict[str, bytes]:
    """Return the metadata files that are as they were recorded, by name."""
    facts: dict[str, bytes] = {}
    try:
        with ContainedRoot(site) as root:
            for name in ("METADATA", "entry_points.txt", "direct_url.json", "top_level.txt"):
                if not (recorded := rows.get(f"{dist_info}/{name}")):
                    continue
                try:
                    with root.open(f"{dist_info}/{name}", allow_hard_links=True) as file:
                        data = file.read(_MAX_METADATA)
                except (OSError, UnsafePathError):
                    continue
                if hashlib.sha256(data).hexdigest() == recorded:
                    facts[name] = data
    except OSError:
        pass  # removed meanwhile
    return facts


def _agrees(metadata: bytes | None, name: str, version: str) -> bool:
    """Whether METADATA has this name and version. Its head is lines of `Field: value` up to an empty line."""
    head: dict[str, str] = {}
    for line in (metadata or b"").splitlines():
        field, colon, value = line.decode("utf-8", "replace").partition(":")
        if not colon:
            break
        head.setdefault(field.lower(), value.strip())
    return normalised(head.get("name", "")) == name and head.get("version", "").replace("-", "_") == version


def _entry_points(text: bytes) -> Iterator[str]:
    """Yield the directories that the group `agent_skills` names, relative to the site."""
    inside = False
    for raw in text.decode("utf-8", "replace").splitlines():
        line = raw.strip()
        if line.startswith("["):
            inside = line == f"[{GROUP}]"
        elif inside and "=" in line:
            module = line.partition("=")[2].partition(":")[0].partition("[")[0].strip()
            if _MODULE.match(module) is not None:
                yield module.replace(".", "/")


def _skills(rows: Mapping[str, str], declared: tuple[str, ...]) -> Iterator[str]:
    """Yield the directories of skills, sorted. A skill below another one is part of it."""
    found = sorted(path.removesuffix("/SKILL.md") for path in rows if path.endswith("/SKILL.md"))
    last = None
    for directory in found:
        if last is not None and directory.startswith(f"{last}/"):
            continue
        if f"{directory}/".startswith(declared) or _is_place(directory.split("/")):
            last = directory
            yield directory


def _faults(record: bytes, count: int) -> Iterator[str]:
    """Yield messages about skills in the record that are left out."""
    if count > _MOST_SKILLS:
        yield f"{count - _MOST_SKILLS} skills of this package are left out: at most {_MOST_SKILLS} are used"
    documents = (line.partition(b",")[0] for line in record.split(b"\n") if b"/SKILL.md," in line)
    outside = [path for path in documents if path.startswith(b"/") or b".." in path.split(b"/")]
    if outside:
        shown = repr(outside[0].decode("utf-8", "replace")[:_LONGEST])
        yield f"{counted(len(outside), 'skill')} of the record outside of the environment left out, such as {shown}"


def _is_place(parts: list[str]) -> bool:
    """Whether the directory of a skill is at a place where packages have skills."""
    if parts[-3:-1] == [".agents", "skills"]:
        return _NO_SKILLS.isdisjoint(parts[:-3])
    for depth in range(2, _DEEPEST + 2):
        if parts[-depth : len(parts) - depth + 1] == ["skills"]:
            above = parts[:-depth]
            return bool(above) and _NO_SKILLS.isdisjoint(above) and all(map(_IMPORT.match, above))
    return False


def _of_a_skill(path: str, skills: Iterable[str]) -> bool:
    return any(path.startswith(f"{skill}/") for skill in skills)


def _skills_in(base: str, places: Iterable[str]) -> Iterator[str]:
    """Yield the directories with a SKILL.md directly in these places, relative to `base`. Links are not followed."""
    for place in places:
        try:
            with os.scandir(f"{base}/{place}") as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue
        yield from (f"{place}/{name}" for name in names if os.path.lexists(f"{base}/{place}/{name}/SKILL.md"))


def _editable(direct_url: bytes | None) -> str | None:
    """Return the directory that an editable installation leads to, or None."""
    try:
        found = json.loads(direct_url or b"null")
        if not found["dir_info"]["editable"] or not str(found["url"]).startswith("file:///"):
            return None
        from urllib.parse import unquote  # Imported here: few distributions are editable.

        path = unquote(str(found["url"]).removeprefix("file://"))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return None if "\0" in path else os.path.realpath(path)


def _modules(folder: str, top_level: bytes | None) -> list[str]:
    names = (top_level or b"").decode("utf-8", "replace").split()[:20]
    return [name for name in dict.fromkeys((folder, *names)) if _IMPORT.match(name) is not None]


def _editable_folders(origin: str, modules: Iterable[str]) -> Iterator[str]:
    for module in modules:
        for base in _EDITABLE_BASES:
            for place in PYTHON_PLACES:
                folder = os.path.join(origin, base, module, place)
                if next(_skills_in(folder, ("",)), None) is not None:
                    yield folder
