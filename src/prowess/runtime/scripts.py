"""A program that a skill brings along or names, run in the sandbox beside the skill: hooks and commands in bodies.

What is run is the staged copy, so the bytes are those that were hashed, even where the author has edited the file
since. There is no shell: the words of a command reach the program as they are.

Rules tell which files of a skill are scripts, which may run, and what they are given of the host. Scripts lie below
`scripts/`, and below what a policy names in `script_dirs`; a model runs them and does not read them. A policy that
names directories permits these alone, and that holds for hooks too. A variable of the host reaches a script where a
policy lists it in `env_allow`; its value is the host's, whatever a call says.

Artifacts are files that scripts left behind, kept for as long as their session: `<root>/<session>/<run>/<name>`. A run
is an identifier that sorts by time, so the newest file of a name is found first. Directories are private and are
removed when the session is closed or has expired. What a killed process left is removed, by its age, by the first
session that puts something beside it.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from anyio import to_thread
from msgspec import Struct

from prowess import execution
from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.files.workspace_root import SANDBOX_NAME
from prowess._internal.places import cache_home, ensure_private_directory
from prowess._internal.uuid7 import uuid7
from prowess.errors import (
    InvalidArgumentsError,
    PolicyDeniedError,
    ResourceNotFoundError,
    ScriptUnsupportedError,
    SessionNotFoundError,
    UnsafePathError,
)
from prowess.execution import ExecLimits, ExecRequest
from prowess.execution.environment import PRIVATE_DIRECTORY, SKILL
from prowess.runtime.files.skill_files import nearest, read_whole, verified

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.execution import ExecResult, Sandbox
    from prowess.policy import Policy
    from prowess.policy.policy import PolicySource
    from prowess.runtime.files.skill_files import VerifiedFile

# The sandbox starts an interpreter with a file of the skill. This one starts the words before that file instead.
_EXEC = "import os, sys\ntry:\n    os.execvp(sys.argv[1], sys.argv[1:-1])\nexcept OSError as fault:\n    print(f'{sys.argv[1]}: {fault.strerror}', file=sys.stderr)\n    sys.exit(127)\n"  # noqa: E501 -- a program on one line
_STARTER = ("/usr/bin/python3", "-I", "-S", "-c", _EXEC)


class Mount(Struct, frozen=True, kw_only=True):
    """Another skill that a program finds at `place` in the sandbox, as its manifest lists it."""

    root_dir: str
    manifest: TreeManifest
    place: str


class SkillPrograms(Struct, frozen=True, kw_only=True):
    """What programs of skills run in: the sandbox, None if scripts are switched off, and what they are given.

    `policy` says which scripts may run and what they are given (`rules`). `workspace` is read-only unless `write`.
    """

    session_id: str
    sandbox: Sandbox | None
    policy: PolicySource
    workspace: str | None
    write: bool

    @property
    def rules(self) -> ScriptRules:
        """What the policy says now."""
        return ScriptRules.of(self.policy.now())

    @property
    def directory(self) -> str:
        """The working directory of programs, inside the sandbox."""
        return PRIVATE_DIRECTORY if self.workspace is None else SANDBOX_NAME

    async def run(
        self,
        root_dir: str,
        manifest: TreeManifest,
        argv: tuple[str, ...],
        *,
        stdin: bytes | None = None,
        seconds: float,
        mounts: Sequence[Mount] = (),
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> ExecResult:
        """Run `argv`: a file of the skill where the first word is one, else a program of the sandbox.

        Words that name a file of the skill are its path there. Working directory, workspace and network are those of a
        script. Variables of the host that the policy lets through win over `env`.

        Raises:
            ScriptUnsupportedError: scripts are switched off, or no interpreter runs the file.
            PolicyDeniedError: a policy lets scripts run from other directories alone.
            SandboxUnavailableError: nothing was run.
            DigestChangedError: the files were edited before they could be copied.
        """
        if self.sandbox is None:
            raise ScriptUnsupportedError(argv[0], "scripts are switched off in this session")
        own = file_of(manifest, argv[0])
        if own is not None:
            self.rules.require_hook(own, own.split("/"))
            script, interpreter, args = own, None, argv[1:]
        else:
            script, interpreter, args = manifest.files[0].path, (*_STARTER, argv[0], *_placed(manifest, argv[1:])), ()
        staged = await to_thread.run_sync(execution.stage, root_dir, manifest, cache_home())
        beside = [
            (mount.place, await to_thread.run_sync(execution.stage, mount.root_dir, mount.manifest, cache_home()))
            for mount in mounts
        ]
        request = ExecRequest(
            skill_dir=staged,
            script=script,
            interpreter=interpreter,
            args=args,
            env={**env, **self.rules.environment({})},
            mounts=tuple(beside),
            stdin=stdin,
            workspace=self.workspace,
            write=self.write,
            limits=ExecLimits(wall_seconds=seconds),
            session_id=self.session_id,
            skill_imports=self.rules.imports_from_root,
        )
        return await self.sandbox.run(request)


def file_of(manifest: TreeManifest, word: str) -> str | None:
    """Return the path of the skill's file that a word names, relative with `/`, or None."""
    try:
        path = "/".join(check_relative(word))
    except UnsafePathError:
        return None
    return path if path and manifest.find(path) is not None else None


