"""A fast path for skills that are plainly valid: no document is built where no rule could find anything.

The reader of plain front matter knows whether the rules on the six fields have nothing to say; what is left is the
body: its length and its links. Whatever is not certain is handed over and judged rule by rule. A differential test
holds both ways against each other, so a rule of the family `spec` that looks at more has to be known here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.format.body_rules import body_lines
from prowess.format.limits import FIELDS, MANIFEST_FILE, MAX_BODY_LINES, MAX_DOCUMENT_BYTES, MAX_FRONT_MATTER_BYTES
from prowess.format.plain_front_matter import read_plain_skill
from prowess.format.reading import document_at, locate
from prowess.format.references import stays_inside
from prowess.format.validation import document_of

if TYPE_CHECKING:
    from prowess.format.document import SkillDocument
    from prowess.format.profiles import Profile
    from prowess.format.reading import Located
    from prowess.format.validation import Target

_FENCES = len("---\n") + len("\n---")


def document_or_nothing(target: Target, profile: Profile, *, references: bool) -> SkillDocument | None:
    """Return the document of a path, document or skill; None for the path of a skill that is plainly valid."""
    if not isinstance(target, (str, os.PathLike)):
        return document_of(target)
    located = locate(target)
    return None if _is_plainly_valid(located, profile, references=references) else document_at(located)


def _is_plainly_valid(located: Located, profile: Profile, *, references: bool) -> bool:
    data = located.data
    if located.found or len(data) > MAX_DOCUMENT_BYTES or b"\r" in data:
        return False
    if profile.reference_wording or profile.metadata_scalars == "written as text":
        return False
    if not profile.known_fields.issuperset(FIELDS):
        return False
    if os.path.lexists(os.path.join(located.directory, MANIFEST_FILE)):
        return False
    source = read_plain_skill(data, os.path.basename(located.directory), complete=True)
    if source is None or len(source) >= MAX_FRONT_MATTER_BYTES:
        return False
    body = data[len(source) + _FENCES :].decode().removeprefix("\n")
    return body_lines(body) <= MAX_BODY_LINES and (not references or stays_inside(body))
