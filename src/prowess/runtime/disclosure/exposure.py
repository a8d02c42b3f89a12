"""The three exposures of a session: ways to present skills to a model.

- `tools`: the four tools of runtime protocol 002. The list of skills is in the instructions of every call.
- `skill`: one tool, with the list of skills in its description. The instructions contain no text of skills. While a
  skill is active, the tools that work on it are offered too.
- `files`: no tool. The instructions list the skills with their locations, and the agent reads the files itself.

Every exposure lists the skills in exactly one place, and all lead to the same activation and state. If the list is not
complete, because skills are left out or descriptions are cut, every exposure also offers the tool `skills.list`.

A compact list of skills has at most 1,024 bytes: the best matches for a task, and the number of skills left out. The
names of more than about forty skills do not fit into this size, so the list is compact only on request. The others can
still be loaded: a phrase instead of a name returns the nearest names. Platform requirements 003, technical outcomes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError
from prowess.runtime.disclosure import model_texts, prompts, skill_tool
from prowess.runtime.disclosure.shown_skills import ListForm
from prowess.runtime.disclosure.skill_list import SkillList
from prowess.runtime.tools.list import SPEC as LIST
from prowess.runtime.tools.load import SPEC as LOAD
from prowess.runtime.tools.run_script import SPEC as RUN_SCRIPT
from prowess.tools.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.runtime.activation.active_skills import ActiveSkills
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.call_options import ExposureName
    from prowess.runtime.disclosure.model_texts import Disclosure
    from prowess.runtime.disclosure.shown_skills import ShownList, ShownSkills
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolSpec

MOST_BYTES = 1024
_MOST_SHOWN = 8
_LEFT_OUT = (
    "{} more are not shown; skills.load with a few words of the task in place of a name names the nearest ones.\n"
)


class Exposure:
    """Builds tool specifications and instructions of a session. `own` are the tools for skills, `extra` the others.

    With `always_list`, `skills.list` is offered even if the list of skills is complete, and without skills.
    """

    def __init__(
        self,
        own: Sequence[ToolSpec],
        active: ActiveSkills,
        offered: Visibility,
        shown: ShownSkills,
        *,
        rendering: Rendering,
        programs: SkillPrograms,
        in_results: bool,
    ) -> None:
        self._own, self._active, self._offered, self._shown = tuple(own), active, offered, shown
        self._rendering, self._programs, self._in_results = rendering, programs, in_results
        self._scripts_seen: tuple[int, tuple[str, ...], bool] | None = None
        self.always_list = False

    def specs(
        self,
        name: ExposureName,
        extra: Sequence[ToolSpec],
        *,
        budget: int | None = None,
        task: str | None = None,
        compact: str | None = None,
    ) -> tuple[ToolSpec, ...]:
        """Return the tools to offer to a model; those for skills only if a skill is open to the model or active.

        The other arguments are those of `disclose`.
        """
        return (*self._of_skills(name, self._list(name, budget, task, compact), _characters(budget)), *extra)

    def disclose(
        self,
        name: ExposureName,
        extra: Sequence[ToolSpec],
        *,
        budget: int | None = None,
        navigation: bool = False,
        tool_system: bool = False,
        task: str | None = None,
        compact: str | None = None,
    ) -> Disclosure:
        """Return the instructions of the next call. `budget` limits the list, `task` chooses what it shows.

        Raises:
            InvalidArgumentsError: the exposure is `files` and the session hides locations, or a compact list is asked
                for an exposure other than `tools`.
        """
        if name == "files" and not self._rendering.expose_location:
            raise InvalidArgumentsError(("exposure 'files' needs locations; open the session with expose_location",))
        found = self._list(name, budget, task, compact)
        listed, text = (SkillList(), "") if name == "skill" else (found.listed, found.text)
        before: dict[str, str] = {}
        known = self._reachable(name, extra)
        if tool_system:
            before["tool_system"] = prompts.tool_system(known)
        if navigation:
            before["navigation"] = prompts.navigation(known)
        active = () if name == "skill" or self._in_results else self._active.stored.state.active
        return model_texts.instructions(
            listed,
            text,
            [self._body(skill) for skill in self._offered.permitted(active)],
            bodies_in_results=self._in_results,
            by_files=name == "files",
            before=before,
        )

    def _list(self, name: ExposureName, budget: int | None, task: str | None, compact: str | None) -> ShownList:
        """Return the list of skills of this exposure, wherever the exposure shows it."""
        if compact is not None:
            if name != "tools":
                raise InvalidArgumentsError((f"a compact list needs exposure 'tools', not {name!r}",))
            return self._shown.fitted(COMPACT, MOST_BYTES, compact)
        return self._shown.fitted(_IN_TOOL if name == "skill" else _IN_INSTRUCTIONS, _characters(budget), task)

    def _of_skills(self, name: ExposureName, found: ShownList, characters: int) -> tuple[ToolSpec, ...]:
        listed = found.listed
        searched = (LIST,) if self.always_list or not listed.is_complete else ()
        if name == "files":
            return searched
        active = self._active.stored.state.active
        beside = tuple(spec for spec in self._own if spec.name not in _PLACED)
        if not self.can_run_scripts():
            beside = tuple(spec for spec in beside if spec.name != RUN_SCRIPT.name)
        some = bool(listed.shown or listed.left_out)
        if name == "skill":
            one = (skill_tool.offered(listed, found.text, characters),) if some else ()
            return (*one, *(beside if active else ()), *searched)
        if not some and not active:
            return searched
        forks: tuple[ToolSpec, ...] = ()
        if self._shown.has_forks:
            forks = (skill_tool.offered_for_forks(None if listed.left_out else model_texts.forks_in(listed)),)
        return (LOAD, *beside, *forks, *searched)

    def _reachable(self, name: ExposureName, extra: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Return the tools of all states of the session, so that texts about tools do not change with the offer."""
        own = () if name == "files" else self._own
        runs = self.can_run_scripts()
        return (*(spec for spec in own if runs or spec.name != RUN_SCRIPT.name), *extra)

    def _body(self, skill: ActiveSkill) -> model_texts.ActiveBody:
        return model_texts.ActiveBody(
            name=skill.name,
            body=self._rendering.text(skill),
            args=skill.args,
            changed=self._active.snapshots.is_touched(skill),
        )

    def can_run_scripts(self) -> bool:
        """Whether a listed skill has scripts and the sandbox can run them. Computed once per state of the catalog."""
        if self._programs.sandbox is None or not self._programs.sandbox.probe().available:
            return False
        generation, dirs = self._offered.catalog.generation, self._programs.rules.dirs
        if self._scripts_seen is None or self._scripts_seen[:2] != (generation, dirs):
            found = any(
                os.path.isdir(f"{entry.root_dir}/{name}") for entry in self._offered.catalog.entries() for name in dirs
            )
            self._scripts_seen = (generation, dirs, found)
        return self._scripts_seen[2]


