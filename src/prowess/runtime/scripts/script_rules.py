"""Which files of a skill are scripts, which of them may run, and what they are given of the host.

Scripts lie below `scripts/`, and below what a policy names in `script_dirs`; a model runs them and does not read them.
A policy that names directories permits these alone, and that holds for hooks too. A variable of the host reaches a
script where a policy lists it in `env_allow`; its value is the host's, whatever a call says.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from prowess.errors import InvalidArgumentsError, PolicyDeniedError, ScriptUnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.policy import Policy

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

    def is_script(self, parts: Sequence[str]) -> bool:
        """Tell whether what lies at this path is a script, and so described instead of shown."""
        # Without regard to case: on some file systems Scripts/ is the same directory.
        folded = [part.casefold() for part in parts]
        return any(_begins(folded, directory.casefold()) for directory in {SCRIPTS, *self.dirs})

    def require_runnable(self, path: str, parts: Sequence[str]) -> None:
        """Refuse what may not run because of where it lies.

        Raises:
            PolicyDeniedError: a policy names other directories.
            ScriptUnsupportedError: it is no script.
        """
        if any(_begins(parts, directory) for directory in self.dirs):
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
