"""What is wrong between the skills of one run: their manifests name each other.

Each skill has been judged by itself already; what is found here is added to the skill in whose manifest it stands.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.format.limits import FILE_NAMES, MANIFEST_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.report import CheckedSkill
    from prowess.rule_engine import Judgement


def is_folder_of_skills(path: str) -> bool:
    """Whether a path stands for all the skills below it, and not for one."""
    return os.path.isdir(path) and not any(os.path.lexists(os.path.join(path, name)) for name in FILE_NAMES)


def findings_between(
    skills: Sequence[CheckedSkill], judgements: Sequence[Judgement], *, whole: bool
) -> dict[int, tuple[Diagnostic, ...]]:
    """Return what is wrong with a set: its compositions and its listing, by the index of the skill it is found in.

    Each finding is judged by the settings of its skill. `whole`: there are no further skills that one may depend on.
    """
    directories = [skill.document.directory for skill in skills]
    declared = [path is not None and os.path.lexists(os.path.join(path, MANIFEST_FILE)) for path in directories]
    result = _over_budget(skills, judgements) if whole else {}
    if not any(declared):
        return result
    # Imported here, not at the top: few sets have manifests.
    from prowess.catalog.composition import Member, composition_findings
    from prowess.format.manifest.manifest_reader import read_sidecar

    members = [
        Member(
            name=skill.name or skill.document.directory_name or "",
            directory=directory or "",
            shown_as=skill.path,
            composition=read_sidecar(directory).composition if directory is not None and has_manifest else None,
        )
        for skill, directory, has_manifest in zip(skills, directories, declared, strict=True)
    ]
    found: dict[int, list[Diagnostic]] = {}
    for member, diagnostic in composition_findings(members, whole=whole):
        found.setdefault(id(member), []).append(diagnostic)
    for at, (skill, member) in enumerate(zip(skills, members, strict=True)):
        own = [replace(one, skill=skill.document.directory_name) for one in found.get(id(member), ())]
        if judged := tuple(judgements[at].judge(own)):
            result[at] = (*result.get(at, ()), *judged)
    return result


def _over_budget(skills: Sequence[CheckedSkill], judgements: Sequence[Judgement]) -> dict[int, tuple[Diagnostic, ...]]:
    # Imported here, not at the top: what lists one skill needs none of it.
    from prowess.lint import RULES
    from prowess.lint.catalog_budget import catalog_budget

    over = catalog_budget([skill.document for skill in skills])
    if over is None:
        return {}
    at, found = over
    judged = judgements[at].judge([replace(found, skill=skills[at].document.directory_name)], RULES)
    return {at: tuple(judged)} if judged else {}
