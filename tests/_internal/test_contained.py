"""Nothing outside the root is ever opened, and nothing blocks."""

from __future__ import annotations

import errno
import os
import socket
import stat
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import contained
from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from pathlib import Path


# By name the promise is weaker, and these tests reach into the other way.
_BY_DESCRIPTOR = pytest.mark.parametrize("beneath", [True], indirect=True)


@pytest.fixture(params=[True, False], ids=["by descriptor", "by name"], autouse=True)
def beneath(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Every promise is tried the way of this system and the way of one that opens nothing beneath a directory."""
    if not request.param:
        monkeypatch.setattr(contained, "_OPENS_BENEATH", False)
    return bool(request.param)


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    root = tmp_path / "skill-a"
    for path in (
        "SKILL.md",
        "references/guide.md",
        "references/a..b.md",
        "references/ü.md",
        "scripts/run.py",
        "assets/keep.txt",
    ):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text of {path}", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "skill-b" / "references").mkdir(parents=True)
    (tmp_path / "skill-b" / "references" / "secret.md").write_text("secret")
    (root / "references" / "out.md").symlink_to("../../secret.txt")
    (root / "references" / "in.md").symlink_to("guide.md")
    (root / "assets" / "up").symlink_to("..")
    (root / "assets" / "hard.txt").hardlink_to(tmp_path / "secret.txt")
    os.mkfifo(root / "assets" / "pipe")
    return root


@pytest.mark.parametrize(
    "path",
    [
        "references/guide.md",
        "./references/guide.md",
        "references//guide.md",
        "references/a..b.md",
        "references/ü.md",
        "SKILL.md",
    ],
)
def test_a_plain_file_is_opened_with_its_normalised_path(layout: Path, path: str) -> None:
    with ContainedRoot(str(layout)) as root, root.open(path) as file:
        assert file.path == os.path.normpath(path)
        assert file.read() == f"text of {file.path}".encode()
        assert file.size == len(file.read())


@pytest.mark.parametrize(
    "path",
    [
        "",
        "../skill-b/references/secret.md",
        "references/../../skill-b/references/secret.md",
        "../SKILL.md",
        "/etc/hostname",
        "references/guide.md/..",
        "C:\\Windows\\x",
        "c:/x",
        "\\\\host\\share",
        "references\\guide.md",
        "references/guide.md\0.txt",
        "references/\ud800.md",
    ],
)
def test_a_path_that_could_leave_the_root_is_refused_as_text(path: str) -> None:
    with pytest.raises(UnsafePathError) as refused:
        check_relative(path)
    assert refused.value.path == path


@pytest.mark.parametrize(
    "path", ["references/out.md", "references/in.md", "assets/up/SKILL.md", "assets/hard.txt", "assets/pipe"]
)
def test_links_hard_links_and_pipes_are_refused_at_once(layout: Path, path: str) -> None:
    started = time.monotonic()
    with ContainedRoot(str(layout)) as root, pytest.raises(UnsafePathError):
        root.open(path)
    assert time.monotonic() - started < 10  # opening a pipe without a writer would wait forever


@pytest.mark.parametrize(
    "path",
    [
        "references/none.md",
        "%2e%2e%2fsecret.txt",
        "..%2fsecret.txt",
        "~/x",
        "$HOME/x",
        "none/x",
        "SKILL.md/x",
        "x" * 300,
        "\uff0e\uff0e/secret.txt",
    ],
)
def test_a_name_is_never_decoded_and_an_absent_one_is_not_found(layout: Path, path: str) -> None:
    with ContainedRoot(str(layout)) as root, pytest.raises(FileNotFoundError):
        root.open(path)


@pytest.mark.parametrize("path", ["references", "references/", "."])
def test_a_directory_is_not_a_file(layout: Path, path: str) -> None:
    with ContainedRoot(str(layout)) as root, pytest.raises(IsADirectoryError):
        root.open(path)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name is limited to about 100 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with ContainedRoot(str(tmp_path)) as root, pytest.raises(UnsafePathError):
            root.open("s")


def test_a_second_hard_link_can_be_allowed(layout: Path) -> None:
    with ContainedRoot(str(layout)) as root, root.open("assets/hard.txt", allow_hard_links=True) as file:
        assert file.read() == b"secret"


def test_a_part_of_a_file_can_be_read(layout: Path) -> None:
    with ContainedRoot(str(layout)) as root, root.open("SKILL.md") as file:
        assert file.read(4) == b"text"
        assert file.read(100, offset=8) == b"SKILL.md"
        assert file.read(0) == b""


def test_a_directory_is_listed_sorted_with_the_kind_of_each_entry(layout: Path) -> None:
    with ContainedRoot(str(layout)) as root:
        assert root.entries() == [
            ("SKILL.md", "file"),
            ("assets", "directory"),
            ("references", "directory"),
            ("scripts", "directory"),
        ]
        assert root.entries("assets") == [
            ("hard.txt", "file"),
            ("keep.txt", "file"),
            ("pipe", "special"),
            ("up", "link"),
        ]


def test_listing_a_file_a_link_or_nothing_is_an_error(layout: Path) -> None:
    with ContainedRoot(str(layout)) as root:
        with pytest.raises(NotADirectoryError):
            root.entries("SKILL.md")
        with pytest.raises(UnsafePathError):
            root.entries("assets/up")
        with pytest.raises(FileNotFoundError):
            root.entries("none")


@_BY_DESCRIPTOR
def test_the_root_stays_the_directory_that_was_opened(layout: Path, tmp_path: Path) -> None:
    with ContainedRoot(str(layout)) as root:
        layout.rename(tmp_path / "moved")
        layout.symlink_to(tmp_path / "skill-b")
        with root.open("SKILL.md") as file:
            assert file.read() == b"text of SKILL.md"


@_BY_DESCRIPTOR
def test_a_link_put_in_place_after_the_check_is_not_followed(layout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = contained._lstat

    def exchanging(parent: int, name: str, path: str) -> os.stat_result:
        found = honest(parent, name, path)
        os.unlink(name, dir_fd=parent)
        os.symlink("../secret.txt", name, dir_fd=parent)
        return found

    monkeypatch.setattr(contained, "_lstat", exchanging)
    with ContainedRoot(str(layout)) as root, pytest.raises(UnsafePathError):
        root.open("SKILL.md")


@_BY_DESCRIPTOR
def test_a_pipe_put_in_place_after_the_check_does_not_block(layout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = contained._lstat

    def exchanging(parent: int, name: str, path: str) -> os.stat_result:
        found = honest(parent, name, path)
        os.unlink(name, dir_fd=parent)
        os.mkfifo(name, dir_fd=parent)
        return found

    monkeypatch.setattr(contained, "_lstat", exchanging)
    with ContainedRoot(str(layout)) as root, pytest.raises(UnsafePathError):
        root.open("SKILL.md")


@pytest.mark.parametrize("kind", ["link", "pipe", "file"])
@pytest.mark.parametrize("beneath", [False], indirect=True)
def test_by_name_a_file_exchanged_after_the_look_is_refused_too(
    layout: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    honest = contained._look

    def exchanging(name: str, path: str) -> os.stat_result:
        found = honest(name, path)
        os.rename(name, f"{name}.old")
        match kind:
            case "link":
                os.symlink("../secret.txt", name)
            case "pipe":
                os.mkfifo(name)
            case _:
                (layout / "SKILL.md").write_text("another")
        return found

    monkeypatch.setattr(contained, "_look", exchanging)
    with ContainedRoot(str(layout)) as root, pytest.raises(UnsafePathError):
        root.open("SKILL.md")


@pytest.mark.parametrize("beneath", [False], indirect=True)
def test_a_junction_is_a_link(layout: Path) -> None:
    junction = SimpleNamespace(st_mode=stat.S_IFDIR, st_file_attributes=0x410)
    assert contained.is_link(junction)  # type: ignore[arg-type]  # what os.lstat gives on Windows
    assert not contained.is_link(os.lstat(layout))


@pytest.mark.parametrize("beneath", [False], indirect=True)
def test_by_name_the_root_must_be_a_directory_too(layout: Path) -> None:
    with pytest.raises(NotADirectoryError):
        ContainedRoot(str(layout / "SKILL.md"))
    with pytest.raises(FileNotFoundError):
        ContainedRoot(str(layout / "none"))


def test_what_the_file_system_refuses_stays_an_os_error() -> None:
    fault = PermissionError(errno.EACCES, "denied")
    assert contained._as_refusal(fault, "x") is fault
    assert isinstance(contained._as_refusal(OSError(errno.ENXIO, "no device"), "x"), UnsafePathError)


def test_descriptors_are_closed_whatever_happens(layout: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if stat.S_ISDIR(os.stat("/proc/self/fd").st_mode) else 0
    with ContainedRoot(str(layout)) as root:
        for path in ("SKILL.md", "references/out.md", "assets/up/x", "assets/hard.txt", "none/x", "references"):
            try:
                root.open(path).close()
            except (OSError, UnsafePathError):
                continue
    root.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_root_that_is_absent_or_a_file_is_an_os_error(layout: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ContainedRoot(str(layout / "none"))
    with pytest.raises(NotADirectoryError):
        ContainedRoot(str(layout / "SKILL.md"))
