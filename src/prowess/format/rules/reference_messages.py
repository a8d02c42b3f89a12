"""The faults that the reference tool finds, in its order and in its words.

The messages equal those of the reference library (skills-ref 0.1.1), because programs match on them. Only the text
after `Invalid YAML in frontmatter: ` is worded by Prowess. The tool's YAML dialect refuses bracketed lists, braced
mappings and uneven indentation; this dialect is used only in this module. Defects of the tool are not reproduced: a
fence found inside a line, an empty directory name for `.`, and tracebacks.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from prowess._internal.yaml_reader import Mapping, Scalar, Sequence
from prowess.diagnostics import Location
from prowess.format.document import key_text
from prowess.format.limits import (
    FIELDS,
    MAX_COMPATIBILITY_LENGTH,
    MAX_DESCRIPTION_LENGTH,
    MAX_NAME_LENGTH,
)
from prowess.format.parsing import finding

if TYPE_CHECKING:
    import collections.abc
    from collections.abc import Iterator

    from prowess._internal.yaml_reader import Node
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

MISSING_FILE = "Missing required file: SKILL.md"
NO_FRONTMATTER = "SKILL.md must start with YAML frontmatter (---)"
UNCLOSED = "SKILL.md frontmatter not properly closed with ---"
# For these faults the reference tool raises a traceback or reads on. The message is ours and does not mention YAML.
_NOT_READ = frozenset({"file.notRegular", "file.unreadable", "file.size", "encoding.invalid"})
NOT_A_MAPPING = "SKILL.md frontmatter must be a YAML mapping"


def path_does_not_exist(path: str) -> str:
    """Message 1 of the reference tool."""
    return f"Path does not exist: {path}"


def not_a_directory(path: str) -> str:
    """Message 2 of the reference tool."""
    return f"Not a directory: {path}"


def invalid_yaml(detail: str) -> str:
    """Message 4 of the reference tool; `detail` is worded by Prowess."""
    return f"Invalid YAML in frontmatter: {detail}"


def reference_faults(document: SkillDocument, directory_name: str | None) -> list[Diagnostic]:
    """Return the faults in the reference tool's order. A document that cannot be read has exactly one fault."""
    unreadable = _unreadable(document)
    if unreadable is not None:
        return [unreadable]
    fields = document.mapping()
    return [
        finding(rule, message, _place(document, rule), detail=None)
        for rule, message in metadata_faults(fields, directory_name)
    ]


def metadata_faults(
    fields: collections.abc.Mapping[str, object], directory_name: str | None
) -> Iterator[tuple[str, str]]:
    """Yield (rule, message) for parsed front matter. If `directory_name` is None, the name is not compared with it."""
    extra = sorted(set(fields) - set(FIELDS))
    if extra:
        allowed = sorted(FIELDS)
        yield (
            "frontmatter.unknownField",
            f"Unexpected fields in frontmatter: {', '.join(extra)}. Only {allowed} are allowed.",
        )
    if "name" in fields:
        yield from _name_faults(fields["name"], directory_name)
    else:
        yield "name.required", "Missing required field in frontmatter: name"
    if "description" in fields:
        yield from _description_faults(fields["description"])
    else:
        yield "description.required", "Missing required field in frontmatter: description"
    if "compatibility" in fields:
        yield from _compatibility_faults(fields["compatibility"])


def _name_faults(value: object, directory_name: str | None) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str) or not value.strip():
        rule = "name.required" if isinstance(value, str) else "name.type"
        yield rule, "Field 'name' must be a non-empty string"
        return
    # The limit keeps a run of combining marks cheap. A longer name is invalid in any form.
    name = value.strip()
    name = unicodedata.normalize("NFKC", name) if len(name) <= 16 * MAX_NAME_LENGTH else name
    if len(name) > MAX_NAME_LENGTH:
        yield (
            "name.maxLength",
            f"Skill name '{name}' exceeds {MAX_NAME_LENGTH} character limit ({len(name)} chars)",
        )
    if name != name.lower():
        yield "name.format", f"Skill name '{name}' must be lowercase"
    if name.startswith("-") or name.endswith("-"):
        yield "name.format", "Skill name cannot start or end with a hyphen"
    if "--" in name:
        yield "name.format", "Skill name cannot contain consecutive hyphens"
    if not all(char.isalnum() or char == "-" for char in name):
        yield (
            "name.format",
            f"Skill name '{name}' contains invalid characters. Only letters, digits, and hyphens are allowed.",
        )
    if directory_name is not None and unicodedata.normalize("NFKC", directory_name) != name:
        yield "name.matchesDirectory", f"Directory name '{directory_name}' must match skill name '{name}'"


