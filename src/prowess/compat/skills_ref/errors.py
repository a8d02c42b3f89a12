"""The reference library's three exceptions, hung into our tree.

`SkillError` is `prowess.errors.SkillError` itself: a program that catches the one catches the other, and everything
else that Prowess raises on purpose. The two below exist only here, because their facts are the reference library's:
a sentence without a place. Code written for Prowess meets `SkillParseError` and `InvalidSkillError` instead.
"""

from __future__ import annotations

from prowess.errors import SkillError

__all__ = ["ParseError", "SkillError", "ValidationError"]


class ParseError(SkillError):
    """SKILL.md is not there, cannot be read, or has no front matter that can be parsed."""

    code = "skill_invalid"


class ValidationError(SkillError):
    """A required property is missing or empty; `errors` holds every message, by default the one given."""

    code = "skill_invalid"

    def __init__(self, message: str, errors: list[str] | None = None) -> None:
        super().__init__(message)  # the message alone, as callers of the reference find it in `args`
        self.errors = [message] if errors is None else errors
