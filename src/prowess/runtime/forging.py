"""Text from skills inside our tags: it can say anything, but it cannot close a section of ours or open another.

Short texts (names, descriptions, paths) are escaped as XML. A body stays as readable as its author wrote it: HTML, code
and placeholders are left alone, and only a `<` that would begin one of our own tags becomes `&lt;`. White space and
invisible characters between `<` and the name do not help a forger, nor does the case.
"""

from __future__ import annotations

import re

SECTION_TAGS = ("available_skills", "active_skills", "skill_content", "skill_resources", "skill")

_GAP = r"[\s\x00-\x1f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]*"
_OURS = re.compile(rf"<(?={_GAP}/?{_GAP}(?:{'|'.join(SECTION_TAGS)})(?![\w.:-]))", re.IGNORECASE)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_SPACE = re.compile(r"\s+")


def escaped(text: str) -> str:
    """Return `text` on one line, fit for the content or a quoted attribute of an element."""
    return one_line(text).translate(_ESCAPES)


def one_line(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return _SPACE.sub(" ", text).strip()


def neutral(body: str) -> str:
    """Return `body` with every tag of ours in it made plain text."""
    return _OURS.sub("&lt;", body)
