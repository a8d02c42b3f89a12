from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.config import load_configuration
from prowess.lsp.analysis import analyse, folder_of, read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.config import Configuration
    from prowess.lsp.analysis import Silence


def test_the_innermost_open_folder_counts_else_what_lies_around_the_skill() -> None:
    path = "/w/deep/table/SKILL.md"
    assert folder_of(path, ["/", "/w", "/w/deep", "/w/de"]) == "/w/deep"
    assert folder_of(path, ["/", "/other"]) == "/"
    assert folder_of(path, ["/w/deep/tab"]) == "/w/deep"


def test_a_skill_that_is_excluded_shows_nothing_and_wrong_settings_are_said(tmp_path: Path) -> None:
    keep: Silence = lambda document, judgement, found: found  # noqa: E731 -- it gets its types from the name

    def load(directory: str) -> tuple[Configuration, Silence]:
        return load_configuration(directory=directory, is_trusted=lambda _: True), keep

    (tmp_path / "prowess.toml").write_text('exclude = ["vendor/**"]\n')
    path = tmp_path / "vendor" / "table" / "SKILL.md"

    def found() -> list[str]:
        settings = read_settings(load, str(tmp_path))
        judgement = settings.configuration.judgement(str(path.parent))
        analysis = analyse(
            path.as_uri(), str(path), "", version=1, encoding="utf-8", judgement=judgement, silence=settings.silence
        )
        return [settings.problem or "", *(one.rule for one in analysis.findings)]

    assert found() == [""]
    (tmp_path / "prowess.toml").write_text("exclude = 7\n")
    problem, *rules = found()
    assert "prowess.toml:1: exclude" in problem
    assert "frontmatter.missing" in rules
