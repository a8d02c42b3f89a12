"""Read a skill from a directory: find SKILL.md, open it safely, and validate it against a profile.

The file name is compared with the real directory entry, even on a file system that ignores case. Only a regular file is
opened. A pipe or symbolic link called SKILL.md and errors of the operating system are reported as diagnostics.

Validation returns all faults at once, each with its rule, its place and, if one is obvious, a fix. `raw_findings`
returns the findings of the rules at default severities; `judge` applies the severities of the profile.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.open_flags import READ
from prowess.diagnostics import Location, Severity
from prowess.errors import InvalidSkillError, LimitExceededError, SkillParseError
from prowess.format.document import SkillDocument
from prowess.format.limits import EXTENDED_FIELDS, FILE_NAMES, MANIFEST_FILE, MAX_DOCUMENT_BYTES
from prowess.format.parsing import finding, parse_source
from prowess.format.profiles import profile_named
from prowess.format.rules.body_rules import body_findings, extended_findings, reference_findings
from prowess.format.rules.field_rules import field_findings
from prowess.format.skill import Skill, frontmatter_of

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeReading
    from prowess.diagnostics import Diagnostic
    from prowess.format.manifest.manifest import Sidecar
    from prowess.format.profiles import Profile
    from prowess.format.skill import Frontmatter

    Target = str | os.PathLike[str] | SkillDocument | Skill


def read_skill(directory: str | os.PathLike[str], *, profile: str = "lenient") -> Skill:
    """Read the skill in `directory` under a profile; `directory` may also be the path of its SKILL.md.

    Every file of the skill is hashed once, for `Skill.digest` and `Skill.resources`.

        skill = read_skill("examples/skills/csv-report")
        skill.name, skill.frontmatter.allowed_tools, skill.digest

    Raises:
        SkillParseError: the profile finds an error. The message is that of the first error; the exception carries all
            errors. The profile `lenient` reports an error only if the skill cannot be loaded.
        LimitExceededError: the directory has too many files or bytes to hash.
    """
    try:
        files = read_files(directory)
    except OSError as fault:
        document = read_document(directory)
        diagnostics = _accepted(document, profile)  # faults of the document are reported first
        message = f"the skill's files cannot be read: {fault.strerror}"
        raise SkillParseError(message, Location(path=document.path), diagnostics) from fault
    except LimitExceededError:
        _accepted(read_document(directory), profile)
        raise
    return skill_of_files(directory, files, profile=profile)


def read_files(directory: str | os.PathLike[str], *, allow_hard_links: bool = False) -> TreeReading:
    """Hash every file of a skill in one walk. The bytes of SKILL.md and `skill.manifest.yaml` are kept.

    `allow_hard_links` is for a caller that compares every hash with a record (`read_stamped_tree`).

    Raises:
        OSError: the directory cannot be read.
        LimitExceededError: the directory has too many files or bytes to hash.
    """
    # Imported here, not at the top: listing needs no digests.
    from prowess._internal.files.tree_digest import read_stamped_tree

    root = _directory_of(os.fspath(directory))
    kept = (*FILE_NAMES, MANIFEST_FILE)
    return read_stamped_tree(root, keep=kept, most=MAX_DOCUMENT_BYTES, allow_hard_links=allow_hard_links)


def skill_of_files(directory: str | os.PathLike[str], files: TreeReading, *, profile: str) -> Skill:
    """Return the skill for files that were already read. Its text and sidecar are the bytes that were hashed.

    Raises:
        SkillParseError: the profile finds an error, as in `read_skill`.
    """
    document = document_at(locate(directory, files=files))
    root = document.directory or _directory_of(os.fspath(directory))
    sidecar = _sidecar(root, files, os.path.dirname(document.path or "") or None)
    diagnostics = _accepted(document, profile, sidecar)
    return Skill(
        frontmatter=frontmatter_of(document),
        document=document,
        root_dir=root,
        location=os.path.join(root, os.path.basename(document.path or FILE_NAMES[0])),
        manifest=files.manifest,
        sidecar=sidecar,
        diagnostics=diagnostics,
    )


def _sidecar(directory: str, files: TreeReading | None, shown_as: str | None = None) -> Sidecar:
    """Return the manifest in `directory`, from `files` if they were already read."""
    # Imported here, not at the top: listing needs no sidecar.
    from prowess.format.manifest.manifest_reader import read_sidecar, sidecar_of

    if files is None:
        return read_sidecar(directory, shown_as=shown_as)
    return sidecar_of(directory, files, shown_as=shown_as)


def _accepted(document: SkillDocument, profile: str, sidecar: Sidecar | None = None) -> tuple[Diagnostic, ...]:
    """Return the findings of a profile; raise `SkillParseError` if one of them is an error."""
    diagnostics = tuple(_validated(document, profile, sidecar=sidecar))
    fault = next((found for found in diagnostics if found.severity is Severity.ERROR), None)
    if fault is not None:
        raise SkillParseError(fault.message, fault.location, diagnostics)
    return diagnostics


def read_frontmatter(
    directory: str, files: TreeReading | None = None, *, source: bytes | None = None
) -> tuple[str, Frontmatter, tuple[Diagnostic, ...]]:
    """Return the skill file's name, its fields, and the findings of the profile `lenient`.

    A finding with severity error means that the skill is not loaded. This function is for lists of skills: links of the
    body are not checked, and no files other than SKILL.md and the manifest are read. If both were already read, they
    are taken from `files` and not opened. If the text between the fences of SKILL.md was already read, it is given as
    `source`; then SKILL.md is not read, and `directory` must be absolute.
    """
    sidecar = None if files is None else _sidecar(directory, files)
    if source is None:
        document = document_at(locate(directory, files=files))
    else:
        path = os.path.normpath(os.path.join(directory, FILE_NAMES[0]))
        document = parse_source(b"---\n" + source + b"\n---\n", path=path, directory=directory)
    diagnostics = tuple(_validated(document, "lenient", references=False, sidecar=sidecar))
    return os.path.basename(document.path or FILE_NAMES[0]), frontmatter_of(document), diagnostics


class Located(Struct, frozen=True, kw_only=True):
    """The bytes of a skill's SKILL.md, or, in `found`, the reasons why it could not be read."""

    directory: str  # absolute
    path: str  # as shown in diagnostics
    data: bytes
    found: tuple[Diagnostic, ...]


