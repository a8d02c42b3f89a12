"""The rule `portability.homePath`."""

from __future__ import annotations

import re

from prowess.lint.rule import WARNING, Findings, LintRule, LintSubject, RuleMeta, Severities

_ROOTS = ("/Users/", "/home/", "C:\\Users\\")
_PLACEHOLDERS = frozenset(
    {"user", "username", "you", "yourname", "your-name", "your_name", "your-username", "name", "me", "shared", "public"}
    | {"claude", "node", "runner", "ubuntu", "ec2-user", "vscode", "app", "agent", "root", "dev", "coder", "default"}
    | {"alice", "bob", "foo", "example", "jovyan", "linuxbrew", "runneradmin", "sandbox", "pi", "admin", "git", "xxx"}
    | {"myuser", "myname", "youruser", "yourusername", "jane", "john", "developer", "...", "deploy", "oai", "appuser"}
)
_SAMPLES = frozenset({"", "text", "txt", "console", "output", "log"})  # languages of blocks that show what is printed
_LONGEST = 40


class PortabilityHomePath(LintRule):
    """A path in somebody's home directory.

    What it does:
        Looks in the body for `/Users/NAME/`, `/home/NAME/` and the like of Windows, with names that are no
        placeholder, outside blocks of code without a language, which show what a program prints.

    Why it matters:
        It exists on the author's machine alone, and tells who that is.

    Example:
        `/Users/maria/work/report.py`

    Instead:
        `scripts/report.py`, or `~/work` where a home is meant
    """

    meta = RuleMeta(
        id="portability.homePath",
        order=27,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="No path leads into a person's home.",
        source="practice of public skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each path."""
        for root in _ROOTS:
            at = subject.body.find(root)
            while at >= 0:
                name = _name(subject.body, at + len(root))
                before = subject.body[max(at - 1, 0) : at]
                block = subject.block_at(at) if name else None
                is_sample = block is not None and block.info in _SAMPLES
                if _is_person(root, name) and not before.isalnum() and not is_sample:
                    message = f"{root}{name} exists on one machine alone; write a path in the skill, or ~"
                    yield self.meta.found(message, subject.at(at, at + len(root) + len(name)))
                at = subject.body.find(root, at + 1)


def _name(text: str, at: int) -> str:
    end = at
    while end < len(text) and end - at < _LONGEST and (text[end].isalnum() or text[end] in "._-"):
        end += 1
    return text[at:end] if text[end : end + 1] in {"/", "\\"} else ""


def _is_person(root: str, name: str) -> bool:
    """Whether a directory is called after a person: below /home services have theirs too, and no person is a_b."""
    if not name or name.lower() in _PLACEHOLDERS or re.split(r"[._-]", name.lower())[0] in _PLACEHOLDERS:
        return False
    return root != "/home/" or ("_" not in name and "-" not in name)
