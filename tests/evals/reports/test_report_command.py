"""`prowess eval report`: files, answer, exit codes."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import json_text
from prowess.evals.statistics.intervals import rate_difference, rate_of
from tests.evals.reports.sample_report import sample
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [prowess(), "eval", "report", *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


def test_it_writes_every_report_and_prints_the_answer(tmp_path: Path) -> None:
    report = sample(2, 3)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "report.json").write_text(json_text(report.as_dict()), encoding="utf-8")
    (tmp_path / "parts.json").write_text('{"units": [], "score": 1}', encoding="utf-8")
    (tmp_path / "s.md").write_text("before\n", encoding="utf-8")
    files = ("--out", "r.html", "--junit", "j.xml", "--summary", "s.md", "--ablation", "parts.json")
    code, text, _ = run(tmp_path, "run", *files, "--max-cost-usd", "2")
    assert (code, "invoice-check" in text.splitlines()[0]) == (0, True)
    assert "of a cap of $2.00" in (tmp_path / "r.html").read_text("utf-8")
    assert (tmp_path / "j.xml").read_text("utf-8").startswith("<?xml")
    assert (tmp_path / "s.md").read_text("utf-8").startswith("before\n## ")
    code, text, _ = run(tmp_path, "run", "--json")
    assert (code, json.loads(text)) == (0, json.loads(json_text(report.as_dict())))


def test_the_ablation_of_another_skill_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "report.json").write_text(json_text(sample(2, 3).as_dict()), encoding="utf-8")
    (tmp_path / "parts.json").write_text('{"skill": "other", "units": []}', encoding="utf-8")
    code, text, errors = run(tmp_path, "run", "--out", "r.html", "--ablation", "parts.json")
    assert (code, text) == (2, "")
    assert "the ablation is of the skill other, and the run of invoice-check; name that of the same skill" in errors
    assert not (tmp_path / "r.html").exists()


def test_what_is_no_run_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "report.json").write_text('{"complete": 1}', encoding="utf-8")
    for words, told in (
        (("nowhere",), "nowhere/report.json cannot be read: No such file or directory; name a folder that"),
        (("bad",), "bad/report.json is no report of prowess eval run"),
    ):
        code, _, errors = run(tmp_path, *words, "--out", "r.html")
        assert (code, told in errors) == (2, True), errors
    assert not (tmp_path / "r.html").exists()


def test_the_interval_of_a_difference_is_that_of_newcombe() -> None:
    found = rate_difference(rate_of(48, 80), rate_of(56, 70))  # example (a) of the article
    assert [round(value or 0, 4) for value in (found.mean, found.low, found.high)] == [0.2, 0.0524, 0.3339]
    assert rate_difference(rate_of(0, 0), rate_of(1, 1)).mean is None


def test_the_folder_of_another_command_is_named(tmp_path: Path) -> None:
    for name, file, told in (
        (
            "a",
            "ablation.json",
            "a is of eval ablate; name a folder of eval run, and show this one beside it with --abl",
        ),
        ("t", "trigger-report.json", "with --triggers t/trigger-report.json"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{}")
        (tmp_path / name / "report.json").write_text('{"complete": true}')
        code, _, errors = run(tmp_path, name)
        assert (code, told in errors) == (2, True), errors
