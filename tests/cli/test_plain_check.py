"""`prowess check` without the command line's library, held against the command: output, remarks and exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpus import write_corpus
from prowess.cli import exit_codes, output
from prowess.cli.dispatch import run
from prowess.cli.plain_check import plain_check
from prowess.config import load_configuration
from prowess.format.profiles import PROFILES
from prowess.rule_engine import Judgement
from tests.conformance.format_cases import lay_out, parameters
from tests.lint.case import lay_out as write_case
from tests.lint.test_rules import CASES
from tests.runtime.making import write_skill

Capture = pytest.CaptureFixture[str]

# What a plain check must never pay for: the command line's library, the parser of YAML, settings, and what makes
# classes at import.
_COSTLY = (
    "click", "dataclasses", "difflib", "hashlib", "inspect", "json", "pathlib", "prowess.config",
    "prowess.format.document", "prowess.format.profiles", "prowess.lint.linting", "pyromark", "tomllib", "yaml",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("PROWESS_") and name != "PROWESS_HOME"]:
        monkeypatch.delenv(name)


def _both(capfd: Capture, *words: str, plain: bool = True) -> int:
    """Check in both ways; return the exit code. Where `plain` is given it has to be as said."""
    code = plain_check(words)
    quick = capfd.readouterr()
    assert (code is not None) == plain, words
    expected = run(["check", *words])
    told = capfd.readouterr()
    if code is None:
        assert quick == ("", "")
    else:
        assert (code, quick) == (expected, told)
    return expected


@pytest.mark.parametrize("case", parameters())
def test_both_ways_report_the_same_of_each_case(case: dict[str, Any], tmp_path: Path, capfd: Capture) -> None:
    skill = lay_out(case, tmp_path)
    for words in ([], ["--json"]):
        code = plain_check([str(skill), *words])
        quick = capfd.readouterr()
        if code is None:
            assert quick == ("", "")
        else:
            assert (run(["check", str(skill), *words]), capfd.readouterr()) == (code, quick)


def test_both_ways_report_the_same_of_each_bad_and_good_example_of_a_rule(tmp_path: Path, capfd: Capture) -> None:
    for at, case in enumerate(CASES):
        for number, text in enumerate((case.bad, *case.good)):
            write_case(case, text, tmp_path / f"{at}-{number}")
    _both(capfd, ".", "--json")
    _both(capfd, ".")


@pytest.mark.parametrize(
    "words",
    [[], ["--json"], ["--format", "text", "-q"], ["--format=json", "--quiet"], ["--exit-zero"], ["--isolated"]],
)
def test_both_ways_report_the_same_of_a_folder(words: list[str], tmp_path: Path, capfd: Capture) -> None:
    write_corpus(str(tmp_path / "corpus"), 30)
    write_skill(tmp_path / "corpus", "broken", extra="colour: red\n")
    write_skill(tmp_path / "corpus", "needing", files={"skill.manifest.yaml": "composition: {conflicts: [broken]}\n"})
    assert _both(capfd, "corpus", *words) == (0 if "--exit-zero" in words else 1)
    assert _both(capfd, *words, "corpus/broken/SKILL.md", "corpus", "corpus/broken") == (
        0 if "--exit-zero" in words else 1
    )


def test_both_ways_report_the_same_of_a_listing_that_is_cut(tmp_path: Path, capfd: Capture) -> None:
    write_corpus(str(tmp_path / "corpus"), 60)
    _both(capfd, "corpus")
    assert plain_check(["corpus"]) == exit_codes.OK
    assert "catalog.budget" in capfd.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["alpha", "--select", "spec"],
        ["alpha", "--fix"],
        ["alpha", "--format", "sarif"],
        ["alpha", "--format"],
        ["alpha", "-qq"],
        ["--help"],
        ["--", "alpha"],
        ["missing"],
        ["alpha/notes.txt"],
        [""],
        ["-"],
    ],
)
def test_what_else_is_asked_for_is_left_to_the_command(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    write_skill(tmp_path, "alpha", files={"notes.txt": "n"})
    assert plain_check(words) is None
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("PROWESS_FORMAT", "json")
    assert plain_check(["alpha"]) is None


@pytest.mark.parametrize(
    ("file", "text", "plain"),
    [
        ("prowess.toml", "preset = 'quiet'\n", False),
        ("pyproject.toml", "[tool.prowess]\npreset = 'quiet'\n", False),
        ("pyproject.toml", "[project]\nname = 'prowess-user'\n", True),
        ("home/config.toml", "preset = 'quiet'\n", False),
        ("skills/alpha/SKILL.md", "---\nname: alpha\ndescription: d\n# prowess: ignore lint\n---\n", False),
    ],
)
def test_a_file_that_sets_something_is_left_to_the_command(
    file: str, text: str, *, plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    write_skill(tmp_path / "skills", "alpha")
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "skills")
    _both(capfd, "alpha", plain=plain)


def test_nothing_set_means_what_the_profile_says() -> None:
    configuration = load_configuration(isolated=True, environment={})
    assert configuration.judgement("somewhere") == Judgement(profile=PROFILES["spec"])


def test_a_skill_that_cannot_be_read_is_reported_at_length(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "SKILL.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    if hasattr(os, "mkfifo"):  # Windows has none
        os.mkfifo(tmp_path / "empty" / "SKILL.md")
    assert _both(capfd, "link", "folder", "empty") == exit_codes.FAILED


def test_an_interrupted_check_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    def interrupt(_text: str) -> None:
        raise KeyboardInterrupt

    write_skill(tmp_path, "alpha")
    monkeypatch.setattr(output, "raw", interrupt)
    assert plain_check(["alpha"]) == run(["check", "alpha"]) == exit_codes.INTERRUPTED
    assert capfd.readouterr().err == "\ninterrupted\n" * 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_in_the_same_words(tmp_path: Path) -> None:
    write_skill(tmp_path, "alpha")
    told = []
    for words in (["alpha"], ["alpha", "--select", "spec,lint"]):
        with Path("/dev/full").open("wb") as full:
            ran = subprocess.run(
                [sys.executable, "-m", "prowess", "check", *words], stdout=full, stderr=subprocess.PIPE, check=False
            )
        told.append((ran.returncode, ran.stderr))
    assert told[0] == told[1]
    assert told[0][0] == exit_codes.FAILED


def test_a_plain_check_imports_little(tmp_path: Path) -> None:
    write_skill(tmp_path, "alpha", description="Sorts receipts by date.")
    code = (
        "import sys; from prowess.cli.plain_check import plain_check; assert plain_check(['alpha']) == 0;"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHON"))}
    ran = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {_source()!r}); {code}"],
        env=clean,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert "description-quality" in ran.stdout
    assert [name for name in _COSTLY if name in ran.stderr.split()] == []


def _source() -> str:
    return str(Path(output.__file__).parents[2])