def locate(
    directory: str | os.PathLike[str], *, shown_as: str | None = None, files: TreeReading | None = None
) -> Located:
    """Find SKILL.md and read its bytes. A file that is missing or unreadable raises no error.

    `directory` and `shown_as` are as in `read_document`. If SKILL.md is among `files`, which were already read in the
    directory, their bytes are used and no file is opened.
    """
    root = _directory_of(os.fspath(directory))
    shown = root if shown_as is None else shown_as
    absolute = os.path.abspath(root)
    name, data = (None, b"") if files is None else _kept(files)
    if name is not None:
        found = _odd_name(name, shown)
    else:
        name, found = _find(absolute, shown)
        if name is not None:
            data, fault = _read(os.path.join(absolute, name), os.path.normpath(os.path.join(shown, name)), name)
            found += fault
    path = os.path.normpath(os.path.join(shown, name or FILE_NAMES[0]))
    return Located(directory=absolute, path=path, data=data, found=found)


def _kept(files: TreeReading) -> tuple[str | None, bytes]:
    """Return name and bytes of SKILL.md from files already read.

    The name is `None` if SKILL.md is absent, too large or not a regular file; the caller then opens it to find the
    reason.
    """
    for name in FILE_NAMES:
        if (kept := files.kept.get(name)) is not None:
            return name, kept.data
        if name in files.manifest.obstacles or files.manifest.find(name) is not None:
            break
    return None, b""


def _directory_of(given: str) -> str:
    """Return the directory of a skill, given the directory or the path of its SKILL.md."""
    if os.path.basename(given).lower() == "skill.md" and not os.path.isdir(given):
        return os.path.dirname(given) or "."
    return given


def read_document(directory: str | os.PathLike[str], *, shown_as: str | None = None) -> SkillDocument:
    """Read the SKILL.md of `directory`. A file that is missing or unreadable raises no error: it is a diagnostic.

    `directory` may also be the path of a file called SKILL.md, in any letter case. `shown_as` is the path of the
    directory in diagnostics; defaults to `directory`.
    """
    return document_at(locate(directory, shown_as=shown_as))


def document_at(located: Located) -> SkillDocument:
    """Return the document for a result of `locate`."""
    if any(diagnostic.severity is Severity.ERROR for diagnostic in located.found):
        return parse_nothing(located.path, located.directory, located.found)
    return parse_source(located.data, path=located.path, directory=located.directory, found=located.found)


def parse_nothing(path: str, directory: str, found: tuple[Diagnostic, ...]) -> SkillDocument:
    """Return an empty document for a file that could not be read, with the reasons as its diagnostics."""
    empty = parse_source(b"", path=path, directory=directory)
    return replace(empty, diagnostics=found)


