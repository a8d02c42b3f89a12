"""The paths that built-in tools may access: one workspace and, read-only, the directories of active skills.

A path is relative to the workspace, or absolute and inside it. `/workspace`, the path of the workspace in the sandbox,
is accepted as well. Symbolic links are not followed. Files in the `scripts` folder of a skill are run, not read
(platform requirements 003, script execution model). Every directory that contains a SKILL.md is a skill.

Error messages of the file tools begin as required by the platform requirements 003 ("Error Handling").
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from anyio import to_thread
from msgspec import Struct

from prowess._internal.files.contained import check_relative
from prowess._internal.files.tree_digest import is_left_out
from prowess._internal.files.workspace_root import ChangedMeanwhileError, WorkspaceRoot, relative_to_workspace
from prowess._internal.text.near_words import near_words
from prowess.errors import InvalidArgumentsError, SkillError, UnsafePathError
from prowess.execution import usable_workspace
from prowess.execution.workspace import protected_part
from prowess.format.limits import FILE_NAMES
from prowess.tools.running_call import require_executor

if TYPE_CHECKING:
    from prowess.tools.spec import ToolCall, ToolSpec


class OutsideWorkspaceError(UnsafePathError):
    """The tools may not access this path. It was neither opened nor followed."""

    def __str__(self) -> str:
        return f"Permission denied: {self.path}: {self.reason}"


class AccessRefusedError(SkillError, PermissionError):
    """A rule or the file system refuses to read or write the file."""

    code = "policy_denied"
    path: str
    reason: str
    sentence = "Permission denied: {path}: {reason}"


class NoSuchFileError(SkillError, LookupError):
    """The path does not exist. `suggestions` are similar paths."""

    code = "resource_not_found"
    path: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"File not found: {self.path}{meant}"


class WrongKindError(SkillError, ValueError):
    """The path is a directory but must be a file, or the reverse. `advice` is the next step."""

    code = "not_a_file"
    path: str
    kind: str
    advice: str
    sentence = "{path} is a {kind}; {advice}"


class NoTextError(SkillError, ValueError):
    """The bytes are not text in this encoding."""

    code = "not_text"
    path: str
    encoding: str
    advice: str
    sentence = "{path} is not {encoding} text; {advice}"


class ChangedError(SkillError):
    """Another program changed the file between reading and writing. It was not written."""

    code = "digest_changed"
    path: str
    sentence = "{path} was changed while it was edited, so nothing was written; read it again"


_SCRIPTS = "scripts"


class LoadedDirectory(Protocol):
    """The directory of a loaded skill. Its files are read only if they are unchanged since it was loaded."""

    @property
    def root_dir(self) -> str:
        """The absolute path of the directory."""
        ...

    def allows_hard_links(self) -> bool:
        """Whether the skill's package recorded its files. Raise DigestChangedError if the loaded files are unknown."""
        ...

    def require_loaded(self, path: str, digest: str) -> None:
        """Compare the digest of a file (`sha256:` and 64 hex digits) with the loaded version.

        Raise DigestChangedError if the file was edited or added after the skill was loaded.
        """


Readable = Callable[[], Iterable[str | LoadedDirectory]]


class Place(Struct, frozen=True, kw_only=True):
    """A path that tools may access: `parts` are its components below the directory `root`.

    `prefix` precedes the path in texts for models. `skill` is the loaded skill with the directory `root`, or None.
    """

    root: str
    parts: tuple[str, ...]
    prefix: str = ""
    skill: LoadedDirectory | None = None

    @property
    def path(self) -> str:
        """The path relative to the root."""
        return "/".join(self.parts) or "."

    @property
    def shown(self) -> str:
        """The path as shown to a model: relative in the workspace, absolute in the directory of a skill."""
        return self.below(self.parts)

    def below(self, parts: tuple[str, ...]) -> str:
        """Return the path of `parts` below the root, as shown to a model."""
        return self.prefix + "/".join(parts) or "."

    def shows(self, parts: tuple[str, ...]) -> bool:
        """Return whether a file below the root may be shown: one of a loaded skill only if a digest covers it."""
        return self.skill is None or not is_left_out("/".join(parts))


