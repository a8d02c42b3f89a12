"""The three exposures of a session: ways to present skills to a model.

- `tools`: the four tools of runtime protocol 002. The list of skills is in the instructions of every call.
- `skill`: one tool, with the list of skills in its description. The instructions contain no text of skills. While a
  skill is active, the tools that work on it are offered too.
- `files`: no tool. The instructions list the skills with their locations, and the agent reads the files itself.

Every exposure lists the skills in exactly one place, and all lead to the same activation and state.

A compact list of skills has at most 1,024 bytes: the best matches for a task, and the number of skills left out. The
names of more than about forty skills do not fit into this size, so the list is compact only on request. The others can
still be loaded: a phrase instead of a name returns the nearest names. Platform requirements 003, technical outcomes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.text.shared_words import scores
from prowess.errors import InvalidArgumentsError
from prowess.runtime.disclosure import model_texts, prompts, skill_tool
from prowess.runtime.tools.load import SPEC as LOAD
from prowess.runtime.tools.run_script import SPEC as RUN_SCRIPT
from prowess.tools.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog import SkillEntry
    from prowess.runtime.activation.active_skills import ActiveSkills
    from prowess.runtime.activation.rendering import Rendering
    from prowess.runtime.activation.visibility import Visibility
    from prowess.runtime.call_options import ExposureName
    from prowess.runtime.disclosure.model_texts import Disclosure, ListedSkill
    from prowess.runtime.scripts import SkillPrograms
    from prowess.runtime.state import ActiveSkill
    from prowess.tools import ToolSpec


class Exposure:
    """Builds tool specifications and instructions of a session. `own` are the tools for skills, `extra` the others."""

    def __init__(
        self,
        own: Sequence[ToolSpec],
        active: ActiveSkills,
        offered: Visibility,
        rendering: Rendering,
        programs: SkillPrograms,
        *,
        in_results: bool,
    ) -> None:
        self._own, self._active, self._offered = tuple(own), active, offered
        self._rendering, self._programs, self._in_results = rendering, programs, in_results
        self._scripts_seen: tuple[int, tuple[str, ...], bool] | None = None
        self._listed: tuple[tuple[SkillEntry, ...], list[model_texts.ListedSkill]] | None = None

    def specs(self, name: ExposureName, extra: Sequence[ToolSpec], budget: int | None = None) -> tuple[ToolSpec, ...]:
        """Return the tools to offer to a model; those for skills only if a skill is open to the model or active."""
        return (*self._of_skills(name, skill_tool.DEFAULT_BUDGET if budget is None else budget), *extra)

    def disclose(
        self,
        name: ExposureName,
        extra: Sequence[ToolSpec],
        *,
        budget: int | None = None,
        navigation: bool = False,
        tool_system: bool = False,
        compact: str | None = None,
    ) -> Disclosure:
        """Return the instructions of the next call.

        Raises:
            InvalidArgumentsError: the exposure is `files` and the session hides locations, or a compact list is asked
                for an exposure other than `tools`.
        """
        if compact is not None and name != "tools":
            raise InvalidArgumentsError((f"a compact list needs exposure 'tools', not {name!r}",))
        if name == "files" and not self._rendering.expose_location:
            raise InvalidArgumentsError(("exposure 'files' needs locations; open the session with expose_location",))
        before: dict[str, str] = {}
        known = self._reachable(name, extra)
        if tool_system:
            before["tool_system"] = prompts.tool_system(known)
        if navigation:
            before["navigation"] = prompts.navigation(known)
        listed = [] if name == "skill" else self.listed()
        section = None
        if compact is not None and listed:
            text, shown, shortened = compact_list(listed, compact)
            listed, section = list(shown), (text, shortened)
        active = () if name == "skill" or self._in_results else self._active.stored.state.active
        return model_texts.instructions(
            listed,
            [self._body(skill) for skill in self._offered.permitted(active)],
            bodies_in_results=self._in_results,
            budget=budget,
            by_files=name == "files",
            before=before,
            section=section,
        )

    def listed(self) -> list[model_texts.ListedSkill]:
        """Return the skills that the model may start."""
        offers = self._offered.offers("model")
        if self._listed is None or self._listed[0] is not offers:
            self._listed = (offers, self._listed_anew(offers))
        return self._listed[1]

    def _listed_anew(self, offers: tuple[SkillEntry, ...]) -> list[model_texts.ListedSkill]:
        return [
            model_texts.ListedSkill(
                name=entry.name,
                description=entry.description,
                location=entry.location if self._rendering.expose_location else None,
                is_fork=entry.is_fork,
                origin=None if entry.origin is None else entry.source,
            )
            for entry in offers
        ]

    def _of_skills(self, name: ExposureName, budget: int) -> tuple[ToolSpec, ...]:
        if name == "files":
            return ()
        listed, active = self.listed(), self._active.stored.state.active
        beside = tuple(spec for spec in self._own if spec.name not in (LOAD.name, skill_tool.SkillTool.spec.name))
        if not self.can_run_scripts():
            beside = tuple(spec for spec in beside if spec.name != RUN_SCRIPT.name)
        if name == "skill":
            return (*((skill_tool.offered(listed, budget),) if listed else ()), *(beside if active else ()))
        if not listed and not active:
            return ()
        forks = [skill.name for skill in listed if skill.is_fork]
        return (LOAD, *beside, *((skill_tool.offered_for_forks(forks),) if forks else ()))

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
                os.path.isdir(os.path.join(entry.root_dir, name))
                for entry in self._offered.catalog.entries()
                for name in dirs
            )
            self._scripts_seen = (generation, dirs, found)
        return self._scripts_seen[2]


def shaped(specs: Sequence[ToolSpec], shape: str) -> list[dict[str, object]]:
    """Return the tools in a provider's format, or raise InvalidArgumentsError if the format is unknown."""
    if shape not in SHAPES:
        known = ", ".join(map(repr, SHAPES))
        raise InvalidArgumentsError((f"Invalid parameter value: shape: expected one of {known}",))
    return SHAPES[shape].definitions(specs)


