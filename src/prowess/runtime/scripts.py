"""Programs of skills (scripts, hooks, commands in bodies), the rules for them, and the artifacts they leave.

A program runs in the sandbox from a staged copy of the skill, so the bytes that run are the hashed bytes, even if the
author has edited the file since. No shell is involved: the words of a command reach the program unchanged.

`ScriptRules` states which files of a skill are scripts, which may run, and which variables of the host they receive.
Scripts are below `scripts/` and below the policy's `script_dirs`; a model can run them but not read them. If a policy
sets `script_dirs`, only files in these directories may run, also as hooks. A variable of the host reaches a script only
if a policy lists the variable in `env_allow`. The value comes from the host, and a call cannot override it.

Artifacts are files that scripts leave behind: `<root>/<session>/<run>/<name>`. Run ids sort by time, so the newest file
of a name is found first. The directories are private and are removed when the session is closed or has expired. If a
process is killed, its artifacts remain until another session writes to this root and removes old artifacts.
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

# The sandbox starts an interpreter with a file of the skill. This interpreter drops that file (its last argument) and
# executes the words before it.
_EXEC = "import os, sys\ntry:\n    os.execvp(sys.argv[1], sys.argv[1:-1])\nexcept OSError as fault:\n    print(f'{sys.argv[1]}: {fault.strerror}', file=sys.stderr)\n    sys.exit(127)\n"  # noqa: E501 -- a program on one line
_STARTER = ("/usr/bin/python3", "-I", "-S", "-c", _EXEC)


class Mount(Struct, frozen=True, kw_only=True):
    """Another skill that is mounted at `place` in the sandbox, with the files of its manifest."""

    root_dir: str
    manifest: TreeManifest
    place: str


class SkillPrograms(Struct, frozen=True, kw_only=True):
    """Runs programs of skills. `sandbox` is None if scripts are switched off.

    `policy` sets which scripts may run and their variables (see `rules`). `workspace` is read-only unless `write` is
    true.
    """

    session_id: str
    sandbox: Sandbox | None
    policy: PolicySource
    workspace: str | None
    write: bool

    @property
    def rules(self) -> ScriptRules:
        """The script rules of the current policy."""
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
        """Run `argv`. Its first word is a file of the skill, else a program in the sandbox.

        Words that name a file of the skill are replaced by the file's path in the sandbox. Working directory, workspace
        and network are as for scripts. Variables of the host that the policy allows take precedence over `env`.

        Raises:
            ScriptUnsupportedError: scripts are switched off, or there is no interpreter for the file.
            PolicyDeniedError: a policy permits only scripts from other directories.
            SandboxUnavailableError: the sandbox could not start; the program was not run.
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
    """Return the path of the skill's file that a word names, relative with `/`; None if it names no file."""
    try:
        path = "/".join(check_relative(word))
    except UnsafePathError:
        return None
    return path if path and manifest.find(path) is not None else None


def _placed(manifest: TreeManifest, words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word if (own := file_of(manifest, word)) is None else f"{SKILL}/{own}" for word in words)


SCRIPTS = "scripts"


