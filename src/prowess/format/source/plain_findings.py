"""Whether there is anything to report about the fields of a plain front matter.

`has_plain_findings` agrees with the full parser, or leaves the answer to it. It computes no positions and no messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.format.limits import FIELDS, MAX_COMPATIBILITY_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping

_KNOWN = frozenset(FIELDS)


def has_plain_findings(fields: Mapping[str, object], directory_name: str) -> bool | None:
    """Whether the full parser reports warnings about these fields; `None` if that is in doubt or an error is possible.

    The name without surrounding blanks is compared with that of the directory.
    """
    name, description = fields.get("name"), fields.get("description")
    if not (isinstance(name, str) and isinstance(description, str) and directory_name.isascii()):
        return None
    name, length = name.strip(), len(description.strip())
    if not name or not name.isascii() or not length:
        return None
    license_text = fields.get("license", "-")
    if isinstance(license_text, str) and not license_text.strip():
        return None  # the full parser treats the field as absent
    metadata = fields.get("metadata")
    if not (metadata is None or isinstance(metadata, dict)):
        return None
    if (
        name != directory_name
        or not _is_name(name)
        or length > MAX_DESCRIPTION_LENGTH
        or not isinstance(license_text, str)
        or ("compatibility" in fields and not _is_compatibility(fields["compatibility"]))
        or (metadata is not None and _has_other_than_texts(metadata))
        or not _KNOWN.issuperset(fields)
    ):
        return True
    return "allowed-tools" in fields and _has_tool_findings(fields["allowed-tools"])


def _is_compatibility(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= MAX_COMPATIBILITY_LENGTH


def _has_other_than_texts(metadata: dict[str, object]) -> bool:
    for value in metadata.values():  # noqa: SIM110 -- `any` takes three times as long
        if not isinstance(value, str):
            return True
    return False


def _is_name(text: str) -> bool:
    """Whether an ASCII text that is not empty has the form of a name."""
    return (
        len(text) <= MAX_NAME_LENGTH
        and text.replace("-", "").isalnum()
        and text == text.lower()
        and text[0] != "-"
        and text[-1] != "-"
        and "--" not in text
    )


def _has_tool_findings(value: object) -> bool | None:
    """Whether the full parser reports a warning about `allowed-tools`; `None` in doubt."""
    if not isinstance(value, str):
        return True
    if _is_tool_list(value):
        return False
    is_comma_list = "," in value and "(" not in value and ")" not in value
    return True if is_comma_list else None


def _is_tool_list(text: str) -> bool:
    """Whether `text` has the form `Name Name(pattern) ...` with single spaces between."""
    if not text:
        return False
    left = text
    while left:
        names, bracket, left = left.partition("(")
        if not names.isascii():
            return False
        if not names.isidentifier() and not all(map(str.isidentifier, names.split(" "))):
            return False
        if bracket:
            pattern, closed, left = left.partition(")")
            if not closed or not pattern.strip() or "(" in pattern or (left and left[0] != " "):
                return False
            left = left[1:]
    return True
