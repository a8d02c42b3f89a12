"""Find and read SKILL.md under the reference library's names, with the parser of Prowess.

This module does no parsing. `prowess.format` reads the file and returns diagnostics in the reference library's words.
The diagnostics are converted to the exceptions that callers of the reference library expect.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from prowess.compat.skills_ref.errors import ParseError, ValidationError
from prowess.compat.skills_ref.models import SkillProperties
from prowess.format import parse_document, read_document
from prowess.format.rules.reference_messages import reference_faults

if TYPE_CHECKING:
    from prowess.format import SkillDocument

__all__ = ["ParseError", "ValidationError", "find_skill_md", "parse_frontmatter", "read_properties"]

# Rules on a document that can be read. A fault of any other rule means that it cannot be read.
_JUDGEMENTS = ("name.", "description.", "compatibility.", "frontmatter.unknownField")


def find_skill_md(skill_dir: Path) -> Path | None:
    """Return the path of SKILL.md, else of skill.md, else None. The type of the file is not checked."""
    for name in ("SKILL.md", "skill.md"):
        path = Path(skill_dir) / name
        if os.path.exists(path):  # unlike Path.exists, returns False for a path that no system accepts
            return path
    return None


def parse_frontmatter(content: str) -> tuple[dict[str, object], str]:
    """Return the fields and the trimmed body. Scalars are strings; the values of `metadata` are converted with `str`.

    Raises:
        ParseError: there is no front matter, or it cannot be read.
    """
    document = parse_document(content)
    return fields_of(document), document.body.strip()


def read_properties(skill_dir: str | os.PathLike[str]) -> SkillProperties:
    """Return the properties of the skill in a directory. Only name and description are required; no rules are applied.

    Raises:
        ParseError: there is no SKILL.md, or it cannot be read.
        ValidationError: name or description is missing, empty or not a string.
    """
    directory = Path(skill_dir)
    if find_skill_md(directory) is None:
        raise ParseError(f"SKILL.md not found in {directory}")
    fields = fields_of(read_document(located(directory)))
    for key in ("name", "description"):
        if key not in fields:
            raise ValidationError(f"Missing required field in frontmatter: {key}")
    # Values are passed on with any type, as in the reference library.
    return SkillProperties(
        name=_text(fields, "name"),
        description=_text(fields, "description"),
        license=cast("str | None", fields.get("license")),
        compatibility=cast("str | None", fields.get("compatibility")),
        allowed_tools=cast("str | None", fields.get("allowed-tools")),
        metadata=cast("dict[str, str] | None", fields.get("metadata")),
    )


def fields_of(document: SkillDocument) -> dict[str, object]:
    """Return the fields of a document in the form of the reference library.

    Raises:
        ParseError: the document cannot be read; the message is the first reason.
    """
    for fault in reference_faults(document, None):
        if not fault.rule.startswith(_JUDGEMENTS):
            raise ParseError(fault.message)
    fields = document.mapping()
    if isinstance(metadata := fields.get("metadata"), dict):
        fields["metadata"] = {key: str(value) for key, value in metadata.items()}
    return fields


def located(directory: Path) -> str:
    """Return the absolute path of a directory. Links in its parent are resolved, but its own name is kept.

    The name must be kept because a link to a skill is validated under the name of the link.

    Raises:
        ParseError: the path cannot be resolved.
    """
    if directory.name in {"", ".."}:  # `.` or `x/..`: the name is known only after resolving
        return resolved(directory)
    return os.path.join(resolved(directory.parent), directory.name)


def resolved(path: Path) -> str:
    """Return the absolute path with all links resolved.

    Raises:
        ParseError: no file system accepts the path, or it is relative and the working directory is gone.
    """
    try:
        return os.path.realpath(path)
    except (OSError, ValueError) as fault:
        raise ParseError(f"SKILL.md not found in {path}: {fault}") from fault


def _text(fields: dict[str, object], key: str) -> str:
    value = fields[key]
    if not isinstance(value, str) or not value.strip():
        raise ValidationError(f"Field '{key}' must be a non-empty string")
    return value.strip()
