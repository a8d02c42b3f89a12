"""The requirements of a skill on disk, also if its front matter spells the field in an unusual way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.distribution.resolution.declared import declared_requirements
from tests.distribution.making import make_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "lines",
    [
        'metadata:\n  dependencies: "ledger@^2"\n',
        'metadata: {dependencies: "ledger@^2"}\n',
        'metadata:\n  "dep\\u0065ndencies": "ledger@^2"\n',
    ],
)
def test_every_spelling_of_the_field_is_read(tmp_path: Path, lines: str) -> None:
    skill = make_skill(tmp_path, "books", None, more=lines)
    assert [str(one) for one in declared_requirements(str(skill))] == ["ledger@^2"]


def test_a_manifest_is_read_and_a_body_that_has_the_word_is_not(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, "books", body="Lists dependencies: ledger.\n\n---\nmetadata:\n  dependencies: x\n")
    assert declared_requirements(str(skill)) == ()
    (skill / "skill.manifest.yaml").write_text(
        'composition:\n  dependencies:\n    - skillName: ledger\n      version: "^2"\n      reason: Keeps books.\n'
    )
    assert [str(one) for one in declared_requirements(str(skill))] == ["ledger@^2"]
