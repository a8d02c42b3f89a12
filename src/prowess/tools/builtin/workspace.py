"""The places that built-in tools may touch: one workspace, and read-only the directories of skills in force.

A path is relative to the workspace, or absolute and inside it; `/workspace`, as the workspace is called in the sandbox,
works as well. Links are not followed. Files below the `scripts` folder of a skill are run, not read (platform
requirements 003, script execution model), wherever the skill lies: a directory that holds a SKILL.md is one.

The sentences of the errors of the file tools begin as the platform requirements 003 ("Error Handling") want.
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
from prowess._internal.files.workspace_root import ChangedMeanwhileError, WorkspaceRoot, relative_to_workspace
from prowess._internal.text.near_words import near_words
from prowess.errors import InvalidArgumentsError, SkillError, UnsafePathError
from prowess.execution import usable_workspace
from prowess.execution.workspace import protected_part
from prowess.tools.running_call import require_executor

if TYPE_CHECKING:
    from prowess.tools.spec import ToolCall, ToolSpec


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


_SCRIPTS = "scripts"
_SKILL_FILES = ("SKILL.md", "skill.md")

_NO_PART_OF_A_SKILL = ".git"  # belongs to no digest


class LoadedDirectory(Protocol):
    """The directory of a loaded skill, of which only files are read that are as they were when it was loaded."""

    @property
    def root_dir(self) -> str:
        """The absolute path."""
        ...

    def require_loaded(self, path: str, digest: str) -> None:
        """Compare a file (`sha256:` and 64 hex digits) with what was loaded.

        Raises:
            DigestChangedError: it was edited or added since.
        """


Readable = Callable[[], Iterable[str | LoadedDirectory]]


class Place(Struct, frozen=True, kw_only=True):
    """A path that may be touched: `parts` below the directory `root`; `prefix` is put before it when models see it.

    `skill` is the loaded skill that `root` is the directory of.
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
        """The name of this place for a model: relative in the workspace, absolute in the directory of a skill."""
        return self.below(self.parts)

    def below(self, parts: tuple[str, ...]) -> str:
        """Return the name of something at `parts` below the root, for a model."""
        return self.prefix + "/".join(parts) or "."


class Workspace:
    """`root` is the directory; `readable` returns absolute directories that may be read besides, asked at each call.

    Without `write` nothing is written. With `show_scripts` the scripts of skills can be read, for those who write them.

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
        self.writing = threading.Lock()  # one change at a time reads, changes and writes

    def place(self, path: str) -> Place:
        """Return the place that a model's path means, for reading.

        Raises:
            OutsideWorkspaceError: it is none of ours.
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
                if skill is not None and _NO_PART_OF_A_SKILL in place.parts:
                    raise NoSuchFileError(place.shown)
                return place
        raise OutsideWorkspaceError(path, "it is outside of the workspace; give a path relative to the workspace")

    def place_to_write(self, path: str) -> Place:
        """Return the place that a model's path means, for writing.

        Raises:
            OutsideWorkspaceError: it is not in the workspace.
            AccessRefusedError: nothing may be written, or not there.
        """
        place = self.place(path)
        if place.root != self.root:
            raise AccessRefusedError(path, "it belongs to a skill, which is read-only")
        if not self.write:
            raise AccessRefusedError(path, "this session may read the workspace, but not write to it")
        if (guarded := protected_part(place.parts)) is not None:
            raise AccessRefusedError(path, f"programs outside of the sandbox obey {guarded}, so it is not written to")
        return place

    @contextmanager
    def opened(self, place: Place) -> Iterator[WorkspaceRoot]:
        """Open the root of a place; whatever the file system says becomes an error that a model can act on.

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
        except SkillError:  # some of ours are kinds of OSError as well
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
        """Tell whether a file lies below the scripts folder of a skill, and is to be hidden."""
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
            # The reasons of skills speak of a skill's directory.
            reason = fault.reason.replace("the skill's directory", "the workspace")
            raise OutsideWorkspaceError(given, reason) from None
        return Place(root=root, parts=parts, prefix=prefix, skill=skill)


class WorkspaceTool:
    """A tool that works on one workspace, in a thread. Only `abandoned` work is left behind by a cancelled call."""

    spec: ToolSpec
    abandoned = False

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Return what `work` does; it raises the same."""
        require_executor(self, call)
        return await to_thread.run_sync(self.work, arguments, abandon_on_cancel=self.abandoned)

    def work(self, arguments: dict[str, object]) -> dict[str, object]:
        """Do it, blocking."""
        raise NotImplementedError

    @property
    def workspace_root(self) -> str:
        """The real path of the workspace."""
        return self._workspace.root


def _is_skill(root: WorkspaceRoot, parts: tuple[str, ...]) -> bool:
    return any(root.look((*parts, name)) is not None for name in _SKILL_FILES)


def _near(root: WorkspaceRoot, place: Place) -> tuple[str, ...]:
    """Return files of the same directory whose names are close."""
    if not place.parts:
        return ()
    try:
        names = [name for name, _ in root.entries("/".join(place.parts[:-1]) or ".")]
    except (OSError, UnsafePathError):
        return ()
    close = near_words(place.parts[-1], names[:10_000], most=3)
    return tuple(place.below((*place.parts[:-1], name)) for name in close)
