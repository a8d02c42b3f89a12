"""What is wrong between the skills of one run: their manifests name each other.

Each skill has been judged by itself already; what is found here is added to the skill in whose manifest it stands.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from prowess.format.limits import MANIFEST_FILE
from prowess.format.reading import FILE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.report import CheckedSkill
    from prowess.rule_engine import Judgement


def is_folder_of_skills(path: str) -> bool:
    """Whether a path stands for all the skills below it, and not for one."""
    return os.path.isdir(path) and not any(os.path.lexists(os.path.join(path, name)) for name in FILE_NAMES)


def with_composition(
    skills: Sequence[CheckedSkill], judgements: Sequence[Judgement], *, whole: bool
) -> list[CheckedSkill]:
    """Return the skills with what their compositions say wrongly of each other, each judged by its own settings.

    `whole`: there are no further skills that a dependency may mean.
    """
    directories = [skill.document.directory for skill in skills]
    declared = [path is not None and os.path.lexists(os.path.join(path, MANIFEST_FILE)) for path in directories]
    if not any(declared):
        return list(skills)
    # Imported here, not at the top: few sets have manifests.
    from prowess.catalog.composition import Member, composition_findings
    from prowess.format.sidecar_reading import read_sidecar

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
    result = []
    for skill, member, judgement in zip(skills, members, judgements, strict=True):
        own = [replace(one, skill=skill.document.directory_name) for one in found.get(id(member), ())]
        more = tuple(judgement.judge(own))
        result.append(replace(skill, diagnostics=(*skill.diagnostics, *more)) if more else skill)
    return result
