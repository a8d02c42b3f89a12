"""Checks the paths of a skill's files: each one must name one file inside the skill, on every system.

A skill that is written on one system is read on others. So a path that is absolute, leaves the skill, or means
something else on Windows is refused, and so are two paths that are one file if a file system ignores case or the
Unicode form.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from prowess._internal.files.contained import check_relative
from prowess._internal.files.tree_digest import MAX_DEPTH, MAX_ENTRIES, MAX_FILES
from prowess.errors import LimitExceededError, UnsafePathError

if TYPE_CHECKING:
    from typing import NoReturn

_DEVICES = r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])"
_DEVICE = re.compile(rf"{_DEVICES} *(?:\..*)?", re.IGNORECASE)
# Other spellings of `.git` on file systems that ignore case or some characters. What is in `.git` itself is left out.
_GIT = re.compile("\\.git|git~1", re.IGNORECASE)
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")  # by file systems of macOS
_CONTROL = re.compile(r"[\x00-\x1f\x7f:]")
# One search for paths that may have one of these faults; most have none.
_SUSPECT = re.compile(
    rf"[\x00-\x1f\x7f:]|[. ](?:/|$)|(?:^|/)(?:{_DEVICES} *(?:[./]|$)|\.git(?:/|$)|git~1)|[\u200c-\u206f\ufeff]",
    re.IGNORECASE,
)
_MAX_COMPONENT, _MAX_PATH = 255, 1024  # bytes; a longer name cannot be written on common file systems


def is_portable_name(name: str) -> bool:
    """Whether a name can be the name of one directory on every system."""
    try:
        return "/" not in name and PortablePaths("it").add_file(name) == name
    except UnsafePathError:
        return False


class PortablePaths:
    """The paths of one tree, checked as they are added. Every method raises before anything is written."""

    def __init__(self, what: str) -> None:
        """`what` is the name of the tree in messages, for example `the archive pdf.zip`."""
        self._what = what
        self._spelled: dict[str, str] = {}
        self._files: set[str] = set()
        self._directories: set[str] = set()
        self._entries = 0

    def add_file(self, path: str) -> str:
        """Check the path of a file and return it without `.` and empty components.

        Raises:
            UnsafePathError: the path is unsafe, or another file or directory has this path on some system.
            LimitExceededError: too many files or levels.
        """
        parts = self._checked(path)
        whole = "/".join(parts)
        if not parts:
            self._refuse(path, "it names no file")
        for end in range(1, len(parts)):
            self._add_directory("/".join(parts[:end]))
        self._spell(whole)
        if whole in self._files:
            self._refuse(path, "it occurs twice")
        if whole in self._directories:
            self._refuse(path, "it is a directory too")
        self._files.add(whole)
        if len(self._files) > MAX_FILES:
            raise LimitExceededError(f"files in {self._what}", MAX_FILES, None)
        return whole

    def add_directory(self, path: str) -> str:
        """Check the path of a directory and return it as `add_file` does; `""` is the tree itself. Raises the same."""
        parts = self._checked(path)
        for end in range(1, len(parts) + 1):
            self._add_directory("/".join(parts[:end]))
        return "/".join(parts)

    def _add_directory(self, path: str) -> None:
        if path not in self._directories:
            self._spell(path)
            if path in self._files:
                self._refuse(path, "it is a file too")
            self._directories.add(path)

    def _checked(self, path: str) -> tuple[str, ...]:
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise LimitExceededError(f"entries in {self._what}", MAX_ENTRIES, None)
        parts = check_relative(path, self._what)
        if len(path.encode()) > _MAX_PATH:
            self._refuse(path, f"it is longer than {_MAX_PATH} bytes")
        if len(parts) > MAX_DEPTH:
            raise LimitExceededError(f"directory levels in {self._what}", MAX_DEPTH, len(parts))
        if _SUSPECT.search(path) is not None:
            self._refuse_parts(path, parts)
        if len(path) > _MAX_COMPONENT // 4 and any(len(part.encode()) > _MAX_COMPONENT for part in parts):
            self._refuse(path, f"a name in it is longer than {_MAX_COMPONENT} bytes")
        return parts

    def _refuse_parts(self, path: str, parts: tuple[str, ...]) -> None:
        for part in parts:
            if _DEVICE.fullmatch(part) is not None:
                self._refuse(path, f"{part!r} is a device on Windows; rename it")
            if part != ".git" and _GIT.fullmatch(_IGNORED.sub("", part)) is not None:
                self._refuse(path, f"{part!r} is the repository of git on some systems, which runs files there")
            if _CONTROL.search(part) is not None:
                self._refuse(path, "it has a colon or a control character; rename it")
            if part[-1] in ". ":
                self._refuse(path, "a name that ends with a dot or a space is another name on Windows; rename it")

    def _spell(self, path: str) -> None:
        """Refuse a path whose comparable form another path has: equal after Unicode NFC and case folding."""
        if path.isascii():
            key = path.lower()
        else:
            key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
        if (other := self._spelled.setdefault(key, path)) != path:
            self._refuse(path, f"{other!r} is the same name if case or the Unicode form is ignored; rename one of them")

    def _refuse(self, path: str, problem: str) -> NoReturn:
        raise UnsafePathError(path, f"in {self._what}: {problem}")