def _find(directory: str, shown: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the skill file's name as spelled in the directory, and findings on it."""
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
            return name, _odd_name(name, shown)
    hint = f"; {names[0]} is not read, rename it to SKILL.md" if names else ""
    return None, (finding("file.missing", f"the directory holds no SKILL.md{hint}", wanted),)


def _odd_name(name: str, shown: str) -> tuple[Diagnostic, ...]:
    if name == FILE_NAMES[0]:
        return ()
    message = "the file is called skill.md; many clients find only SKILL.md, so rename it"
    return (finding("file.name", message, Location(path=os.path.normpath(os.path.join(shown, name)))),)


def _read(file: str, path: str, name: str) -> tuple[bytes, tuple[Diagnostic, ...]]:
    where = Location(path=path)
    try:
        descriptor = os.open(file, READ)
    except OSError as fault:
        if fault.errno == errno.ELOOP or os.path.islink(file):
            message = f"{name} is a symbolic link; put the file itself into the skill"
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
        if kind.st_nlink > 1:  # a catalog skips such a file, so other commands must not load it
            message = f"{name} has a second hard link, so its content may belong elsewhere; replace it by a copy"
            return b"", (finding("file.notRegular", message, where, detail="hard link"),)
        return _whole(descriptor, kind.st_size), ()
    except OSError as fault:
        return b"", (finding("file.unreadable", f"{name} cannot be read: {fault.strerror}", where),)
    finally:
        os.close(descriptor)


def _whole(descriptor: int, size: int) -> bytes:
    """Read the whole file, or one byte more than the limit, which is enough to detect that it is too long."""
    return read_at_most(descriptor, MAX_DOCUMENT_BYTES + 1, min(size, MAX_DOCUMENT_BYTES) + 1)


def validate_skill(target: Target, *, profile: str = "spec", references: bool = True) -> list[Diagnostic]:
    """Return every fault of `target`, sorted by place; the list is empty if the target has no fault.

    `target` is a skill's directory, its SKILL.md, a document or a skill. The list includes warnings and infos; only an
    error makes a skill invalid. With `references=False` the links of the body are not checked. In the profile
    `skills-ref` the faults are in the reference tool's order.

        for fault in validate_skill("examples/skills/csv-report"):
            print(fault.location, fault.rule, fault.message)

    Raises:
        InvalidArgumentsError: no profile has this name.
    """
    return _validated(document_of(target), profile, references=references)


def _validated(
    document: SkillDocument, profile: str, *, references: bool = True, sidecar: Sidecar | None = None
) -> list[Diagnostic]:
    chosen = profile_named(profile)
    findings = raw_findings(document, chosen, references=references, sidecar=sidecar)
    return [found for raw in findings if (found := judge(raw, chosen)) is not None]


def require_valid(target: Target, *, profile: str = "spec") -> None:
    """Raise an error if `validate_skill` returns a fault with severity error.

    Raises:
        InvalidSkillError: the target has errors; the exception carries all of them.
        InvalidArgumentsError: no profile has this name.
    """
    faults = tuple(found for found in validate_skill(target, profile=profile) if found.severity is Severity.ERROR)
    if faults:
        raise InvalidSkillError(faults)


def document_of(target: Target) -> SkillDocument:
    """Return the document of a path, document or skill."""
    if isinstance(target, SkillDocument):
        return target
    return target.document if isinstance(target, Skill) else read_document(target)


def raw_findings(
    document: SkillDocument, profile: Profile, *, references: bool = True, sidecar: Sidecar | None = None
) -> list[Diagnostic]:
    """Return all findings of the family `spec` at default severities, even if the profile does not report them.

    `sidecar` is the manifest beside the document if it was already read; None means that it is read from the disk.
    """
    findings = [*document.diagnostics, *field_findings(document, profile)]
    if document.complete and any(field.key in EXTENDED_FIELDS for field in document.fields):
        findings += extended_findings(document, repairs=profile.repairs)
    findings += body_findings(document)
    if not profile.reference_wording:
        findings += sidecar_faults(document) if sidecar is None else sidecar.faults
    if references and document.body:
        findings += reference_findings(document)
    if profile.reference_wording:
        # Imported here, not at the top: only one profile needs it.
        from prowess.format.rules.reference_messages import reference_faults

        silent = [found for found in findings if profile.severities.get(found.rule) is None]
        return [*reference_faults(document, document.directory_name), *silent]
    skill = document.directory_name
    return sorted((_of_skill(found, skill) for found in findings), key=place_in_report)


def judge(found: Diagnostic, profile: Profile) -> Diagnostic | None:
    """Return the finding at the profile's severity, or `None` if the profile does not report it."""
    severity = profile.severities.get(found.rule, found.severity)
    if severity is None:
        return None
    if profile.repairs and found.rule == "frontmatter.syntax" and found.fix is not None:
        severity = Severity.WARNING  # repaired, so the skill loads
    if profile.metadata_lists and found.rule == "metadata.valueType" and found.detail == "list":
        severity = Severity.WARNING  # the host accepts a list, but not a mapping
    return found.with_severity(severity)


def sidecar_faults(document: SkillDocument) -> tuple[Diagnostic, ...]:
    """Return the faults of the manifest beside the document; empty if there is no manifest."""
    if document.directory is None or not os.path.lexists(os.path.join(document.directory, MANIFEST_FILE)):
        return ()
    return _sidecar(document.directory, None, os.path.dirname(document.path or "") or None).faults


def _of_skill(found: Diagnostic, skill: str | None) -> Diagnostic:
    if found.skill is not None or skill is None:
        return found
    return replace(found, skill=skill)


def place_in_report(found: Diagnostic) -> tuple[bool, int, int]:
    """Return the sort key of a finding on one skill: SKILL.md before the manifest, then line and column."""
    beside = (found.location.path or "").endswith(MANIFEST_FILE)  # findings in the manifest come last
    return beside, found.location.line, found.location.column