MOST_BYTES = 1024
_MOST_SHOWN = 8
_READABLE = 60  # characters; a shorter description is hardly useful
_LEFT_OUT = (
    "{} more are not shown; skills.load with a few words of the task in place of a name names the nearest ones.\n"
)


def compact_list(listed: Sequence[ListedSkill], task: str) -> tuple[str, tuple[ListedSkill, ...], tuple[str, ...]]:
    """Return the compact section, the skills in it (best first), and the names of those with shortened descriptions."""
    rated = scores(task, [f"{skill.name} {skill.name} {skill.description}" for skill in listed])
    order = sorted(range(len(listed)), key=lambda place: -rated[place])[:_MOST_SHOWN]
    best = [replace(listed[place], location=None) for place in order]
    shown = next(
        (best[:count] for count in range(len(best), 0, -1) if _fits(best[:count], len(listed), _READABLE)), best[:1]
    )
    limit = model_texts.common_limit(shown, lambda limit: _fits(shown, len(listed), limit))
    if not _fits(shown, len(listed), limit):
        shown = []  # even a single name does not fit
    cut = () if limit is None else tuple(skill.name for skill in shown if len(skill.description) > limit)
    return _section(shown, len(listed), limit), tuple(shown), cut


def _fits(shown: Sequence[ListedSkill], among: int, limit: int | None) -> bool:
    return len(_section(shown, among, limit).encode("utf-8", "replace")) <= MOST_BYTES


def _section(shown: Sequence[ListedSkill], among: int, limit: int | None) -> str:
    items = model_texts.available_skills(shown, limit).removeprefix(model_texts.AVAILABLE).removesuffix(model_texts.END)
    rest = _LEFT_OUT.format(among - len(shown)) if among > len(shown) else ""
    return f"{model_texts.AVAILABLE}{items}{rest}{model_texts.END}"
