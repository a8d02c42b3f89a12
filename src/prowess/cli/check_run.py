"""One run of `prowess check`: checks skills one by one and then as a set, and collects the results for the report."""

from __future__ import annotations

import os
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.yaml_reader import MAX_FAULTS
from prowess.cli.skill_result import JudgedSkill, judge_document, judge_target
from prowess.format.limits import MANIFEST_FILE
from prowess.report.checked import CheckedSkill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prowess._internal.batch import BatchEngine
    from prowess.cli.check_cache import CheckCache
    from prowess.cli.fixing import Fixing
    from prowess.cli.skill_result import Silencing, StampedResult
    from prowess.cli.targets import Target
    from prowess.config import Configuration
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument
    from prowess.format.rules.meta import RuleMeta
    from prowess.rule_engine import Judgement


class CheckRun:
    """The results of a run so far: the `skills` to report, and the number that the settings `excluded`."""

    def __init__(self, configuration: Configuration, silencing: Silencing) -> None:
        self._configuration, self._silencing = configuration, silencing
        self._judged: list[JudgedSkill] = []
        self._between: list[tuple[Target, tuple[Diagnostic, ...]]] = []
        self.skills: list[CheckedSkill] = []
        self.excluded = 0

    @property
    def not_honoured(self) -> int:
        """Number of findings whose suppression comments are ignored."""
        return sum(skill.result.not_honoured for skill in self._judged)

    @property
    def everything(self) -> Iterator[tuple[SkillDocument, tuple[Diagnostic, ...]]]:
        """Each document with all its findings, including those that the baseline contains."""
        for skill in self._judged:
            yield skill.target.read(), skill.result.findings
        for target, found in self._between:
            yield target.read(), found

    def judge(self, targets: Iterable[Target], cache: CheckCache | None, engine: BatchEngine | None = None) -> None:
        """Check skills, except those in `cache`, with `engine` or in this process.

        Raises:
            UnavailableError: the engine cannot be used, or its workers see other files.
        """
        chosen = list(self._chosen(targets))
        known = [None if cache is None else cache.result(target, judgement) for target, judgement in chosen]
        unknown = [target for (target, _), result in zip(chosen, known, strict=True) if result is None]
        new = self._new_results(unknown, engine, stamped=cache is not None)
        for (target, judgement), result in zip(chosen, known, strict=True):
            if result is None:
                found = next(new)
                result = found.result  # noqa: PLW2901 -- replaces the missing result
                if cache is not None:
                    cache.add(target, judgement, found)
            self._add(JudgedSkill(target=target, judgement=judgement, result=result))
        if cache is not None:
            cache.save()

    def fix(self, targets: Iterable[Target], fixing: Fixing) -> None:
        """Fix skills, then check the fixed documents."""
        for target, judgement in self._chosen(targets):
            new = partial(self._findings, judgement=judgement)
            fixed = fixing.fix(target.read(), target.data, new, within=target.named)
            result = judge_document(fixed, judgement, self._silencing)
            self._add(JudgedSkill(target=target.fixed(fixed), judgement=judgement, result=result))

    def judge_between(self, *, whole: bool) -> None:
        """Add the findings about the set. `whole` adds missing dependencies and the size of the listing."""
        for at, found in findings_between(self._judged, whole=whole and not self.excluded).items():
            skill, target = self.skills[at], self._judged[at].target
            self._between.append((target, found))
            fresh = self._silencing.by_baseline(target.read, found)
            self.skills[at] = replace(skill, diagnostics=(*skill.diagnostics, *fresh))

    def _chosen(self, targets: Iterable[Target]) -> Iterator[tuple[Target, Judgement]]:
        for target in targets:
            judgement = self._configuration.judgement(target.directory)
            if judgement.excluded and judgement.floor is None:
                self.excluded += 1
            else:
                yield target, judgement

    def _new_results(
        self, targets: Sequence[Target], engine: BatchEngine | None, *, stamped: bool
    ) -> Iterator[StampedResult]:
        def judge_here(target: Target) -> StampedResult:
            judgement = self._configuration.judgement(target.directory)
            return judge_target(target, judgement, self._silencing, stamped=stamped)

        if engine is None or not targets:
            return map(judge_here, targets)
        from prowess.cli.check_units import judge_in_batch  # Imported here because most checks need one process.

        return judge_in_batch(targets, engine, self._configuration, self._silencing, stamped=stamped)

    def _findings(self, document: SkillDocument, *, judgement: Judgement) -> tuple[Diagnostic, ...]:
        findings = judge_document(document, judgement, self._silencing).findings
        return self._silencing.by_baseline(lambda: document, findings)

    def _add(self, judged: JudgedSkill) -> None:
        target, result = judged.target, judged.result
        findings = self._silencing.by_baseline(target.read, result.findings)
        skill = CheckedSkill(path=target.path, name=result.name, read=target.read, diagnostics=findings)
        self._judged.append(judged)
        self.skills.append(skill)


