"""Runs the commands in the bodies of skills that are being activated."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec.structs import replace

from prowess._internal.shell.words import ShellRefusal
from prowess._internal.text.terminal_text import printable_line
from prowess.format.commands import commands
from prowess.policy.decision import Allow, would_be
from prowess.policy.rule import PolicyCall
from prowess.runtime.activation import load_result
from prowess.runtime.activation.dynamic_commands import COMMAND_SECONDS, MAX_COMMANDS, shown, words
from prowess.runtime.activation.rendering import values_for
from prowess.runtime.activation.skill_identities import asked_of_active

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.catalog import Catalog
    from prowess.runtime.activation.load_result import Notice
    from prowess.runtime.activation.snapshots import Snapshot
    from prowess.runtime.activation.substitution import FirstArgument
    from prowess.runtime.events.delivery import SessionRecords
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.state import ActiveSkill


class CommandRunner:
    """Runs the commands in the bodies of one session's skills.

    They need a sandbox, a permission by the host (`allowed`) or a policy file, and no policy file that forbids them.
    """

    def __init__(
        self,
        catalog: Catalog,
        programs: SkillPrograms,
        records: SessionRecords,
        *,
        allowed: bool,
        first_argument: FirstArgument,
    ) -> None:
        self._catalog, self._programs, self._records, self._allowed = catalog, programs, records, allowed
        self._first_argument: FirstArgument = first_argument

    def _may_run(self) -> bool:
        policy = self._programs.policy.now()
        if policy.fault is not None or any(file.dynamic_commands is False for file in policy.files):
            return False
        return (self._allowed or policy.dynamic_commands) and self._programs.sandbox is not None

    def _decided(self, argv: Sequence[str], skill: ActiveSkill) -> tuple[str | None, dict[str, list[str]]]:
        """Return why a policy rule refuses this command, checked as a call of Bash; None if it may run.

        Also return the rules that are only monitored and would refuse it, for the record.

        A rule that would ask a person refuses, because no person can be asked about a command in a body.
        """
        policy = self._programs.policy.now()
        about = asked_of_active(policy, skill, self._catalog)
        call = PolicyCall(tool="Bash", arguments={"command": shlex.join(argv)}, skills=(about,))
        decision = policy.decide(call, self._programs.workspace)
        # Ignore a policy file's default: it is meant for calls that no rule matches. Commands in bodies have their own
        # setting, `dynamic_commands`.
        may_run = isinstance(decision, Allow) or decision.origin is None
        return None if may_run else decision.reason, would_be(decision)

    async def run(self, snapshot: Snapshot, call_id: str) -> tuple[ActiveSkill, list[Notice]]:
        """Return the skill with the outputs of its commands, and notices about commands that were not run."""
        skill, source = snapshot.skill, snapshot.source
        found = await to_thread.run_sync(commands, source.body)
        if not found:
            return skill, []
        if not self._may_run():
            return skill, [load_result.commands_not_run(skill.name)]
        values = values_for(
            skill, self._programs.session_id, expose_location=False, first_argument=self._first_argument
        )
        outputs: list[str] = []
        notices: list[Notice] = []
        for command in found[:MAX_COMMANDS]:
            argv = words(command, values)
            if isinstance(argv, ShellRefusal):
                outputs.append(f"[command not run: {printable_line(argv.reason)}; {load_result.WITHOUT_A_SHELL}]")
                line = source.document.body_line + source.body.count("\n", 0, command.start)
                notices.append(load_result.command_refused(skill.name, line, argv.reason))
                continue
            denied, monitored = self._decided(argv, skill)
            if denied is not None:
                outputs.append(f"[command not run: {printable_line(denied)}]")
                continue
            version = self._programs.policy.now().recorded_version
            data: Mapping[str, object] = {
                "skill": skill.name,
                "program": argv[0],
                "policy_version": version,
                **monitored,
            }
            await self._records.record_and_tell("command.started", call_id, skill, data)
            done = await self._programs.run(skill.root_dir, source.manifest, argv, seconds=COMMAND_SECONDS)
            run = await self._records.of_run(self._programs, argv, done)
            await self._records.record_and_tell("command.finished", call_id, skill, {**data, **run})
            outputs.append(shown(done))
        return replace(skill, outputs=tuple(outputs)), notices