class ScriptRules(Struct, frozen=True, kw_only=True):
    """Which files of a skill are scripts, which may run, and which host variables they receive.

    `dirs` are relative with `/`. `named_in` lists the policy files that set `dirs`; it is empty for the default
    directories. `variables` are names of host variables. If `shows_text` is true, a model may read scripts.
    """

    dirs: tuple[str, ...] = (SCRIPTS,)
    named_in: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    shows_text: bool = False

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """Return the rules of a policy."""
        return cls(
            dirs=policy.script_dirs,
            named_in=policy.files_that_set("script_dirs"),
            variables=policy.env_allow,
            shows_text=policy.read_scripts,
        )

    @property
    def imports_from_root(self) -> bool:
        """Whether Python scripts can import from the skill's root; False if a policy sets `script_dirs`."""
        return not self.named_in

    def is_script(self, parts: Sequence[str]) -> bool:
        """Return whether the file at this path is a script. A model gets a script's description instead of its text."""
        folded = [part.casefold() for part in parts]  # on some file systems, Scripts/ is the same directory
        return any(_begins(folded, directory.casefold()) for directory in {SCRIPTS, *self.dirs})

    def is_runnable(self, parts: Sequence[str]) -> bool:
        """Return whether the path is in a directory from which files may run."""
        return any(_begins(parts, directory) for directory in self.dirs)

    def require_runnable(self, path: str, parts: Sequence[str]) -> None:
        """Refuse a path outside the directories from which files may run.

        Raise PolicyDeniedError if a policy permits only other directories, ScriptUnsupportedError if the file is no
        script.
        """
        if self.is_runnable(parts):
            return
        if self.named_in:
            where = ", ".join(self.named_in)
            allowed = f"only files below {self._listed()} may run" if self.dirs else "no script of a skill may run"
            raise PolicyDeniedError("script_dirs", f"{path!r} is not run: {allowed} (script_dirs in {where})")
        raise ScriptUnsupportedError(path, f"only files below {self._listed() or SCRIPTS + '/'} can be run")

    def require_hook(self, path: str, parts: Sequence[str]) -> None:
        """Refuse a hook outside the directories that a policy sets.

        If no policy sets directories, a hook may be anywhere in its skill.

        Raises:
            PolicyDeniedError: a policy permits only other directories.
        """
        if self.named_in:
            self.require_runnable(path, parts)

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return `given` and those variables of the host that the policy lists and that are set.

        Raise InvalidArgumentsError if the call sets a variable that the host provides.
        """
        host = {name: os.environ[name] for name in self.variables if name in os.environ}
        if problems := tuple(
            f"env variable {name} is set by the host (env_allow of the policy); leave it out"
            for name in sorted(host.keys() & given.keys())
        ):
            raise InvalidArgumentsError(problems)
        return {**given, **host}

    def _listed(self) -> str:
        return ", ".join(f"{directory}/" for directory in self.dirs)


def _begins(parts: Sequence[str], directory: str) -> bool:
    wanted = directory.split("/")
    return list(parts[: len(wanted)]) == wanted


_MAX_BYTES = ExecLimits().out_bytes  # as much as a script may write
_RUN = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
ORPHANED_SECONDS = 7 * 86_400.0  # by default a session expires after one day without a call


def _holds_runs_alone(directory: str) -> bool:
    """Return whether `directory` contains at least one run and no other entry: a host's root may have other files."""
    names = os.listdir(directory)
    return bool(names) and all(re.fullmatch(_RUN, name) for name in names)


class Artifacts:
    """Files that the scripts of one session left. Methods block. `root` is shared and created for the first run."""

    def __init__(self, root: str, session_id: str) -> None:
        self._root, self._session_id = root, session_id
        self._temporary: str | None = None
        self._swept = self._closed = False
        self._lock = threading.Lock()

    def close(self) -> None:
        """Accept no more runs. After that, a concurrent call cannot recreate files that the session removes."""
        with self._lock:
            self._closed = True

    def new_run(self) -> str:
        """Return a directory for the next run. It is created when the first artifact is written.

        If the root is not writable (for example a read-only home), a temporary directory is used.

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
            import tempfile  # imported here: rarely needed

            self._temporary = tempfile.mkdtemp(prefix="prowess-artifacts-")
            ensure_private_directory(self._own())
        if not self._swept:
            self._swept = True
            self._sweep()
        return os.path.join(self._own(), uuid7())

    def read(self, name: str) -> VerifiedFile:
        """Read an artifact by `<name>`, from the newest run that has it, or by `<run>/<name>`.

        Raises:
            UnsafePathError: the name is absolute or leaves the directory.
            ResourceNotFoundError: no artifact has this name; `suggestions` has the nearest names.
            LimitExceededError: the artifact is over 32 MiB, more than a script may write.
        """
        asked = "/".join(check_relative(name))
        with contextlib.suppress(OSError):
            os.utime(self._own())  # marks the directory as used, for `_sweep`
        for path in (*(f"{run}/{asked}" for run in self._runs()), asked):
            # A missing directory is treated like a missing file.
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
        """Delete the artifacts of these sessions. Sessions without artifacts are ignored."""
        for session_id in session_ids:
            # The ids come from a store. Only a plain name can be a directory of artifacts.
            if session_id and "/" not in session_id and session_id not in (".", ".."):
                _remove_tree(os.path.join(self._root, session_id))
            if session_id == self._session_id and self._temporary is not None:
                _remove_tree(self._temporary)
                self._temporary = None

    def _sweep(self) -> None:
        now = time.time()
        with contextlib.suppress(OSError), os.scandir(self._root) as found:
            for entry in found:
                # Each run creates a directory here and each read touches it: its time is that of the last run or read.
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
    import shutil  # imported here: rarely needed, slow to import

    shutil.rmtree(path, ignore_errors=True)
