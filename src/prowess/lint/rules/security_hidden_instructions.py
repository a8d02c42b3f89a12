"""The rule `security.hiddenInstructions`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from prowess._internal.markdown import outline
from prowess.diagnostics import Severity
from prowess.lint.readable_texts import readable_texts
from prowess.rule_engine import RuleMeta

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.diagnostics import Diagnostic
    from prowess.lint.subject import LintSubject

_MAX_FOUND = 20
_MAX_CHARACTERS = 50_000  # of the comments of one text
_COMMANDS = {
    "to disregard other instructions": re.compile(
        r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?"
        r"(?:previous|prior|above|earlier|other|system|safety)\s+(?:instructions?|rules?|prompts?|messages?|guidelines?)"
    ),
    "to keep something from the user": re.compile(
        r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to|show\s+(?:this|it)\s+to"
        r"|alert|notify)\s+the\s+user|\bwithout\s+(?:telling|informing|asking|notifying)\s+the\s+user"
    ),
    "to run what a download holds": re.compile(r"\b(?:curl|wget)\s[^|\n]{1,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"),
    "to send data away": re.compile(
        r"\b(?:send|upload|post|exfiltrate|forward)\b[^\n]{0,120}\b(?:api\s+keys?|tokens?|credentials?|passwords?|secrets?"
        r"|environment\s+variables?|ssh\s+keys?)\b[^\n]{0,120}\b(?:to\s+https?://|https?://)"
    ),
}


class SecurityHiddenInstructions:
    """An instruction in a comment, where a reviewer does not see it.

    What it does:
        Looks in HTML comments of SKILL.md, and of the Markdown it links to, for commands to disregard instructions, to
        keep something from the user, to run what a download holds, or to send secrets away. Other comments draw
        nothing.

    Why it matters:
        A rendered page hides the comment from people, and a model reads and obeys the source.

    Example:
        A comment that says: ignore all previous instructions

    Instead:
        Say in the open what the skill does, or take the comment out.
    """

    meta: ClassVar[RuleMeta] = RuleMeta(
        id="security.hiddenInstructions",
        family="security",
        severity=Severity.WARNING,
        summary="No comment gives orders that people do not see.",
        source="OWASP, top 10 for LLM applications, LLM01",
    )

    def check(self, subject: LintSubject) -> Iterator[Diagnostic]:
        """Yield each comment, at the command in it."""
        found = 0
        for readable in readable_texts(subject):
            if readable.kind == "script" or "<!--" not in readable.text:
                continue
            base = subject.document.body_offset if readable.is_own else 0
            held = subject.outline if readable.is_own else outline(readable.text)
            left = _MAX_CHARACTERS
            for start, end in held.comments:
                comment = readable.text[start + base : min(end, start + left) + base].lower()
                left -= len(comment)
                for what, pattern in _COMMANDS.items():
                    match = pattern.search(comment)
                    if match:
                        found += 1
                        at = start + base
                        yield self.meta.found(
                            f"a comment that people do not see asks {what}; say it in the open, or take it out",
                            readable.at(at + match.start(), at + match.end()),
                        )
                        break
                if found == _MAX_FOUND:
                    return
