"""Errors of the file tools; their sentences begin as the platform requirements 003 ("Error Handling") want."""

from __future__ import annotations

from prowess.errors import SkillError, UnsafePathError


class OutsideWorkspaceError(UnsafePathError):
    """The path is not one that these tools may touch; nothing was opened or followed."""

    def __str__(self) -> str:
        return f"Permission denied: {self.path}: {self.reason}"


class AccessRefusedError(SkillError, PermissionError):
    """The file may not be read or written, by a rule or by the file system."""

    code = "policy_denied"
    path: str
    reason: str
    sentence = "Permission denied: {path}: {reason}"


class NoSuchFileError(SkillError, LookupError):
    """There is nothing at this path; `suggestions` are paths that may have been meant."""

    code = "resource_not_found"
    path: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"File not found: {self.path}{meant}"


class WrongKindError(SkillError, ValueError):
    """A directory where a file is wanted, or the other way round; `advice` is what to do instead."""

    code = "not_a_file"
    path: str
    kind: str
    advice: str
    sentence = "{path} is a {kind}; {advice}"


class NoTextError(SkillError, ValueError):
    """The bytes are no text in this encoding."""

    code = "not_text"
    path: str
    encoding: str
    advice: str
    sentence = "{path} is not {encoding} text; {advice}"


class ChangedError(SkillError):
    """Another program changed the file between reading and writing; nothing was written."""

    code = "digest_changed"
    path: str
    sentence = "{path} was changed while it was edited, so nothing was written; read it again"
