"""Judge a skill with the reference library's names, rules and words; `prowess.format` holds all three."""

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
    """Return one message for each fault of the skill in a directory; an empty list means that it is valid.

    A path that is missing, no directory or without SKILL.md, and a file that cannot be read, give a single message.
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
    """Return the messages for front matter that was parsed already; without a directory its name is not compared."""
    name = None if skill_dir is None else os.path.basename(located(Path(skill_dir)))
    return [message for _, message in metadata_faults(metadata, name)]