def shaped(specs: Sequence[ToolSpec], shape: str) -> list[dict[str, object]]:
    """Return the tools in a provider's format, or raise InvalidArgumentsError if the format is unknown."""
    if shape not in SHAPES:
        known = ", ".join(map(repr, SHAPES))
        raise InvalidArgumentsError((f"Invalid parameter value: shape: expected one of {known}",))
    return SHAPES[shape].definitions(specs)


_PLACED = frozenset({LOAD.name, LIST.name, skill_tool.SkillTool.spec.name})


def _characters(budget: int | None) -> int:
    tokens = model_texts.DEFAULT_BUDGET if budget is None else budget
    return tokens * model_texts.CHARACTERS_PER_TOKEN


def section(listed: SkillList) -> str:
    """Return the section of the instructions that lists skills."""
    return model_texts.available_skills(listed, model_texts.more(listed.left_out))


def _compact_section(listed: SkillList) -> str:
    shown = tuple(replace(skill, location=None) for skill in listed.shown)
    rest = _LEFT_OUT.format(listed.left_out) if listed.left_out else ""
    return model_texts.available_skills(replace(listed, shown=shown), rest)


# The base rules repeat the names of forks, so the budget covers them twice.
_IN_INSTRUCTIONS = ListForm(
    "instructions", section, beside=lambda listed: sum(len(name) + 2 for name in model_texts.forks_in(listed))
)
_IN_TOOL = ListForm("skill tool", skill_tool.listing)
COMPACT = ListForm(
    "compact", _compact_section, measure=lambda text: len(text.encode("utf-8", "replace")), most=_MOST_SHOWN
)