def findings_between(judged: Sequence[JudgedSkill], *, whole: bool) -> dict[int, tuple[Diagnostic, ...]]:
    """Return the findings about a set, by the index of the skill they belong to.

    The findings are about compositions, the size of the listing and competing descriptions. Each finding is filtered by
    the settings of its skill. If `whole` is false, the set is a part of an unknown larger set: missing dependencies and
    the size of the listing are not reported.
    """
    directories = [skill.target.directory for skill in judged]
    declared = [path is not None and os.path.lexists(os.path.join(path, MANIFEST_FILE)) for path in directories]
    result = _over_budget(judged) if whole else {}
    for at, competing in _competing(judged).items():
        result[at] = (*result.get(at, ()), *competing)
    if not any(declared):
        return result
    # Imported here because few sets have manifests.
    from prowess.catalog.composition import Member, composition_findings
    from prowess.format.manifest.manifest_reader import read_sidecar

    members = [
        Member(
            name=skill.result.name or _directory_name(directory) or "",
            directory=directory or "",
            shown_as=skill.target.path,
            composition=read_sidecar(directory).composition if directory is not None and has_manifest else None,
        )
        for skill, directory, has_manifest in zip(judged, directories, declared, strict=True)
    ]
    found: dict[int, list[Diagnostic]] = {}
    for member, diagnostic in composition_findings(members, whole=whole):
        found.setdefault(id(member), []).append(diagnostic)
    for at, (skill, member) in enumerate(zip(judged, members, strict=True)):
        own = [replace(one, skill=_directory_name(skill.target.directory)) for one in found.get(id(member), ())]
        if kept := tuple(skill.judgement.judge(own)):
            result[at] = (*result.get(at, ()), *kept)
    return result


def _over_budget(judged: Sequence[JudgedSkill]) -> dict[int, tuple[Diagnostic, ...]]:
    from prowess.lint.catalog_budget import catalog_budget  # Imported here as in `_rules`.

    over = catalog_budget([skill.result.listed for skill in judged], lambda at: judged[at].target.read())
    if over is None:
        return {}
    at, found = over
    skill = _directory_name(judged[at].target.directory)
    kept = judged[at].judgement.judge([replace(found, skill=skill)], _rules())
    return {at: tuple(kept)} if kept else {}


def _competing(judged: Sequence[JudgedSkill]) -> dict[int, tuple[Diagnostic, ...]]:
    """Return the findings of `catalog.overlap`, which runs only if it is selected."""
    from prowess.lint.catalog_overlap import CATALOG_OVERLAP, overlap_finding  # Imported here as above.

    places = [at for at, skill in enumerate(judged) if skill.judgement.keeps(CATALOG_OVERLAP)]
    if len(places) < 2:  # noqa: PLR2004 -- a pair
        return {}
    # Imported here because the rule is rarely selected.
    from prowess.catalog.matching.overlap import overlaps

    documents = [judged[at].target.read() for at in places]
    names = [judged[at].result.name or document.path for at, document in zip(places, documents, strict=True)]
    found: dict[int, tuple[Diagnostic, ...]] = {}
    pairs = overlaps([document.text_of("description") or "" for document in documents])
    for pair in islice(pairs, MAX_FAULTS):
        at, document = places[pair.second], documents[pair.second]
        finding = replace(
            overlap_finding(document, names[pair.second] or "?", names[pair.first] or "?", pair.words),
            skill=_directory_name(judged[at].target.directory),
        )
        found[at] = (*found.get(at, ()), *judged[at].judgement.judge([finding], _rules()))
    return found


def _rules() -> Mapping[str, RuleMeta]:
    from prowess.lint import RULES  # Imported here because commands that judge a single skill do not need it.

    return RULES


def _directory_name(directory: str | None) -> str | None:
    return None if directory is None else os.path.basename(directory)