class Workspace:
    """The directory `root`, and absolute directories that may be read in addition, which `readable` returns.

    `readable` is called at each tool call. Without `write`, no file is written. With `show_scripts`, the scripts of
    skills can be read, for skill authors.

    Raises:
        InvalidArgumentsError: `root` cannot be a workspace (see `prowess.execution.usable_workspace`).
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        write: bool = False,
        readable: Readable = tuple,
        show_scripts: bool = False,
    ) -> None:
        named = os.path.abspath(os.fspath(root))
        real, notice = usable_workspace(named)
        if real is None:
            raise InvalidArgumentsError((notice.message if notice else f"{named} cannot be a workspace",))
        self.root, self._named = real, named
        self.write, self.show_scripts = write, show_scripts
        self._readable = readable
        self.writing = threading.Lock()  # held while a file is read, changed and written

    def place(self, path: str) -> Place:
        """Return the place of a model's path, for reading.

        Raise OutsideWorkspaceError, or NoSuchFileError for a file of a loaded skill that no digest covers.
        """
        if not path.startswith("/"):
            return self._inside(self.root, path, path)
        if (rest := relative_to_workspace(path, self.root, self._named)) is not None:
            return self._inside(self.root, rest, path)
        for readable in self._readable():
            directory, skill = (readable, None) if isinstance(readable, str) else (readable.root_dir, readable)
            named = os.path.abspath(directory)
            if path == named or path.startswith(f"{named}/"):
                rest = path[len(named) :].lstrip("/") or "."
                place = self._inside(os.path.realpath(directory), rest, path, prefix=f"{named}/", skill=skill)
                if not place.shows(place.parts):
                    raise NoSuchFileError(place.shown)
                return place
        raise OutsideWorkspaceError(path, "it is outside of the workspace; give a path relative to the workspace")

    def place_to_write(self, path: str) -> Place:
        """Return the place of a model's path, for writing.

        Raise OutsideWorkspaceError, or AccessRefusedError for a protected path, one of a skill, or if writing is off.
        """
        place = self.place(path)
        if place.root != self.root:
            raise AccessRefusedError(path, "it belongs to a skill, which is read-only")
        if not self.write:
            raise AccessRefusedError(path, "this session may read the workspace, but not write to it")
        if (guarded := protected_part(place.parts)) is not None:
            raise AccessRefusedError(
                path, f"{guarded} controls programs outside of the sandbox, so it must not be changed"
            )
        return place

    @contextmanager
    def opened(self, place: Place) -> Iterator[WorkspaceRoot]:
        """Open the root of a place. Inside, errors of the file system become errors that a model can act on.

        Raises:
            NoSuchFileError, AccessRefusedError, OutsideWorkspaceError, WrongKindError, ChangedError: see each.
        """
        try:
            with WorkspaceRoot(place.root) as root:
                try:
                    yield root
                except FileNotFoundError:
                    raise NoSuchFileError(place.shown, _near(root, place)) from None
        except OutsideWorkspaceError:
            raise
        except UnsafePathError as fault:
            raise OutsideWorkspaceError(place.shown, fault.reason) from None
        except SkillError:  # some errors of Prowess are OSErrors as well
            raise
        except (NotADirectoryError, FileNotFoundError):
            raise NoSuchFileError(place.shown) from None
        except IsADirectoryError:
            raise WrongKindError(place.shown, "directory", "give the path of a file, or list it with Glob") from None
        except ChangedMeanwhileError:
            raise ChangedError(place.shown) from None
        except OSError as fault:
            raise AccessRefusedError(place.shown, fault.strerror or type(fault).__name__) from None

    def is_script(self, root: WorkspaceRoot, parts: tuple[str, ...]) -> bool:
        """Return whether a file is in the `scripts` folder of a skill and must be hidden."""
        return not self.show_scripts and any(
            part.casefold() == _SCRIPTS and _is_skill(root, parts[:index]) for index, part in enumerate(parts[:-1])
        )

    @staticmethod
    def _inside(
        root: str, relative: str, given: str, *, prefix: str = "", skill: LoadedDirectory | None = None
    ) -> Place:
        try:
            parts = check_relative(relative)
        except UnsafePathError as fault:
            # The reasons were written for skills and mention the skill's directory.
            reason = fault.reason.replace("the skill's directory", "the workspace")
            raise OutsideWorkspaceError(given, reason) from None
        return Place(root=root, parts=parts, prefix=prefix, skill=skill)


class WorkspaceTool:
    """A tool that works on one workspace, in a thread. A cancelled call waits for it unless `abandoned` is true."""

    spec: ToolSpec
    abandoned = False

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return the result of `work`, run in a thread. Raises the errors of `work`."""
        require_executor(self, call)
        return await to_thread.run_sync(self.work, arguments, abandon_on_cancel=self.abandoned)

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Do the work of the tool, blocking."""
        raise NotImplementedError

    @property
    def workspace_root(self) -> str:
        """The real path of the workspace."""
        return self._workspace.root


def _is_skill(root: WorkspaceRoot, parts: tuple[str, ...]) -> bool:
    return any(root.look((*parts, name)) is not None for name in FILE_NAMES)


def _near(root: WorkspaceRoot, place: Place) -> tuple[str, ...]:
    """Return paths in the same directory with similar names."""
    if not place.parts:
        return ()
    try:
        names = [name for name, _ in root.entries("/".join(place.parts[:-1]) or ".")]
    except (OSError, UnsafePathError):
        return ()
    close = near_words(place.parts[-1], names[:10_000], most=3)
    return tuple(place.below((*place.parts[:-1], name)) for name in close)
