"""What the checks have to find before a skill is released, asked as its author asks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

_BODY = "[A guide](references/guide.md).\n\n![](assets/chart.png)\n\nAnd [forms][f].\n\n[f]: docs/forms.md#top\n"


@pytest.mark.proves("governance.scan.references")
def test_links_to_files_that_the_skill_lacks_are_found_and_can_stop_a_release(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = tmp_path / "pdf-tables"
    skill.mkdir()
    head = "---\nname: pdf-tables\ndescription: Reads tables. Use when asked for tables.\n---\n"
    (skill / "SKILL.md").write_text(f"{head}{_BODY}", encoding="utf-8")
    check = ["check", str(skill), "--isolated", "--select", "reference.missing", "--json"]

    def missing() -> list[tuple[str, int]]:
        found = json.loads(capfd.readouterr().out)["diagnostics"]
        assert {one["rule"] for one in found} <= {"reference.missing"}
        return [(one["message"].split()[0], one["line"]) for one in found]

    assert run(check) == 0
    assert missing() == [("references/guide.md", 5), ("assets/chart.png", 7), ("docs/forms.md", 9)]
    for number, name in enumerate(("references/guide.md", "assets/chart.png", "docs/forms.md")):
        assert run([*check, "--preset", "strict"]) == 1
        assert len(missing()) == 3 - number
        (skill / name).parent.mkdir()
        (skill / name).write_bytes(b"x")
    assert run([*check, "--preset", "strict"]) == 0
    assert missing() == []
