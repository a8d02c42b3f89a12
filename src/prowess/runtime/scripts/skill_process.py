"""A program that a skill brings along or names, run in the sandbox beside the skill: hooks and commands in bodies.

What is run is the staged copy, so the bytes are those that were hashed, even where the author has edited the file
since. There is no shell: the words of a command reach the program as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct

from prowess import execution  # `stage` is imported when used
from prowess._internal.files.contained import check_relative
from prowess._internal.places import cache_home
from prowess.errors import ScriptUnsupportedError, UnsafePathError
from prowess.execution import ExecLimits, ExecRequest
from prowess.runtime.scripts.script_rules import ScriptRules

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.execution import ExecResult, Sandbox
    from prowess.policy.policy import PolicySource

# The sandbox starts an interpreter with a file of the skill. This one starts the words before that file instead.
_EXEC = "import os, sys\ntry:\n    os.execvp(sys.argv[1], sys.argv[1:-1])\nexcept OSError as fault:\n    print(f'{sys.argv[1]}: {fault.strerror}', file=sys.stderr)\n    sys.exit(127)\n"  # noqa: E501 -- a program on one line
_STARTER = ("/usr/bin/python3", "-I", "-S", "-c", _EXEC)


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

    async def run(
        self,
        root_dir: str,
        manifest: TreeManifest,
        argv: tuple[str, ...],
        *,
        stdin: bytes | None = None,
        seconds: float,
    ) -> ExecResult:
        """Run `argv`: a file of the skill where the first word is one, else a program of the sandbox.

        Words that name a file of the skill are its path there. Working directory, workspace and network are those of a
        script.

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
        request = ExecRequest(
            skill_dir=staged,
            script=script,
            interpreter=interpreter,
            args=args,
            env=self.rules.environment({}),
            stdin=stdin,
            workspace=self.workspace,
            write=self.write,
            limits=ExecLimits(wall_seconds=seconds),
            session_id=self.session_id,
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
    return tuple(word if (own := file_of(manifest, word)) is None else f"/skill/{own}" for word in words)