def _description_faults(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str) or not value.strip():
        rule = "description.required" if isinstance(value, str) else "description.type"
        yield rule, "Field 'description' must be a non-empty string"
    elif len(value) > MAX_DESCRIPTION_LENGTH:
        yield (
            "description.maxLength",
            f"Description exceeds {MAX_DESCRIPTION_LENGTH} character limit ({len(value)} chars)",
        )


def _compatibility_faults(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str):
        yield "compatibility.type", "Field 'compatibility' must be a string"
    elif len(value) > MAX_COMPATIBILITY_LENGTH:
        yield (
            "compatibility.maxLength",
            f"Compatibility exceeds {MAX_COMPATIBILITY_LENGTH} character limit ({len(value)} chars)",
        )


def _unreadable(document: SkillDocument) -> Diagnostic | None:
    for found in document.diagnostics:
        message = _message_for(document, found)
        if message is not None:
            return finding(found.rule, message, found.location, detail=found.detail)
    if document.front_matter is not None and not document.fields:
        location = Location(path=document.path)
        return finding("frontmatter.notMapping", NOT_A_MAPPING, location)
    root = Mapping(
        entries=tuple((field.key_node, field.value) for field in document.fields), flow=False, start=0, end=0
    )
    if (fault := _mapping_outside_dialect(root, document)) is not None:
        at, what = fault
        location = document.origin.location(at)
        detail = f"line {location.line}, column {location.column}: {what}"
        return finding("frontmatter.syntax", invalid_yaml(detail), location, detail="dialect")
    return None


def _message_for(document: SkillDocument, found: Diagnostic) -> str | None:
    """Return the reference tool's message for a fault of reading; `None` if it does not report that fault."""
    path = found.location.path or ""
    fixed = {
        "file.missing": {"path": path_does_not_exist(path), "directory": not_a_directory(path)}.get(
            found.detail or "", MISSING_FILE
        ),
        "frontmatter.missing": NO_FRONTMATTER,
        "frontmatter.notFirst": NO_FRONTMATTER,
        "encoding.bom": NO_FRONTMATTER,
        "frontmatter.unclosed": UNCLOSED,
        "frontmatter.notMapping": NOT_A_MAPPING,
    }
    if found.rule in {"file.name", "frontmatter.fence"}:
        return None
    if found.rule == "encoding.nul" and found.location.line >= document.body_line:
        return None  # the reference tool reads only the front matter
    if found.rule in fixed:
        return fixed[found.rule]
    if found.rule in _NOT_READ:
        return f"{found.message[:1].upper()}{found.message[1:]}"
    return invalid_yaml(f"line {found.location.line}, column {found.location.column}: {found.message}")


def _outside_dialect(node: Node, document: SkillDocument) -> tuple[int, str] | None:
    match node:
        case Scalar():
            before = document.text[document.text.rfind("\n", 0, node.start) + 1 : node.start]
            return (node.start, "there is a tab before the value") if before.endswith("\t") else None
        case Sequence(flow=True) | Mapping(flow=True):
            return node.start, "lists and mappings in brackets are not accepted"
        case Sequence(items=items):
            return next((fault for item in items if (fault := _outside_dialect(item, document))), None)
        case Mapping():
            return _mapping_outside_dialect(node, document)


def _mapping_outside_dialect(node: Mapping, document: SkillDocument) -> tuple[int, str] | None:
    seen: set[str] = set()
    column = None
    for key, value in node.entries:
        name = key_text(key, document.origin)
        if name in seen:
            return key.start, f"the key {name!r} is written twice"
        seen.add(name)
        if isinstance(value, Mapping):
            _, at = document.origin.position(value.start)
            if column not in {None, at}:
                return value.start, "this mapping is not indented like the one before"
            column = at
        for child in (key, value):
            if (fault := _outside_dialect(child, document)) is not None:
                return fault
    return None


def _place(document: SkillDocument, rule: str) -> Location:
    if rule == "frontmatter.unknownField":
        unknown = next(field for field in document.fields if field.key not in FIELDS)
        return unknown.key_location
    field = document.field(rule.partition(".")[0])
    return Location(path=document.path) if field is None else field.location