def _placed(manifest: TreeManifest, words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word if (own := file_of(manifest, word)) is None else f"{SKILL}/{own}" for word in words)


SCRIPTS = "scripts"


class ScriptRules(Struct, frozen=True, kw_only=True):
    """`dirs` are relative with `/`; `named_in` are the policy files that name them, none where they are the default.

    `variables` are names of variables of the host; `shows_text` says that a model may read scripts.
    """

    dirs: tuple[str, ...] = (SCRIPTS,)
    named_in: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    shows_text: bool = False

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """Return what a policy says."""
        return cls(
            dirs=policy.script_dirs,
            named_in=policy.files_that_set("script_dirs"),
            variables=policy.env_allow,
            shows_text=policy.read_scripts,
        )

    @property
    def imports_from_root(self) -> bool:
        """Whether Python scripts import from the root of their skill: not if a policy names what may run."""
        return not self.named_in

    def is_script(self, parts: Sequence[str]) -> bool:
        """Tell whether what lies at this path is a script, and so described instead of shown."""
        # Without regard to case: on some file systems Scripts/ is the same directory.
        folded = [part.casefold() for part in parts]
        return any(_begins(folded, directory.casefold()) for directory in {SCRIPTS, *self.dirs})

    def is_runnable(self, parts: Sequence[str]) -> bool:
        """Tell whether what lies at this path may run because of where it lies."""
        return any(_begins(parts, directory) for directory in self.dirs)

    def require_runnable(self, path: str, parts: Sequence[str]) -> None:
        """Refuse what may not run because of where it lies.

        Raises:
            PolicyDeniedError: a policy names other directories.
            ScriptUnsupportedError: it is no script.
        """
        if self.is_runnable(parts):
            return
        if self.named_in:
            where = ", ".join(self.named_in)
            allowed = f"only files below {self._listed()} may run" if self.dirs else "no script of a skill may run"
            raise PolicyDeniedError("script_dirs", f"{path!r} is not run: {allowed} (script_dirs in {where})")
        raise ScriptUnsupportedError(path, f"only files below {self._listed() or SCRIPTS + '/'} can be run")

    def require_hook(self, path: str, parts: Sequence[str]) -> None:
        """Refuse a hook that a policy's directories leave out; without such a policy it may lie anywhere in its skill.

        Raises:
            PolicyDeniedError: a policy names other directories.
        """
        if self.named_in:
            self.require_runnable(path, parts)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return what a call gives, and the variables of the host that the policy lists, as far as they are set.

        Raises:
            InvalidArgumentsError: a call names one of these.
        """
        host = {name: os.environ[name] for name in self.variables if name in os.environ}
        if problems := tuple(
            f"env variable {name} has the host's own value here (env_allow of the policy); leave it out"
            for name in sorted(host.keys() & given.keys())
        ):
            raise InvalidArgumentsError(problems)
        return {**given, **host}

    def _listed(self) -> str:
        return ", ".join(f"{directory}/" for directory in self.dirs)


def _begins(parts: Sequence[str], directory: str) -> bool:
    wanted = directory.split("/")
    return list(parts[: len(wanted)]) == wanted


_MAX_BYTES = ExecLimits().out_bytes  # what a script can leave can be read
_RUN = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
ORPHANED_SECONDS = 7 * 86_400.0  # a session ends after a day without a call, unless its host chose otherwise


def _holds_runs_alone(directory: str) -> bool:
    """Tell whether everything in `directory` is named as runs are: a root that a host chose may hold other things."""
    names = os.listdir(directory)
    return bool(names) and all(re.fullmatch(_RUN, name) for name in names)


class Artifacts:
    """What the scripts of one session left. Blocking; `root` is shared with other sessions and may not exist yet."""

    def __init__(self, root: str, session_id: str) -> None:
        self._root, self._session_id = root, session_id
        self._temporary: str | None = None
        self._swept = self._closed = False
        self._lock = threading.Lock()

    def close(self) -> None:
        """Take no further run: what is removed next stays removed, whatever a call is doing at this moment."""
        with self._lock:
            self._closed = True

    def new_run(self) -> str:
        """Return a directory for the next run; it is made when something is put there.

        If the root cannot be written (a read-only home), a temporary directory takes its place.

        Raises:
            SessionNotFoundError: the session was closed meanwhile.
        """
        with self._lock:
            if self._closed:
                raise SessionNotFoundError(self._session_id)
            return self._made()

    def _made(self) -> str:
        try:
            ensure_private_directory(self._own())
        except OSError:
            # Imported here, not at the top: few homes cannot be written.
            import tempfile

            self._temporary = tempfile.mkdtemp(prefix="prowess-artifacts-")
            ensure_private_directory(self._own())
        if not self._swept:
            self._swept = True
            self._sweep()
        return os.path.join(self._own(), uuid7())

    def read(self, name: str) -> VerifiedFile:
        """Read an artifact by `<name>`, from the newest run that has it, or by `<run>/<name>`.

        Raises:
            UnsafePathError: the name could mean another place.
            ResourceNotFoundError: there is none of this name; with the nearest names.
            LimitExceededError: over 32 MiB, more than a script can leave.
        """
        asked = "/".join(check_relative(name))
        with contextlib.suppress(OSError):
            os.utime(self._own())  # in use: no orphan
        for path in (*(f"{run}/{asked}" for run in self._runs()), asked):
            # A missing directory and a missing file mean the same here.
            with contextlib.suppress(OSError), ContainedRoot(self._own()) as root, root.open(path) as file:
                return verified(path, read_whole(file, _MAX_BYTES))
        known = dict.fromkeys(path.partition("/")[2] for path in self.names())
        raise ResourceNotFoundError(None, name, nearest(name, known))

    def names(self) -> Iterator[str]:
        """Yield every artifact as `<run>/<name>`, the newest run first."""
        for run in self._runs():
            top = os.path.join(self._own(), run)
            for directory, below, files in os.walk(top):
                below.sort()
                prefix = os.path.relpath(directory, self._own()).replace(os.sep, "/")
                yield from (f"{prefix}/{file}" for file in sorted(files))

    def remove(self, session_ids: Iterable[str]) -> None:
        """Delete what these sessions left; nothing there is no fault."""
        for session_id in session_ids:
            # Ids come from a store: only a plain name can be a directory of ours.
            if session_id and "/" not in session_id and session_id not in (".", ".."):
                _remove_tree(os.path.join(self._root, session_id))
            if session_id == self._session_id and self._temporary is not None:
                _remove_tree(self._temporary)
                self._temporary = None

    def _sweep(self) -> None:
        now = time.time()
        with contextlib.suppress(OSError), os.scandir(self._root) as found:
            for entry in found:
                # A run makes a new directory in that of its session, so this is the time of the last run or read.
                unused = now - entry.stat(follow_symlinks=False).st_mtime
                if entry.name != self._session_id and unused > ORPHANED_SECONDS and _holds_runs_alone(entry.path):
                    _remove_tree(entry.path)

    def _own(self) -> str:
        return os.path.join(self._temporary or self._root, self._session_id)

    def _runs(self) -> list[str]:
        try:
            return sorted(os.listdir(self._own()), reverse=True)
        except OSError:
            return []


def _remove_tree(path: str) -> None:
    # Imported here, not at the top: few sessions remove what scripts left, and it brings the compression modules.
    import shutil

    shutil.rmtree(path, ignore_errors=True)
