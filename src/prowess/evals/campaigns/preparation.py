"""Prepares a campaign before its first call: the evals, the iteration, the snapshots, and the settings."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.tree_digest import read_tree
from prowess.errors import InvalidArgumentsError, LimitExceededError, SkillParseError
from prowess.evals.campaigns.chosen_host import require_host_is_named
from prowess.evals.campaigns.contamination import readable_text, texts_below
from prowess.evals.campaigns.iterations import (
    CAMPAIGN,
    CampaignSettings,
    Iteration,
    older_snapshots,
    unfinished_iteration,
)
from prowess.evals.campaigns.neighbours import neighbour_directories
from prowess.evals.campaigns.planning import plan_evals
from prowess.evals.campaigns.report import OLD_SKILL, WITH_SKILL, WITHOUT_SKILL
from prowess.evals.iterations.folders import NEIGHBOURS, new_iteration, require_one_source, workspace_at
from prowess.evals.iterations.snapshots import installed_digests, installed_files, take_revision, take_snapshot
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.ledger.journal import JournalHeader
from prowess.format.reading import read_skill

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.evals.campaigns.options import EvalRunOptions
    from prowess.evals.campaigns.planning import PlannedEval

BASELINES = ("without", "none", "old")  # every other word is a revision of git
RUNS = 3
DETECT = 0.15


class PreparedCampaign(Struct, frozen=True, kw_only=True):
    """A campaign that can begin. `skills` are the directories to install, by configuration, the skill itself first.

    `is_new` is false if the iteration is resumed.
    """

    evals: tuple[PlannedEval, ...]
    iteration: Iteration
    settings: CampaignSettings
    configurations: tuple[str, ...]
    skills: Mapping[str, tuple[str, ...]]
    header: JournalHeader
    is_new: bool

    def texts_of(self, configuration: str) -> tuple[str, ...]:
        """Return the texts that a run of a configuration may contain: those of its skills and of the evals' files."""
        folders = [*self.skills[configuration]]
        texts = [text for folder in folders for text in texts_below(folder)]
        for plan in self.evals:
            texts += [readable_text(os.path.join(self.settings.root, *source.split("/"))) for source, _ in plan.files]
        return tuple(texts)


def prepared_campaign(options: EvalRunOptions) -> PreparedCampaign:
    """Read the evals, and create or reopen the iteration.

    Raises:
        SuiteError: there is no suite, or it cannot be read.
        InvalidArgumentsError: an option, the suite or a folder cannot be used.
    """
    require_one_source(resume=options.resume, replay=options.replay)
    plan = plan_evals(options.path)
    skill = _name_of(plan.root)
    recorded = None if options.replay is None else CAMPAIGN.read(options.replay)
    if recorded is not None:
        _require_recorded(options, recorded, skill)
    settings = _settings(options, recorded, skill, plan.root)
    workspace = workspace_at(options.out, os.path.dirname(plan.root), f"{skill}-{options.folder}")
    flat = settings.runs == 1
    iteration = unfinished_iteration(workspace, flat=flat) if options.resume else None
    sources = _Sources(options, settings, plan.root, workspace)
    is_new = iteration is None
    if iteration is None:
        iteration = Iteration(path=new_iteration(workspace), flat=flat)
        settings = _begun(iteration, settings, sources)
    else:
        settings = _resumed(iteration, settings, sources)
    skills = {name: sources.installed(iteration, name) for name in sources.configurations}
    header = _header(settings, skills)
    return PreparedCampaign(
        evals=plan.evals,
        iteration=iteration,
        settings=settings,
        configurations=sources.configurations,
        skills=skills,
        header=header,
        is_new=is_new,
    )


def configurations_of(baseline: str) -> tuple[str, ...]:
    """Return the configuration with the skill, and that of the baseline if there is one."""
    match baseline:
        case "none":
            return (WITH_SKILL,)
        case "without":
            return (WITH_SKILL, WITHOUT_SKILL)
    return (WITH_SKILL, OLD_SKILL)


def _name_of(root: str) -> str:
    try:
        return read_skill(root).name
    except SkillParseError as fault:
        raise InvalidArgumentsError((f"{root} has no skill that can be loaded: {fault}; see prowess check",)) from None


def _require_recorded(options: EvalRunOptions, recorded: CampaignSettings, skill: str) -> None:
    """Require that options which are named fit the recording: they decide about the requests.

    Raises:
        InvalidArgumentsError: one differs, or another host than our own agent is not named.
    """
    if recorded.skill != skill:
        problem = f"{options.replay} is a recording of the skill {recorded.skill}, not of {skill}"
        raise InvalidArgumentsError((problem,))
    require_host_is_named(options.host, recorded=recorded.host, replay=str(options.replay))
    for name in ("model", "host", "baseline", "runs", "seed", "judge", "max_output_tokens"):
        given = getattr(options, name)
        if given is not None and given != getattr(recorded, name):
            problem = f"{options.replay} was recorded with --{name.replace('_', '-')} {getattr(recorded, name)}"
            advice = "give the same" if name == "host" else "leave the option out"
            raise InvalidArgumentsError((f"{problem}, not {given}; {advice}",))


