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
_SAMPLES = frozenset({"", "text", "txt", "console", "output", "log"})  # languages of code blocks that show output
_LONGEST = 40


class PortabilityHomePath(LintRule):
    """A path in a person's home directory.

    What it does:
        Looks in the body for `/Users/NAME/`, `/home/NAME/` and the home directories of Windows. Placeholder names such
        as `user` are not reported. Code blocks without a language, or with a language such as `text` or `console`, are
        not reported either, because they show the output of a program.

    Why it matters:
        The path exists only on the author's machine, and reveals the author's name.

    Example:
        `/Users/maria/work/report.py`

    Instead:
        `scripts/report.py`, or `~/work` for a path in the user's home directory
    """

    meta = RuleMeta(
        id="portability.homePath",
        order=27,
        most=20,
        severities=Severities(spec=WARNING, skillscraft=WARNING, boxxy=WARNING, claude_code=WARNING),
        summary="No path is in a person's home directory.",
        source="practice of public skills",
    )

    def check(self, subject: LintSubject) -> Findings:
        """Yield each path in a person's home directory."""
        for root in _ROOTS:
            at = subject.body.find(root)
            while at >= 0:
                name = _name(subject.body, at + len(root))
                before = subject.body[max(at - 1, 0) : at]
                block = subject.block_at(at) if name else None
                is_sample = block is not None and block.info in _SAMPLES
                if _is_person(root, name) and not before.isalnum() and not is_sample:
                    message = f"{root}{name} exists only on one machine; write a path in the skill, or ~"
                    yield self.meta.found(message, subject.at(at, at + len(root) + len(name)))
                at = subject.body.find(root, at + 1)


def _name(text: str, at: int) -> str:
    end = at
    while end < len(text) and end - at < _LONGEST and (text[end].isalnum() or text[end] in "._-"):
        end += 1
    return text[at:end] if text[end : end + 1] in {"/", "\\"} else ""


def _is_person(root: str, name: str) -> bool:
    """Whether a directory is named after a person. Below `/home`, a name with `_` or `-` belongs to a service."""
    if not name or name.lower() in _PLACEHOLDERS or re.split(r"[._-]", name.lower())[0] in _PLACEHOLDERS:
        return False
    return root != "/home/" or ("_" not in name and "-" not in name)
