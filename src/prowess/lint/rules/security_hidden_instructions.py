"""The rule `security.hiddenInstructions`."""

from __future__ import annotations

import re

from prowess._internal.markdown import outline
from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities
from prowess.lint.subject import readable_texts

_NEAR, _NEAR_IN_A_LINE = 120, 300  # characters between the parts of a command
_COMMANDS = {
    "to disregard other instructions": (
        r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?"
        r"(?:previous|prior|above|earlier|other|system|safety)\s+(?:instructions?|rules?|prompts?|messages?|guidelines?)"
    ),
    "to keep something from the user": (
        r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to|show\s+(?:this|it)\s+to"
        r"|alert|notify)\s+the\s+user|\bwithout\s+(?:telling|informing|asking|notifying)\s+the\s+user"
    ),
}
_DOWNLOAD = r"\b(?:curl|wget)\s[^|\n]+$"
_SHELL = r"\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"
_PARTS_OF_SENDING = (
    r"\b(?P<send>send|upload|post|exfiltrate|forward)\b|(?P<address>https?://)|(?P<line>\n)|\b(?P<secret>api\s+keys?"
    r"|tokens?|credentials?|passwords?|secrets?|environment\s+variables?|ssh\s+keys?)\b"
)


class SecurityHiddenInstructions(LintRule):
    """An instruction in a comment that a reviewer does not see.

    What it does:
        Looks in HTML comments for commands to disregard instructions, to hide facts from the user, to run a download,
        or to send secrets away. SKILL.md and the Markdown files that it links to are searched. Other comments are not
        reported.

    Why it matters:
        A rendered page hides the comment from people, but a model reads and obeys the source.

    Example:
        A comment with the text: ignore all previous instructions

    Instead:
        Write the instruction in the visible text, or remove the comment.
    """

    meta = RuleMeta(
        id="security.hiddenInstructions",
        order=64,
        family="security",
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="No comment hides instructions from people.",
        source="OWASP, top 10 for LLM applications, LLM01",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each comment with a command, at the command."""
        for readable in readable_texts(subject):
            if readable.kind == "script" or "<!--" not in readable.text:
                continue
            base = subject.document.body_offset if readable.is_own else 0
            held = subject.outline if readable.is_own else outline(readable.text)
            for start, end in held.comments:
                if (command := _command(readable.text[start + base : end + base].lower())) is None:
                    continue
                what, first, last = command
                yield self.meta.found(
                    f"a comment that people do not see asks {what}; write it in the visible text, or remove it",
                    readable.at(start + base + first, start + base + last),
                )


def _command(comment: str) -> tuple[str, int, int] | None:
    """Return the kind of command in a comment, and its start and end; None if the comment has none of these commands.

    Each character is examined a bounded number of times, so a long comment is searched to its end.
    """
    for what, pattern in _COMMANDS.items():
        if match := re.search(pattern, comment):
            return what, match.start(), match.end()
    if place := _run_of_download(comment):
        return "to run what a download holds", *place
    return ("to send data away", *place) if (place := _sending(comment)) else None


def _run_of_download(comment: str) -> tuple[int, int] | None:
    for shell in re.finditer(_SHELL, comment):
        first = max(shell.start() - _NEAR_IN_A_LINE - len("curl "), 0)
        if download := re.compile(_DOWNLOAD).search(comment, first, shell.start()):
            return download.start(), shell.end()
    return None


def _sending(comment: str) -> tuple[int, int] | None:
    """Return the range of a verb of sending, a secret and an address, in this order, close together in one line."""
    send: re.Match[str] | None = None
    begun: tuple[int, int] | None = None  # start of the verb and end of the secret
    for part in re.finditer(_PARTS_OF_SENDING, comment):
        match part.lastgroup:
            case "send":
                send = part
            case "secret" if send is not None and part.start() - send.end() <= _NEAR:
                begun = send.start(), part.end()
            case "address" if begun is not None and part.start() - begun[1] <= _NEAR:
                return begun[0], part.end()
            case "line":
                send = begun = None
    return None
