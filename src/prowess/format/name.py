"""Skill names: normalised once, compared everywhere.

The specification allows lowercase letters and digits of any script and single hyphens, 1 to 64 characters. Characters
are counted after NFKC, so two spellings with one normal form are one name.
"""

from __future__ import annotations

import unicodedata

from msgspec import Struct

from prowess.format.limits import MAX_NAME_LENGTH

# Normalising is quadratic in a run of combining marks. A longer text cannot shrink to a valid name.
_NORMALISED_AT_MOST = 16 * MAX_NAME_LENGTH


class NameFault(Struct, frozen=True, kw_only=True):
    """One reason why a name is not valid. `kind` is `length`, `case`, `edge`, `double` or `character`.

    `offset` counts code points in the normalised name. `character` is the character at fault, or empty for a wrong
    length.
    """

    kind: str
    rule: str
    message: str
    offset: int
    character: str = ""


class SkillName(Struct, frozen=True, kw_only=True, order=True):
    """A normalised name, valid or not (see `name_faults`). Two names clash if their keys are equal."""

    text: str

    @classmethod
    def of(cls, raw: str) -> SkillName:
        """Trim and normalise `raw`."""
        return cls(text=normalise(raw))

    def __str__(self) -> str:
        return self.text


def normalise(raw: str) -> str:
    """Return `raw` without surrounding whitespace, in NFKC."""
    text = raw.strip()
    if text.isascii():
        return text
    head, tail = text[:_NORMALISED_AT_MOST], text[_NORMALISED_AT_MOST:]
    return unicodedata.normalize("NFKC", head) + tail


def name_faults(text: str, *, ascii_only: bool = False) -> list[NameFault]:
    """Return every fault of a normalised, non-empty name, in the order of the reference tool.

    With `ascii_only` the letters and digits are a-z and 0-9, as in the pattern `limits.NAME_PATTERN`.
    """
    faults = []
    if len(text) > MAX_NAME_LENGTH:
        message = f"name has {len(text)} characters, at most {MAX_NAME_LENGTH} are allowed"
        faults.append(NameFault(kind="length", rule="name.maxLength", message=message, offset=MAX_NAME_LENGTH))
    if (index := _first_uppercase(text)) is not None:
        message = f"name must be lowercase, but character {index + 1} is {text[index]!r}"
        faults.append(NameFault(kind="case", rule="name.format", message=message, offset=index, character=text[index]))
    if text.startswith("-"):
        faults.append(
            NameFault(kind="edge", rule="name.format", message="name starts with a hyphen", offset=0, character="-")
        )
    if text.endswith("-") and len(text) > 1:
        faults.append(
            NameFault(
                kind="edge", rule="name.format", message="name ends with a hyphen", offset=len(text) - 1, character="-"
            )
        )
    if (index := text.find("--")) >= 0:
        faults.append(
            NameFault(
                kind="double",
                rule="name.format",
                message=f"name has two hyphens in a row at {index + 1}",
                offset=index,
                character="-",
            )
        )
    for index, char in enumerate(text):
        if not (char == "-" or (char.isalnum() and (char.isascii() or not ascii_only))):
            allowed = "a to z, 0 to 9" if ascii_only else "lowercase letters, digits"
            message = f"character {index + 1} of name is {char!r}, only {allowed} and hyphens are allowed"
            faults.append(
                NameFault(kind="character", rule="name.format", message=message, offset=index, character=char)
            )
            break  # report only the first: a sentence as a name would give a finding for each space
    return faults


def is_portable(text: str) -> bool:
    """Whether every client accepts the characters of `text`: only ASCII is accepted everywhere."""
    return text.isascii()


def _first_uppercase(text: str) -> int | None:
    if text == text.lower() and not any(char.isupper() or char.istitle() for char in text):
        return None
    return next((index for index, char in enumerate(text) if char != char.lower() or char.isupper()), 0)
