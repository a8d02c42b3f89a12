from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.iterations.snapshots import take_revision, take_snapshot
from tests.evals.campaigns.skills import an_eval, skill_at


def git(place: Path, *words: str) -> None:
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *words], cwd=place, check=True, capture_output=True)


def names(directory: str) -> list[str]:
    place = Path(directory)
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())


def test_a_snapshot_has_the_skill_without_its_evals(tmp_path: Path) -> None:
    root = skill_at(tmp_path, an_eval())
    (root / "scripts").mkdir()
    (root / "scripts" / "sum.py").write_text("print(1)")
    (root / "scripts" / "sum.py").chmod(0o755)
    target = tmp_path / "snapshot"
    digest = take_snapshot(str(root), str(target))
    (root / "evals" / "evals.json").write_text("{}")

    assert names(str(target)) == ["SKILL.md", "scripts/sum.py"]
    assert (target / "scripts" / "sum.py").stat().st_mode & 0o100
    assert take_snapshot(str(root), str(tmp_path / "again")) == digest


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = skill_at(tmp_path / "repository" / "skills", an_eval(), body="old body")
    git(tmp_path / "repository", "init", "-q", "-b", "main")
    git(tmp_path / "repository", "add", ".")
    git(tmp_path / "repository", "commit", "-q", "-m", "one")
    git(tmp_path / "repository", "tag", "-a", "v1", "-m", "one")
    (root / "SKILL.md").write_text("---\nname: sums\ndescription: Sums.\n---\nnew body\n")
    git(tmp_path / "repository", "commit", "-q", "-am", "two")
    return root


@pytest.mark.parametrize("revision", ["HEAD~1", "v1", "HEAD^", "main~1"])
def test_a_revision_is_read_from_the_objects_of_the_repository(revision: str, repository: Path, tmp_path: Path) -> None:
    target = tmp_path / "old"
    take_revision(str(repository), revision, str(target))

    assert names(str(target)) == ["SKILL.md"]
    assert "old body" in (target / "SKILL.md").read_text()


@pytest.mark.parametrize("revision", ["v9", "--upload-pack=touch x", "HEAD~7", "HEAD:skills", ""])
def test_what_is_no_revision_is_refused(revision: str, repository: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="revision"):
        take_revision(str(repository), revision, str(tmp_path / "old"))


def test_a_skill_in_no_repository_has_no_revision(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="in no git repository"):
        take_revision(str(skill_at(tmp_path)), "HEAD", str(tmp_path / "old"))
