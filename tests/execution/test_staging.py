from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import verified_copy
from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.tree_digest import read_tree
from prowess.errors import DigestChangedError
from prowess.execution import staging
from prowess.execution.staging import StageError, stage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "skill"
    (root / "scripts").mkdir(parents=True)
    (root / "SKILL.md").write_text("---\nname: skill\n---\n")
    (root / "scripts" / "run.sh").write_text("echo hi\n")
    (root / "scripts" / "run.sh").chmod(0o755)
    return root


def test_a_stage_has_the_same_files_and_cannot_be_written_by_mistake(skill: Path, tmp_path: Path) -> None:
    manifest = read_tree(str(skill))
    made = stage(str(skill), manifest, str(tmp_path / "cache"))
    assert read_tree(made) == manifest
    assert os.stat(f"{made}/scripts/run.sh").st_mode & 0o777 == 0o555
    assert os.stat(f"{made}/SKILL.md").st_mode & 0o777 == 0o444
    assert os.stat(os.path.dirname(made)).st_mode & 0o077 == 0


def test_the_same_bytes_are_staged_once(skill: Path, tmp_path: Path) -> None:
    manifest, cache = read_tree(str(skill)), str(tmp_path / "cache")
    with ContainedRoot(str(skill)) as root:
        made = stage(root, manifest, cache)
    inode = os.stat(f"{made}/SKILL.md").st_ino
    assert stage(str(skill), manifest, cache) == made
    assert os.stat(f"{made}/SKILL.md").st_ino == inode
    assert os.listdir(os.path.dirname(made)) == [os.path.basename(made)]


def test_links_and_pipes_are_not_staged(skill: Path, tmp_path: Path) -> None:
    (skill / "link").symlink_to("/etc/passwd")
    os.mkfifo(skill / "pipe")
    os.link(skill / "SKILL.md", skill / "second")
    manifest = read_tree(str(skill))
    assert manifest.digest is None
    made = stage(str(skill), manifest, str(tmp_path / "cache"))
    assert os.listdir(made) == ["scripts"]


@pytest.mark.parametrize("change", ["edit", "grow", "shrink", "delete", "link", "hard link", "directory"])
def test_a_file_that_is_not_what_was_hashed_is_refused_and_nothing_stays(
    skill: Path, tmp_path: Path, change: str
) -> None:
    manifest = read_tree(str(skill))
    script = skill / "scripts" / "run.sh"
    match change:
        case "edit":
            script.write_text("echo ho\n")
        case "grow":
            script.write_text("echo hi\n\n")
        case "shrink":
            script.write_text("echo\n")
        case "delete":
            script.unlink()
        case "hard link":
            os.link(script, tmp_path / "second")
        case "link":
            script.unlink()
            script.symlink_to("/etc/passwd")
        case _:
            script.unlink()
            script.mkdir()
    with pytest.raises(DigestChangedError) as fault:
        stage(str(skill), manifest, str(tmp_path / "cache"))
    assert (fault.value.skill, fault.value.path) == ("skill", "scripts/run.sh")
    assert os.listdir(tmp_path / "cache" / "stages") == []


@pytest.mark.parametrize("damage", ["emptied", "added", "removed", "mode"])
def test_a_stage_that_is_not_what_its_name_says_is_made_again(skill: Path, tmp_path: Path, damage: str) -> None:
    manifest, cache = read_tree(str(skill)), str(tmp_path / "cache")
    made = stage(str(skill), manifest, cache)
    script = f"{made}/scripts/run.sh"
    match damage:
        case "emptied":
            os.chmod(script, 0o755)
            with open(script, "w", encoding="ascii"):
                pass
        case "added":
            with open(f"{made}/scripts/more.sh", "w", encoding="ascii") as file:
                file.write("echo more")
        case "removed":
            os.unlink(script)
        case _:
            os.chmod(script, 0o644)
    assert stage(str(skill), manifest, cache) == made
    assert read_tree(made) == manifest


def test_a_full_disk_leaves_no_stage(skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(verified_copy, "write_all", full)
    with pytest.raises(StageError, match="No space left") as fault:
        stage(str(skill), read_tree(str(skill)), str(tmp_path / "cache"))
    assert str(fault.value).startswith(f"the cache {tmp_path}/cache/stages cannot be used, nothing was run: ")
    assert os.listdir(tmp_path / "cache" / "stages") == []


def test_without_a_cache_a_stage_lies_in_a_private_directory_of_this_process(skill: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    manifest = read_tree(str(skill))
    made = stage(str(skill), manifest, str(tmp_path / "file" / "cache"))
    assert read_tree(made) == manifest
    assert os.stat(os.path.dirname(made)).st_mode & 0o077 == 0
    assert stage(str(skill), manifest, str(tmp_path / "file" / "cache")) == made


@pytest.mark.parametrize("above", ["", "stages"])
def test_a_stage_in_a_place_that_others_can_change_is_not_used(skill: Path, tmp_path: Path, above: str) -> None:
    manifest, cache = read_tree(str(skill)), tmp_path / "cache"
    made = stage(str(skill), manifest, str(cache))
    assert made.startswith(f"{cache}/")
    (cache / above).chmod(0o777)
    elsewhere = stage(str(skill), manifest, str(cache))
    assert not elsewhere.startswith(f"{cache}/")
    assert read_tree(elsewhere) == manifest


def test_the_private_directory_ends_with_its_process(skill: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom prowess._internal.files.tree_digest import read_tree\n"
        "from prowess.execution.staging import stage\n"
        "print(stage(sys.argv[1], read_tree(sys.argv[1]), '/dev/null/cache'))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(skill)], capture_output=True, text=True, check=True, timeout=30
    )
    assert ran.stdout.strip().startswith("/")
    assert not os.path.exists(os.path.dirname(ran.stdout.strip()))


def test_something_else_in_the_place_of_a_stage_is_replaced(skill: Path, tmp_path: Path) -> None:
    manifest, cache = read_tree(str(skill)), tmp_path / "cache"
    place = cache / "stages" / manifest.content_digest.removeprefix("sha256:")
    place.parent.mkdir(parents=True)
    place.write_text("a file")
    assert read_tree(stage(str(skill), manifest, str(cache))) == manifest


def test_a_stage_that_keeps_being_spoilt_is_reported(
    skill: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "_publish", lambda *args: False)
    with pytest.raises(StageError, match="delete that directory"):
        stage(str(skill), read_tree(str(skill)), str(tmp_path / "cache"))


_STAGE = """
import sys
from prowess._internal.files.tree_digest import read_tree
from prowess.execution.staging import StageError, stage
skill, cache = sys.argv[1:]
sys.stdin.readline()
for _ in range(20):
    manifest = read_tree(skill)
    assert read_tree(stage(skill, manifest, cache)) == manifest
"""


def test_several_processes_may_stage_the_same_skill_at_once(skill: Path, tmp_path: Path) -> None:
    for number in range(30):
        (skill / f"{number}.txt").write_text(str(number) * 1000)
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", _STAGE, str(skill), str(cache)]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    faults = [writer.communicate(b"go\n", timeout=30)[1] for writer in writers]
    assert faults == [b"", b"", b""]
    assert len(os.listdir(cache / "stages")) == 1
