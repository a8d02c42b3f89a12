"""Validate a skill with the reference library's names, rules and messages, which `prowess.format` implements."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.compat.skills_ref.errors import ParseError
from prowess.compat.skills_ref.parser import located
from prowess.format import read_document
from prowess.format.limits import (
    FIELDS,
    MAX_COMPATIBILITY_LENGTH,
    MAX_DESCRIPTION_LENGTH,
)
from prowess.format.limits import MAX_NAME_LENGTH as MAX_SKILL_NAME_LENGTH
from prowess.format.rules.reference_messages import (
    metadata_faults,
    not_a_directory,
    path_does_not_exist,
    reference_faults,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALLOWED_FIELDS",
    "MAX_COMPATIBILITY_LENGTH",
    "MAX_DESCRIPTION_LENGTH",
    "MAX_SKILL_NAME_LENGTH",
    "validate",
    "validate_metadata",
]

ALLOWED_FIELDS = set(FIELDS)


def validate(skill_dir: str | os.PathLike[str]) -> list[str]:
    """Return one message for each fault of the skill in a directory; an empty list if it is valid.

    If the path is missing, is not a directory or has no SKILL.md, or if the file cannot be read, there is one message.
    """
    directory = Path(skill_dir)
    if not os.path.exists(directory):
        return [path_does_not_exist(str(directory))]
    if not os.path.isdir(directory):
        return [not_a_directory(str(directory))]
    try:
        document = read_document(located(directory))
    except ParseError as fault:
        return [str(fault)]
    return [fault.message for fault in reference_faults(document, document.directory_name)]


def validate_metadata(metadata: Mapping[str, object], skill_dir: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the messages for parsed front matter. Without `skill_dir` the name is not compared with the directory."""
    name = None if skill_dir is None else os.path.basename(located(Path(skill_dir)))
    return [message for _, message in metadata_faults(metadata, name)]
