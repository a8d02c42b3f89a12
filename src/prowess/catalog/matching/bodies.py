"""The bodies of skills as a field of matching, read from the disk."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from prowess._internal.files.open_flags import READ
from prowess.catalog.matching.fields import LONGEST, body_text, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.matching.fields import FieldText

_HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


def with_body(entry: SkillEntry) -> Iterator[FieldText]:
    """Yield the fields of a skill and their texts, its body last."""
    yield from fields_of(entry)
    yield "body", _body_of(entry)


def _body_of(entry: SkillEntry) -> str:
    """Read the beginning of a skill's body; "" if the file cannot be read, or has changed since it was listed.

    So the body belongs to the listed front matter, and the file passed the checks of the scan, such as the comparison
    with a package's record.
    """
    try:
        fd = os.open(entry.location, READ)
    except OSError:
        return ""
    try:
        data = os.read(fd, 4 * LONGEST) if entry.lists(os.fstat(fd)) else b""
    except OSError:
        return ""
    finally:
        os.close(fd)
    return body_text(_HEAD.sub(b"", data, count=1).decode("utf-8", "replace"))
