"""The settings of an iteration: a JSON file in its folder that is written when it begins, and compared when it resumes.

Each command that makes iterations has one `SettingsFile`. Its settings decide about the results; caps and the
number of jobs may differ in a resumed iteration. Digests are those of the snapshots in the iteration.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct, to_builtins
from msgspec.structs import replace

from prowess._internal.files.bounded_read import read_regular_file
from prowess._internal.text.shape_faults import shape_fault
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.report import WITH_SKILL, StopReason
from prowess.evals.iterations.folders import NEIGHBOURS, iterations, new_iteration, write_json
from prowess.evals.iterations.snapshots import content_digests, take_snapshots

if TYPE_CHECKING:
    from collections.abc import Mapping

_Form = TypeVar("_Form", bound=Struct)
_OPTIONS = {"until_decided": "--until decided", "consistency": "--min-consistency"}  # that are not named as the field
_MOST_SETTINGS, _MOST_REPORT = 1 << 20, 1 << 26  # bytes
RunCount = Annotated[int, Meta(ge=1, le=10_000)]  # in the settings, which may come from somebody else
_NEW = "leave --resume out to start a new iteration"


class IterationEnd(Struct, frozen=True, kw_only=True):
    """How an iteration ended. One that was killed is not complete, and its `stopped` is None."""

    complete: bool = False
    stopped: StopReason | None = None


class OpenedIteration(Struct, Generic[_Form], frozen=True, kw_only=True):
    """An iteration that begins, or goes on. `settings` have the digests of its snapshots."""

    path: str
    settings: _Form
    is_new: bool

    def discard(self) -> None:
        """Remove a new folder in which nothing began."""
        if self.is_new:
            shutil.rmtree(self.path, ignore_errors=True)


class SettingsFile(Struct, Generic[_Form], frozen=True, kw_only=True):
    """The file `name` of a command's iterations. `report` is the file that it writes last, with a field `complete`.

    `owner` are the fields of `form` that say whose iteration it is, `options` those that an option of the command sets.
    All other fields but `version` are digests of inputs. `command` is the command without `prowess`.
    """

    name: str
    report: str
    form: type[_Form]
    version: int
    command: str
    owner: tuple[str, ...]
    options: tuple[str, ...]

    def opened(
        self,
        workspace: str,
        settings: _Form,
        *,
        skills: Mapping[str, str],
        neighbours: Mapping[str, str],
        resume: bool,
    ) -> OpenedIteration[_Form]:
        """Open the newest unfinished iteration to resume it, or begin one with snapshots of skills by name.

        The digests of the skills, directories by name, get into the fields `skills` and `neighbours` of the settings.

        Raises:
            InvalidArgumentsError: a skill cannot be copied, or the resumed iteration has other settings.
        """
        unfinished = self.resumable(workspace) if resume else None
        path = new_iteration(workspace) if unfinished is None else unfinished
        kinds = ((WITH_SKILL, skills), (NEIGHBOURS, neighbours))
        try:
            own, others = (
                take_snapshots(path, kind, roots) if unfinished is None else content_digests(roots)
                for kind, roots in kinds
            )
        except InvalidArgumentsError:
            if unfinished is None:
                shutil.rmtree(path, ignore_errors=True)  # nothing began
            raise
        settings = replace(settings, skills=own, neighbours=others)
        if unfinished is None:
            self.begin(path, settings)
        else:
            self.require_same(path, settings)
        return OpenedIteration(path=path, settings=settings, is_new=unfinished is None)

    def begin(self, folder: str, settings: _Form) -> None:
        """Write the settings. A folder without them belongs to a process that was killed before it began."""
        write_json(os.path.join(folder, self.name), to_builtins(settings))

    def finish(self, folder: str, report: Mapping[str, Any]) -> None:
        """Write the report."""
        write_json(os.path.join(folder, self.report), report)

    def end_of(self, folder: str) -> IterationEnd:
        """Return how an iteration ended, by its report."""
        try:
            data = read_regular_file(os.path.join(folder, self.report), _MOST_REPORT)
            return msgspec.json.decode(data, type=IterationEnd)
        except (OSError, msgspec.DecodeError, RecursionError):  # missing or damaged, as after a kill
            return IterationEnd()

    def resumable(self, workspace: str) -> str | None:
        """Return the newest iteration of this command that is not complete. One of a replay is none."""
        for _, path in reversed(iterations(workspace)):
            begun = os.path.join(path, self.name)
            if not os.path.exists(begun) or self.end_of(path).complete:
                continue
            if not _is_replay(begun):
                return path
        return None

    def read(self, folder: str) -> _Form:
        """Return the settings of an iteration.

        Raises:
            InvalidArgumentsError: the folder is no iteration of this command, or a newer version wrote it.
        """
        path = os.path.join(folder, self.name)
        try:
            data = msgspec.json.decode(read_regular_file(path, _MOST_SETTINGS))
            if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > self.version:
                problem = f"{path} was written by a newer version of prowess; update prowess, or start a new iteration"
                raise InvalidArgumentsError((problem,))
            return msgspec.convert(data, self.form)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError, RecursionError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else str(fault)
            if isinstance(fault, msgspec.MsgspecError):
                reason = shape_fault(fault)
            problem = f"{folder} is no iteration of {self.command}: {self.name} cannot be read ({reason})"
            raise InvalidArgumentsError((f"{problem}; name a folder that {self.command} wrote",)) from None

    def require_same(self, folder: str, wanted: _Form) -> None:
        """Require that an iteration may be continued with these settings.

        Raises:
            InvalidArgumentsError: another skill, its contents or evals, or an option differ.
        """
        found = self.read(folder)
        differing = [
            name
            for name in self.form.__struct_fields__
            if name != "version" and getattr(found, name) != getattr(wanted, name)
        ]
        for name in differing:
            before, given = getattr(found, name), getattr(wanted, name)
            if name in self.owner:
                problem = f"{folder} is of {name} {before}, not {given}; name another workspace with --out, or {_NEW}"
                raise InvalidArgumentsError((problem,))
            if name in self.options:
                problem = f"{folder} was started with {_option(name)} {before}, not {given}; give the same, or"
                raise InvalidArgumentsError((f"{problem} {_NEW}",))
        if differing:
            problem = f"the skills or their evals were edited since {folder} was started"
            raise InvalidArgumentsError((f"{problem} (other {', '.join(differing)}); {_NEW}",))


def _option(field: str) -> str:
    return _OPTIONS.get(field, f"--{field.replace('_', '-')}")


def _is_replay(path: str) -> bool:
    """Return whether settings are those of a replay. They may be damaged, as after a kill."""
    try:
        data = msgspec.json.decode(read_regular_file(path, _MOST_SETTINGS))
    except (OSError, msgspec.DecodeError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("replay") is True
