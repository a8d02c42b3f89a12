"""Forms with files as browsers send them (RFC 7578): the fields, and the bytes of each file."""

from __future__ import annotations

import re

from msgspec import Struct

from prowess.errors import InvalidArgumentsError

MULTIPART = "multipart/form-data"
_MOST_PARTS = 20
_BOUNDARY = re.compile(r'multipart/form-data\s*;\s*boundary="?([0-9A-Za-z\'()+_,./:=?-]{1,70})"?\s*', re.IGNORECASE)
_DISPOSITION = re.compile(rb'content-disposition:\s*form-data;\s*name="([^"]*)"(;\s*filename=.*)?', re.IGNORECASE)


class UploadedForm(Struct, frozen=True, kw_only=True):
    """The fields of a form, and its files by the names of their fields. A file that was not chosen is left out."""

    fields: dict[str, str]
    files: dict[str, bytes]


def read_upload(content_type: str, body: bytes) -> UploadedForm:
    """Return the form in a body. Raises InvalidArgumentsError if it is none; its size was limited before."""
    boundary = _BOUNDARY.fullmatch(content_type.strip())
    if boundary is None:
        raise InvalidArgumentsError(("the form names no boundary",))
    first, *parts = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())
    if first or not parts or not parts[-1].startswith(b"--") or len(parts) > _MOST_PARTS:
        raise InvalidArgumentsError((f"this is not a form of at most {_MOST_PARTS} parts",))
    form = UploadedForm(fields={}, files={})
    for part in parts[:-1]:
        _take(form, part)
    return form


def _take(form: UploadedForm, part: bytes) -> None:
    head, found, data = part.partition(b"\r\n\r\n")
    matches = [match for line in head.split(b"\r\n") if (match := _DISPOSITION.fullmatch(line.strip()))]
    if not found or len(matches) != 1:
        raise InvalidArgumentsError(("a part of the form has no name",))
    try:
        name = matches[0][1].decode()
        if matches[0][2] is None:
            form.fields[name] = data.decode()
        elif data:
            form.files[name] = data
    except UnicodeDecodeError:
        raise InvalidArgumentsError(("a field of the form is not UTF-8",)) from None
