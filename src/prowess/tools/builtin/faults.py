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

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"Permission denied: {self.path}: {self.reason}"


class NoSuchFileError(SkillError, LookupError):
    """There is nothing at this path; `suggestions` are paths that may have been meant."""

    code = "resource_not_found"

    def __init__(self, path: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(path, suggestions)
        self.path, self.suggestions = path, suggestions

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"File not found: {self.path}{meant}"


class WrongKindError(SkillError, ValueError):
    """A directory where a file is wanted, or the other way round; `advice` is what to do instead."""

    code = "not_a_file"

    def __init__(self, path: str, kind: str, advice: str) -> None:
        super().__init__(path, kind, advice)
        self.path, self.kind, self.advice = path, kind, advice

    def __str__(self) -> str:
        return f"{self.path} is a {self.kind}; {self.advice}"


class NoTextError(SkillError, ValueError):
    """The bytes are no text in this encoding."""

    code = "not_text"

    def __init__(self, path: str, encoding: str, advice: str) -> None:
        super().__init__(path, encoding, advice)
        self.path, self.encoding, self.advice = path, encoding, advice

    def __str__(self) -> str:
        return f"{self.path} is not {self.encoding} text; {self.advice}"


class ChangedError(SkillError):
    """Another program changed the file between reading and writing; nothing was written."""

    code = "digest_changed"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} was changed while it was edited, so nothing was written; read it again"
