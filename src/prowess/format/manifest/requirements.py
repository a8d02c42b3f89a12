"""The other skills that a skill needs, from the three places in which authors declare them, as one type.

- `composition.dependencies` of the manifest, with the optional keys `version` (an npm range) and `source`
- `metadata.dependencies` of SKILL.md: `"ledger@^2 mail@^1"`, or a list of such texts
- `toolhive.requires` of SKILL.md: references of OCI artifacts and git repositories, one a line, or a list of them

A fault in one entry is a problem, and the other entries are read. Whoever installs a skill must not ignore a problem,
because the skill may need what could not be read. No range is resolved here.

Sources: extended specification 001, skill composition; ToolHive, `toolhive.requires`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.fields.value_readers import kind
from prowess.format.name import name_faults, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.format.manifest.manifest import Sidecar
    from prowess.format.skill import Frontmatter

ANY_VERSION = "*"
MAX_REQUIREMENTS = 256  # of one skill
MAX_RANGE = 256  # characters
MAX_SOURCE = 2048

_VERSION_TAG = re.compile(r"v?([0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)")
_PARTIAL = r"v?(?:[0-9]+|[xX*])(?:\.(?:[0-9]+|[xX*])){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"
_OPERATORS, _OPERATOR = re.compile(r"[<>=~^]+|[|&]+"), re.compile(r"[<>]?=*|~>?=*|\^=*|\|\|")
_RANGE_PART = re.compile(rf"(?:\|\||-|[<>=~^]+|[<>=~^]*{_PARTIAL})(?:\|\|[<>=~^]*(?:{_PARTIAL})?)*")


class SkillRequirement(Struct, frozen=True, kw_only=True):
    """One skill that is needed.

    `name` is normalised. `range` is in npm's notation: `*` means any version, and a text that is no range means the
    version with this text. `source` is None if the dependant's own source, or a registry, is meant. An optional one may
    be absent.
    """

    name: str
    range: str = ANY_VERSION
    source: str | None = None
    optional: bool = False


class Requirements(Struct, frozen=True, kw_only=True):
    """What one skill needs, in the order of the three places. `problems` are sentences about faulty entries."""

    skills: tuple[SkillRequirement, ...] = ()
    problems: tuple[str, ...] = ()


class _RequirementError(Exception):
    """An entry is faulty; the message states why."""


def requirements_of(frontmatter: Frontmatter, sidecar: Sidecar) -> Requirements:
    """Return what a skill declares to need. Raises nothing for any content."""
    problems = [
        f"{fault.location}: {fault.message}"
        for fault in sidecar.faults
        if fault.rule.startswith(("manifest.", "composition.type", "composition.dependencies"))
        and fault.rule != "manifest.unknownField"
    ]
    found = [
        SkillRequirement(
            name=dependency.skill_name,
            range=dependency.version or ANY_VERSION,
            source=dependency.source,
            optional=dependency.optional,
        )
        for dependency in (() if sidecar.composition is None else sidecar.composition.dependencies)
    ]
    fields = (
        ("metadata.dependencies", frontmatter.metadata_raw.get("dependencies"), _named),
        ("toolhive.requires", frontmatter.extra.get("toolhive.requires"), _referenced),
    )
    for place, value, read in fields:
        for text in _entries(value, place, problems):
            try:
                found.append(read(text))
            except _RequirementError as fault:
                problems.append(f"{place}: {kind(text)} {fault}")
    if len(found) > MAX_REQUIREMENTS:
        problems.append(
            f"it needs {len(found)} skills, at most {MAX_REQUIREMENTS} are read; move some into other skills"
        )
    return Requirements(skills=tuple(found[:MAX_REQUIREMENTS]), problems=tuple(problems))


def range_fault(text: str) -> str | None:
    """Return why a text can be neither a range nor a version, or None. Whether a version is in it is not asked."""
    fault = _fault_of(text, MAX_RANGE)
    if fault is None and (wrong := [one for one in _OPERATORS.findall(text) if not _OPERATOR.fullmatch(one)]):
        return f"has {wrong[0]!r}, which is no operator of a range; write for example ^2, ~1.4 or >=1 <3"
    return fault


def source_fault(text: str) -> str | None:
    """Return why a text cannot be a source, or None. Whether there is such a source is not asked."""
    return _fault_of(text, MAX_SOURCE)


def _fault_of(text: str, most: int) -> str | None:
    if len(text) > most:
        return f"is longer than {most} characters"
    return None if text.isprintable() else "has characters that cannot be printed"


def _entries(value: object, place: str, problems: list[str]) -> Iterator[str]:
    """Yield the texts of a field: of a list each item, of a text its words."""
    if value is None or value == "":
        return
    if isinstance(value, str):
        yield from _words(value)
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str) and item.strip():
                yield item.strip()
            else:
                problems.append(f"{place} has an item that is {kind(item)}, it must be a text")
    else:
        problems.append(f"{place} is {kind(value)}, it must be a text or a list of texts")


def _words(text: str) -> list[str]:
    """Return the words of a text. Blanks and commas separate them; a part of a range belongs to the word before."""
    found: list[str] = []
    for word in text.replace(",", " , ").split():
        if word == ",":
            found.append("")
        elif found and ("@" in found[-1] and _RANGE_PART.fullmatch(word)):
            found[-1] += word if found[-1].endswith("@") else f" {word}"
        else:
            found.append(word)
    return [word for word in found if word]


def _named(text: str) -> SkillRequirement:
    name, _, wanted = text.partition("@")
    if (fault := range_fault(wanted)) is not None:
        raise _RequirementError(f"has a version that {fault}")
    return SkillRequirement(name=_checked(name), range=wanted.strip() or ANY_VERSION)


def _referenced(text: str) -> SkillRequirement:
    """Read one reference of ToolHive: `registry/path/name[:tag][@sha256:…]` or `git://host/path[@ref][#directory]`.

    The name is the last part of the path. A tag that is a version asks for exactly this version.
    """
    if (fault := source_fault(text)) is not None:
        raise _RequirementError(fault)
    if text.startswith("git://"):
        address, _, directory = text.partition("#")
        repository = address.partition("@")[0]
        name = (directory or repository).rstrip("/").rpartition("/")[2].removesuffix(".git")
        source = f"git+https://{text.removeprefix('git://')}"
        return SkillRequirement(name=_checked(name), source=source)
    bare = text.removeprefix("oci://")
    whole, at, _ = bare.partition("@")
    lead, slash, last = whole.rpartition("/")
    if not slash or "://" in bare:
        raise _RequirementError("is not a reference such as ghcr.io/acme/ledger:1.2.0")
    name, _, tag = last.partition(":")
    version = None if at else _VERSION_TAG.fullmatch(tag)
    return SkillRequirement(
        name=_checked(name),
        range=version[1] if version else ANY_VERSION,
        source=f"oci://{lead}/{name}" if version else f"oci://{bare}",
    )


def _checked(name: str) -> str:
    normal = normalise(name)
    if not normal or name_faults(normal):
        raise _RequirementError("does not have a valid name of a skill")
    return normal
