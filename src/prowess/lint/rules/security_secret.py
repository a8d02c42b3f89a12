"""The rule `security.secret`."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.text.secret_patterns import SECRET_PATTERNS
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.subject import readable_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.diagnostics import Location
    from prowess.lint.subject import ReadableText

_PLACEHOLDERS = (
    "example",
    "xxxx",
    "your",
    "fake",
    "dummy",
    "placeholder",
    "sample",
    "redacted",
    "test",
    "secret",
    "here",
)
_FILES = frozenset(
    {".env", ".env.local", ".env.production", "credentials.json", "config.json", "settings.json", ".npmrc"}
)
_KEY_ENDINGS = (".pem", ".key")
# A secret counts as an example if it has fewer than 8 different characters among the last 16, or a sequence such as
# "abcde" of more than 4 letters or digits.
_FEWEST, _COUNTED, _LONGEST_ROW = 8, 16, 4


class SecuritySecret(LintRule):
    """A key or a token that is published with the skill.

    What it does:
        Looks for the formats of well-known keys and tokens in SKILL.md, in the Markdown files that it links to, in
        scripts and in files such as `.env`. Plain examples are not reported: the word EXAMPLE, sequences of letters or
        digits, few different characters. The finding never shows the secret itself.

    Why it matters:
        Everyone who gets the skill can use the secret. The secret stays in the version history after it is removed.

    Example:
        A token of GitHub, `ghp_` and 36 characters, in a script

    Instead:
        Read the secret from the environment, name the variable in `compatibility`, and revoke the published secret.
    """

    meta = RuleMeta(
        id="security.secret",
        order=65,
        family="security",
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="No key or token is published with the skill.",
        source="formats of tokens in the documentation of their issuers; RFC 7468",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each secret. The message names only its issuer."""
        for text, at in _texts(subject):
            for sign, what, shape in SECRET_PATTERNS:
                if sign not in text:
                    continue
                for match in re.finditer(shape, text):
                    if _is_example(match[0]):
                        continue
                    yield self.meta.found(
                        f"{what} is written here; revoke it, and read it from the environment",
                        at(match.start()),
                    )


def _texts(subject: LintSubject) -> Iterator[tuple[str, Callable[[int], Location]]]:
    """Yield each text, and a function that returns the location of an offset.

    The location has only a line and a column, so that no report shows the secret.
    """
    for readable in readable_texts(subject):
        yield readable.text, partial(_start, readable)
    for folder in ("", "scripts/", "assets/"):
        entries = subject.files.entries(folder.rstrip("/"))
        for name in (name for name in entries if name in _FILES or name.endswith(_KEY_ENDINGS)):
            if text := subject.files.text(f"{folder}{name}"):
                yield text, partial(subject.file_place, f"{folder}{name}", text=text)


def _start(readable: ReadableText, offset: int) -> Location:
    return replace(readable.at(offset, offset), end_line=None, end_column=None)


def _is_example(secret: str) -> bool:
    """Whether the secret is made up to show its format."""
    lower = secret.lower()
    if any(word in lower for word in _PLACEHOLDERS) or len(set(secret[-_COUNTED:])) < _FEWEST:
        return True
    letters = [char for char in lower if char.isalpha()]
    return _row(letters) > _LONGEST_ROW or _row([char for char in lower if char.isdigit()]) > _LONGEST_ROW


def _row(chars: list[str]) -> int:
    """Return the length of the longest sequence such as "abcd", "1234" or "zzzz"."""
    longest = row = step = 0
    for before, after in pairwise(chars):
        now = ord(after) - ord(before)
        row = row + 1 if now == step and now in {0, 1} else 2 if now in {0, 1} else 0
        step, longest = now, max(longest, row)
    return longest
