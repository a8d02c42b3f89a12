"""The reference library's three exceptions, as part of the exceptions of Prowess.

`SkillError` is `prowess.errors.SkillError` itself, so catching it also catches every other error that Prowess raises on
purpose. `ParseError` and `ValidationError` are defined here. They have a message but no place in a file, as in the
reference library. Code written for Prowess gets `SkillParseError` and `InvalidSkillError` instead.
"""

from __future__ import annotations

from prowess.errors import SkillError

__all__ = ["ParseError", "SkillError", "ValidationError"]


class ParseError(SkillError):
    """SKILL.md is missing, cannot be read, or has no valid front matter."""

    code = "skill_invalid"


class ValidationError(SkillError):
    """A required property is missing or empty. `errors` has all messages; by default only `message`."""

    code = "skill_invalid"

    def __init__(self, message: str, errors: list[str] | None = None) -> None:
        super().__init__(message)  # only the message, because callers of the reference library expect it in `args`
        self.errors = [message] if errors is None else errors
