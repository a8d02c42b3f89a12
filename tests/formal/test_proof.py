"""The proof itself, where Dafny is installed; and that it can fail, for a proof that always succeeds proves nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import prowess
from tests.spec.mutation_receipts import environment_of
from tools.proof import dafny

ROOT = Path(__file__).parents[2]
FORMAL = ROOT / "formal"
HERE = Path(__file__).parent

pytestmark = [
    pytest.mark.proof,
    pytest.mark.unmeasured,
    pytest.mark.skipif(bool(dafny.missing()), reason="dafny is not installed; `make proof` installs it"),
]


@pytest.mark.proves("tooling.formal.file")
def test_everything_is_proved() -> None:
    verdict = dafny.verify(sorted(FORMAL.glob("*.dfy")))
    assert verdict.sentences == ()
    assert verdict.holds
    assert verdict.verified > 200


@pytest.mark.proves(
    "tooling.formal.name", "tooling.formal.description", "tooling.formal.frontmatter", "tooling.formal.directory"
)  # fmt: skip
def test_fields_and_directory_mean_what_is_required() -> None:
    assert dafny.verify([HERE / "fields_and_directory.dfy"]).holds


@pytest.mark.proves(
    "tooling.formal.level1", "tooling.formal.level2", "tooling.formal.level3", "tooling.formal.complete"
)  # fmt: skip
def test_the_levels_and_the_whole_mean_what_is_required() -> None:
    assert dafny.verify([HERE / "levels.dfy"]).holds


@pytest.mark.proves("tooling.formal.conservation")
def test_balance_means_what_is_required() -> None:
    assert dafny.verify([HERE / "balance.dfy"]).holds


@pytest.mark.parametrize(
    ("file", "lemma", "before", "after", "complaint"),
    [
        pytest.param(
            "Names.dfy", "BoundaryLengths", "const MAX_NAME_LENGTH := 64", "const MAX_NAME_LENGTH := 65",
            "postcondition", marks=pytest.mark.proves("tooling.formal.examples"),
        ),
        pytest.param(
            "Containment.dfy", "CheckRelative", 'if ".." in parts {', 'if parts[0] == ".." {', "postcondition",
            marks=pytest.mark.proves("tooling.formal.level3"),
        ),
        (
            "Layers.dfy", "Winner", "Precedes(copies[i], copies[w.value], order)) {",
            "Precedes(copies[w.value], copies[i], order)) {", "invariant",
        ),
        (
            "Layers.dfy", "EnterpriseIsFirstWhateverTheOrder", "case Enterprise => 0",
            "case Enterprise => if order.PersonalFirst? then 0 else 2", "postcondition",
        ),
        (
            "Layers.dfy", "TheWinnerIsNeverOfALowerLayer", "if a.layer != b.layer then",
            "if a.priority == b.priority then", "postcondition",
        ),
    ],
)  # fmt: skip
def test_a_fault_in_the_dafny_text_is_not_verified(
    tmp_path: Path, *, file: str, lemma: str, before: str, after: str, complaint: str
) -> None:
    copy = _copied(tmp_path)
    source = (copy / file).read_text(encoding="utf-8")
    assert source.count(before) == 1
    (copy / file).write_text(source.replace(before, after), encoding="utf-8")
    verdict = dafny.verify([copy / file], only=lemma)
    assert verdict.errors
    assert not verdict.holds
    assert any(complaint in sentence for sentence in verdict.sentences)


def test_a_lemma_without_a_body_is_not_compiled(tmp_path: Path) -> None:
    copy = _copied(tmp_path)
    (copy / "All.dfy").write_text(f"{(copy / 'All.dfy').read_text()}\nmodule More {{ lemma L() ensures false }}\n")
    with pytest.raises(dafny.ProofError, match="no body"):
        dafny.Model(copy)


def test_a_text_that_does_not_parse_gives_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "a.dfy").write_text("module M { lemma")
    with pytest.raises(dafny.ProofError, match="no verdict"):
        dafny.verify([tmp_path / "a.dfy"])


@pytest.mark.proves("tooling.formal.correspondence")
def test_a_fault_in_the_python_code_makes_the_comparison_differ(tmp_path: Path) -> None:
    shutil.copytree(Path(prowess.__file__).parent, tmp_path / "prowess", ignore=shutil.ignore_patterns("__pycache__"))
    subjects = ("layers", "names", "links", "balance")
    assert _compared(tmp_path, *subjects).returncode == 0
    _break(tmp_path / "prowess/format/name.py", 'text.find("--")', 'text.find("---")')
    _break(tmp_path / "prowess/format/rules/body_rules.py", 'if component == "..":', 'if component == "...":')
    _break(tmp_path / "prowess/format/role.py", "Role(-sum(", "Role(sum(")
    _break(tmp_path / "prowess/catalog/sources/precedence.py", "*reversed(local)", "*local")
    done = _compared(tmp_path, *subjects)
    assert done.returncode == 1
    assert "FAILED    the model and our code differ" in done.stderr
    assert "a--" in done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines() if "differences" in line and ", 0 " not in line] == [
        "names", "links", "layers", "balance",
    ]  # fmt: skip


def _copied(place: Path) -> Path:
    return Path(shutil.copytree(FORMAL, place / "formal"))


def _break(file: Path, before: str, after: str) -> None:
    source = file.read_text(encoding="utf-8")
    assert before in source
    file.write_text(source.replace(before, after), encoding="utf-8")


def _compared(package: Path, *subjects: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.proof", "--no-verify", "--only", *subjects]
    environment = environment_of(os.environ, package)
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)
