"""From a directory to a document, and to a skill: find SKILL.md, open it safely, judge it by a profile.

The name of the real directory entry counts, also where the file system ignores case. Nothing but a regular file is
opened; a pipe or a link called SKILL.md is a diagnostic, and so is whatever the operating system refuses.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.open_flags import READ
from prowess._internal.places import working_directory
from prowess.diagnostics import Location, Severity
from prowess.errors import SkillParseError
from prowess.format.limits import FILE_NAMES, MAX_DOCUMENT_BYTES
from prowess.format.parsing import finding, parse_source
from prowess.format.skill import Skill, frontmatter_of
from prowess.format.validation import validate_skill

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument


def read_skill(directory: str | os.PathLike[str], *, profile: str = "lenient") -> Skill:
    """Read the skill in `directory`, or whose SKILL.md the path names, as `profile` loads it.

    Every file of the skill is hashed once, for `Skill.digest` and `Skill.resources`.

        skill = read_skill("examples/skills/csv-report")
        skill.name, skill.frontmatter.allowed_tools, skill.digest

    Raises:
        SkillParseError: the profile finds an error; it names the first and carries all. In `lenient` an error is what
            keeps a skill from being loaded.
        LimitExceededError: the directory holds too many files or bytes to be hashed.
    """
    document = read_document(directory)
    diagnostics = tuple(validate_skill(document, profile=profile))
    fault = next((found for found in diagnostics if found.severity is Severity.ERROR), None)
    if fault is not None:
        raise SkillParseError(fault.message, fault.location, diagnostics)
    return skill_from_document(document, diagnostics)


def skill_from_document(document: SkillDocument, diagnostics: tuple[Diagnostic, ...]) -> Skill:
    """Return the skill of a document that loads, with its files.

    Raises:
        LimitExceededError: as `read_skill`.
        SkillParseError: the directory went away meanwhile.
    """
    # Imported here, not at the top: listing needs no digests.
    from prowess._internal.files.tree_digest import read_tree
    from prowess.format.manifest.manifest_reader import sidecar_of

    directory = document.directory or working_directory()
    try:
        manifest = read_tree(directory)
    except OSError as fault:
        message = f"the skill's files cannot be read: {fault.strerror}"
        raise SkillParseError(message, Location(path=document.path), diagnostics) from fault
    return Skill(
        frontmatter=frontmatter_of(document),
        document=document,
        root_dir=directory,
        location=os.path.join(directory, os.path.basename(document.path or FILE_NAMES[0])),
        manifest=manifest,
        sidecar=sidecar_of(directory, manifest),
        diagnostics=diagnostics,
    )


class Located(Struct, frozen=True, kw_only=True):
    """What lies at a skill's place: the bytes of its SKILL.md, or the reasons why there are none in `found`."""

    directory: str  # absolute
    path: str  # as diagnostics call the file
    data: bytes
    found: tuple[Diagnostic, ...]


def locate(directory: str | os.PathLike[str], *, shown_as: str | None = None) -> Located:
    """Find SKILL.md and read its bytes; raises nothing for what is there, or is not. Arguments as `read_document`."""
    given = os.fspath(directory)
    if os.path.basename(given).lower() == "skill.md" and not os.path.isdir(given):
        given = os.path.dirname(given) or "."
    shown = given if shown_as is None else shown_as
    absolute = os.path.abspath(given)
    name, found = _find(absolute, shown)
    path = os.path.normpath(os.path.join(shown, name or FILE_NAMES[0]))
    data = b""
    if name is not None:
        data, fault = _read(os.path.join(absolute, name), path, name)
        found += fault
    return Located(directory=absolute, path=path, data=data, found=found)


def read_document(directory: str | os.PathLike[str], *, shown_as: str | None = None) -> SkillDocument:
    """Read SKILL.md of `directory`; raises nothing for what is there, or is not.

    `directory` may also be the path of a file called SKILL.md in any spelling of case. `shown_as` is how diagnostics
    call the directory; by default as given.
    """
    return document_at(locate(directory, shown_as=shown_as))


def document_at(located: Located) -> SkillDocument:
    """Return the document of what `locate` found."""
    if any(diagnostic.severity is Severity.ERROR for diagnostic in located.found):
        return parse_nothing(located.path, located.directory, located.found)
    return parse_source(located.data, path=located.path, directory=located.directory, found=located.found)


def parse_nothing(path: str, directory: str, found: tuple[Diagnostic, ...]) -> SkillDocument:
    """Return the document of a file that could not be read: empty, with the reasons alone."""
    empty = parse_source(b"", path=path, directory=directory)
    return replace(empty, diagnostics=found)


def _find(directory: str, shown: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the name of the skill file as it stands in the directory."""
    wanted = Location(path=os.path.normpath(os.path.join(shown, FILE_NAMES[0])))
    try:
        with os.scandir(directory) as entries:
            names = sorted(entry.name for entry in entries if entry.name.lower() == "skill.md")
    except OSError as fault:
        where = Location(path=shown)
        if isinstance(fault, FileNotFoundError):
            return None, (finding("file.missing", "there is no such directory", where, detail="path"),)
        if isinstance(fault, NotADirectoryError):
            return None, (finding("file.missing", "this is not a directory", where, detail="directory"),)
        return None, (finding("file.unreadable", f"the directory cannot be read: {fault.strerror}", where),)
    for name in FILE_NAMES:
        if name in names:
            path = os.path.normpath(os.path.join(shown, name))
            if name == FILE_NAMES[0]:
                return name, ()
            message = "the file is called skill.md; many clients find only SKILL.md, so rename it"
            return name, (finding("file.name", message, Location(path=path)),)
    hint = f"; {names[0]} is not read, rename it to SKILL.md" if names else ""
    return None, (finding("file.missing", f"the directory holds no SKILL.md{hint}", wanted),)


def _read(file: str, path: str, name: str) -> tuple[bytes, tuple[Diagnostic, ...]]:
    where = Location(path=path)
    try:
        descriptor = os.open(file, READ)
    except OSError as fault:
        if fault.errno == errno.ELOOP or os.path.islink(file):
            message = f"{name} is a symbolic link; a skill carries its own file"
            return b"", (finding("file.notRegular", message, where, detail="link"),)
        if fault.errno == errno.ENXIO:  # a socket
            return b"", (finding("file.notRegular", f"{name} is not a regular file", where, detail="special"),)
        return b"", (finding("file.unreadable", f"{name} cannot be read: {fault.strerror}", where),)
    try:
        kind = os.fstat(descriptor)
        if not stat.S_ISREG(kind.st_mode):
            is_directory = stat.S_ISDIR(kind.st_mode)
            message = f"{name} is {'a directory' if is_directory else 'not a regular file'}"
            detail = "directory" if is_directory else "special"
            return b"", (finding("file.notRegular", message, where, detail=detail),)
        return _whole(descriptor, kind.st_size), ()
    except OSError as fault:
        return b"", (finding("file.unreadable", f"{name} cannot be read: {fault.strerror}", where),)
    finally:
        os.close(descriptor)


def _whole(descriptor: int, size: int) -> bytes:
    """Read to the end, or to one byte more than is allowed, which is enough to say that it is too long."""
    parts = []
    left = MAX_DOCUMENT_BYTES + 1
    ask = min(size, MAX_DOCUMENT_BYTES) + 1
    while left > 0 and (part := os.read(descriptor, min(ask, left))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
