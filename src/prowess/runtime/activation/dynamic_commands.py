"""Commands in a body: `` !`git status` `` stands for what the command prints.

Which inline code is a command is told by a Markdown parser, from the body as its author wrote it: a single pair of
backticks with a `!` before it, outside fences, comments and longer backticks. So neither code that shows the notation
nor a value that holds it is run, and two equal commands are two commands. A command is split into words first and its
placeholders are replaced after that, each word staying one word; no shell reads it. It runs in the sandbox.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.markdown import inline_code
from prowess.format.limits import COMMAND_MARK
from prowess.runtime.activation import load_result
from prowess.runtime.activation.substitution import substituted, values_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.execution import ExecResult
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.activation.substitution import Values
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.scripts.skill_process import SkillPrograms
    from prowess.runtime.state import ActiveSkill

MAX_COMMANDS = 16
MAX_OUTPUT = 10_000  # characters of one command
COMMAND_SECONDS = 10.0


class DynamicCommand(Struct, frozen=True, kw_only=True):
    """One command: its text between the backticks, and the range of the whole notation in code points."""

    text: str
    start: int
    end: int

    def argv(self, values: Values) -> tuple[str, ...]:
        """Return its words; empty where quotes are open or nothing stands there."""
        try:
            split = shlex.split(self.text)
        except ValueError:
            return ()
        return tuple(substituted(word, values) for word in split)


def commands(body: str) -> tuple[DynamicCommand, ...]:
    """Return the commands of a body in order. Where no parser gives positions, there are none."""
    if COMMAND_MARK not in body:
        return ()
    return tuple(
        DynamicCommand(text=code.text, start=code.start - 1, end=code.end)
        for code in inline_code(body) or ()
        if _is_marked(body, code.start, code.end)
    )


def _is_marked(body: str, start: int, end: int) -> bool:
    """Whether inline code has one backtick on each side, and before it a `!` that ends no word and is not escaped."""
    marked = start > 0 and body[start - 1] == "!"
    before = body[max(start - 2, 0) : start - 1]
    marked = marked and before != "\\" and not before.isalnum()
    return marked and not body.startswith("``", start) and not body.endswith("``", start, end)


class CommandRunner:
    """Runs the commands in the bodies of one session's skills, if the host allows it and there is a sandbox."""

    def __init__(self, programs: SkillPrograms, records: SessionRecords, *, allowed: bool) -> None:
        self._programs, self._records = programs, records
        self._allowed = allowed and programs.sandbox is not None

    async def run(self, snapshot: Snapshot, call_id: str) -> tuple[ActiveSkill, Notice | None]:
        """Return the skill with what its commands printed, or as it is with a notice that they were not run."""
        skill, source = snapshot.skill, snapshot.source
        found = await to_thread.run_sync(commands, source.body)
        if not found:
            return skill, None
        if not self._allowed:
            return skill, load_result.commands_not_run(skill.name)
        values = values_for(skill, self._programs.session_id, expose_location=False)
        outputs: list[str] = []
        for command in found[:MAX_COMMANDS]:
            argv = command.argv(values)
            if not argv:
                outputs.append("[command not run: its quotes are open, or it is empty]")
                continue
            data: Mapping[str, object] = {"skill": skill.name, "program": argv[0]}
            await self._records.record_and_tell("command.started", call_id, skill, data)
            done = await self._programs.run(skill.root_dir, source.manifest, argv, seconds=COMMAND_SECONDS)
            await self._records.record_and_tell(
                "command.finished", call_id, skill, {**data, "exit_code": done.exit_code}
            )
            outputs.append(shown(done))
        return replace(skill, outputs=tuple(outputs)), None


def shown(done: ExecResult) -> str:
    """Return what stands in the place of a command: its output, or one line that says how it failed."""
    text = done.stdout.decode("utf-8", "replace").rstrip("\n")
    if done.timed_out:
        return f"[command ended after {COMMAND_SECONDS:g} s]"
    if done.exit_code != 0:
        wrong = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = f": {wrong[-1][:200]}" if wrong else ""
        return f"[command failed with status {done.exit_code}{reason}]"
    if len(text) > MAX_OUTPUT:
        return f"{text[:MAX_OUTPUT]}\n[output cut at {MAX_OUTPUT} of {len(text)} characters]"
    return text