def _settings(options: EvalRunOptions, recorded: CampaignSettings | None, skill: str, root: str) -> CampaignSettings:
    def chosen(name: str, default: object) -> object:
        given = getattr(options, name)
        if given is not None:
            return given
        return default if recorded is None else getattr(recorded, name)

    until = options.until_decided or (recorded is not None and recorded.until_decided)
    settings = CampaignSettings(
        skill=skill,
        root=root,
        suite=_suite_digest(root),
        digests={},
        model=chosen("model", None),  # type: ignore[arg-type]  # `chosen` returns the value of the option's field
        host=str(chosen("host", OWN_HOST)),
        baseline=str(chosen("baseline", BASELINES[0])),
        runs=chosen("runs", RUNS),  # type: ignore[arg-type]  # as above
        seed=chosen("seed", 0),  # type: ignore[arg-type]  # as above
        judge=chosen("judge", None),  # type: ignore[arg-type]  # as above
        max_output_tokens=chosen("max_output_tokens", None),  # type: ignore[arg-type]  # as above
        until_decided=until,
        replay=options.replay is not None,
        detect=chosen("detect", DETECT) if until else None,  # type: ignore[arg-type]  # as above
    )
    if until and settings.baseline == "none":
        raise InvalidArgumentsError(("--until decided compares with a baseline; leave --baseline none out",))
    return settings


def _suite_digest(root: str) -> str:
    try:
        return read_tree(os.path.join(root, "evals")).content_digest
    except FileNotFoundError:
        return "none"  # the suite is elsewhere in the skill, and part of its digest
    except (OSError, LimitExceededError) as fault:
        raise InvalidArgumentsError((f"{root}/evals cannot be read: {fault}",)) from None


class _Sources:
    """Where the skills of each configuration come from."""

    def __init__(self, options: EvalRunOptions, settings: CampaignSettings, root: str, workspace: str) -> None:
        self._options, self._settings, self._root, self._workspace = options, settings, root, workspace
        self.neighbours = neighbour_directories(options.neighbours, tested=[settings.skill])

    @property
    def configurations(self) -> tuple[str, ...]:
        """The configuration with the skill, and the baseline if there is one."""
        return configurations_of(self._settings.baseline)

    def take(self, iteration: Iteration) -> dict[str, str]:
        """Take all snapshots, and return their digests."""
        name = self._settings.skill
        digests = {WITH_SKILL: take_snapshot(self._root, iteration.skill_directory(WITH_SKILL, name))}
        if OLD_SKILL in self.configurations:
            target = iteration.skill_directory(OLD_SKILL, name)
            digests[OLD_SKILL] = self._take_old(target, digests[WITH_SKILL], iteration)
        for other, path in self.neighbours.items():
            digests[f"{NEIGHBOURS}/{other}"] = take_snapshot(path, iteration.skill_directory(NEIGHBOURS, other))
        return digests

    def current(self, before: CampaignSettings) -> dict[str, str]:
        """Return the digests as they are now. The old skill of a resumed campaign stays the one of its snapshot."""
        digests = {WITH_SKILL: installed_files(self._root).content_digest}
        if OLD_SKILL in before.digests:
            digests[OLD_SKILL] = before.digests[OLD_SKILL]
        for other, path in self.neighbours.items():
            digests[f"{NEIGHBOURS}/{other}"] = installed_files(path).content_digest
        return digests

    def installed(self, iteration: Iteration, configuration: str) -> tuple[str, ...]:
        """Return the directories to install, the skill itself first."""
        own = () if configuration == WITHOUT_SKILL else (configuration,)
        places = [iteration.skill_directory(name, self._settings.skill) for name in own]
        return (*places, *(iteration.skill_directory(NEIGHBOURS, other) for other in self.neighbours))

    def _take_old(self, target: str, digest: str, iteration: Iteration) -> str:
        name, baseline, replay = self._settings.skill, self._settings.baseline, self._options.replay
        if replay is not None:
            return take_snapshot(Iteration(path=replay, flat=True).skill_directory(OLD_SKILL, name), target)
        if baseline != "old":
            return take_revision(self._root, baseline, target)
        for candidate in older_snapshots(self._workspace, name):
            is_own = candidate.startswith(iteration.path + os.sep)
            if not is_own and installed_files(candidate).content_digest != digest:
                return take_snapshot(candidate, target)
        problem = f"{self._workspace} has no snapshot of another version of {name}"
        advice = "run its evals before you edit it, name a git revision, or use --baseline without"
        raise InvalidArgumentsError((f"{problem}; {advice}",))


def _begun(iteration: Iteration, settings: CampaignSettings, sources: _Sources) -> CampaignSettings:
    try:
        digests = sources.take(iteration)
    except InvalidArgumentsError:
        shutil.rmtree(iteration.path, ignore_errors=True)  # nothing began
        raise
    settings = replace(settings, digests=digests)
    CAMPAIGN.begin(iteration.path, settings)
    return settings


def _resumed(iteration: Iteration, settings: CampaignSettings, sources: _Sources) -> CampaignSettings:
    settings = replace(settings, digests=sources.current(CAMPAIGN.read(iteration.path)))
    CAMPAIGN.require_same(iteration.path, settings)
    return settings


def _header(settings: CampaignSettings, skills: Mapping[str, tuple[str, ...]]) -> JournalHeader:
    files: dict[str, str] = {}
    for configuration, directories in skills.items():
        files |= installed_digests(directories, below=f"{configuration}/")
    identity: dict[str, str | int | float | bool | None] = {
        "model": settings.model,
        "host": settings.host,
        "seed": settings.seed,
        "judge": settings.judge,
        "max_output_tokens": settings.max_output_tokens,
    }
    return JournalHeader(skill=settings.skill, files=files, identity=identity)
