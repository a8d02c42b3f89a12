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

    from prowess.cli.skill_result import JudgedSkill
    from prowess.diagnostics import Diagnostic


def is_folder_of_skills(path: str) -> bool:
    """Whether a path stands for all the skills below it, and not for one."""
    return os.path.isdir(path) and not any(os.path.lexists(os.path.join(path, name)) for name in FILE_NAMES)


def findings_between(judged: Sequence[JudgedSkill], *, whole: bool) -> dict[int, tuple[Diagnostic, ...]]:
    """Return what is wrong with a set: its compositions and its listing, by the index of the skill it is found in.

    Each finding is judged by the settings of its skill. `whole`: there are no further skills that one may depend on.
    """
    directories = [skill.target.directory for skill in judged]
    declared = [path is not None and os.path.lexists(os.path.join(path, MANIFEST_FILE)) for path in directories]
    result = _over_budget(judged) if whole else {}
    if not any(declared):
        return result
    # Imported here, not at the top: few sets have manifests.
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
    # Imported here, not at the top: what lists one skill needs none of it.
    from prowess.lint import RULES
    from prowess.lint.catalog_budget import catalog_budget

    over = catalog_budget([skill.result.listed for skill in judged], lambda at: judged[at].target.document)
    if over is None:
        return {}
    at, found = over
    skill = _directory_name(judged[at].target.directory)
    kept = judged[at].judgement.judge([replace(found, skill=skill)], RULES)
    return {at: tuple(kept)} if kept else {}


def _directory_name(directory: str | None) -> str | None:
    return None if directory is None else os.path.basename(directory)
