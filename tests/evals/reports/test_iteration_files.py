"""Transcripts of an iteration that comes from somebody else: nothing outside of its folder is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.evals.reports.iteration_files import transcripts_of
from tests.evals.reports.sample_report import reported, sample

if TYPE_CHECKING:
    from pathlib import Path

LINES = '{"role": "user", "text": "Sum it"}\n{"role": "end", "ended": "answered"}\n'


def found(folder: Path, directory: str, name: str = "transcript.jsonl") -> list[str]:
    unit = replace(sample(1, 1).units[0], directory=directory, transcript=name)
    return [run.ended for run in transcripts_of(str(folder), reported([unit])).values()]


def test_the_transcript_in_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "iteration-1" / "run-1").mkdir(parents=True)
    (tmp_path / "iteration-1" / "run-1" / "transcript.jsonl").write_text(LINES)
    assert found(tmp_path / "iteration-1", "run-1") == ["completed"]
    assert found(tmp_path / "iteration-1", "run-1", "missing.jsonl") == []


@pytest.mark.parametrize("linked", ["the file", "its directory"])
def test_a_link_out_of_the_folder_is_left_out(linked: str, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "iteration-1"
    outside.mkdir()
    folder.mkdir()
    (outside / "transcript.jsonl").write_text(LINES)
    if linked == "the file":
        (folder / "run-1").mkdir()
        (folder / "run-1" / "transcript.jsonl").symlink_to(outside / "transcript.jsonl")
    else:
        (folder / "run-1").symlink_to(outside)
    assert found(folder, "run-1") == []


@pytest.mark.parametrize("directory", ["../outside", "run-1/../../outside"])
def test_a_path_out_of_the_folder_is_left_out(directory: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "transcript.jsonl").write_text(LINES)
    (tmp_path / "iteration-1" / "run-1").mkdir(parents=True)
    assert found(tmp_path / "iteration-1", directory) == []
    assert found(tmp_path / "iteration-1", str(tmp_path / "outside")) == []
