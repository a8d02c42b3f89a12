"""The shape of the sandbox on hosts that are laid out in another way than this one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.execution.artifacts import media_type
from prowess.execution.backends import bubblewrap
from prowess.execution.backends.bubblewrap_options import Layout, options
from prowess.execution.request import ExecRequest
from prowess.execution.supervision import Ending

if TYPE_CHECKING:
    import pytest

    from prowess.execution.backends.bubblewrap_start import Started


def _pairs(words: list[str], option: str) -> list[tuple[str, str]]:
    return [(words[at + 1], words[at + 2]) for at, word in enumerate(words) if word == option]


def test_library_directories_are_links_or_mounts_as_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    links = {"/bin": "usr/bin", "/lib": "/usr/lib"}
    monkeypatch.setattr(os.path, "islink", links.__contains__)
    monkeypatch.setattr(os, "readlink", links.__getitem__)
    monkeypatch.setattr(os.path, "isdir", {"/sbin", "/lib64"}.__contains__)
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    words = options(Layout(skill="/s", cwd="/tmp/work"), {})
    made = [(target, place) for target, place in _pairs(words, "--symlink") if not place.startswith("/dev/")]
    assert made == [("usr/bin", "/bin"), ("/usr/lib", "/lib")]
    assert _pairs(words, "--ro-bind") == [("/usr", "/usr"), ("/sbin", "/sbin"), ("/lib64", "/lib64"), ("/s", "/skill")]


def test_isolation_is_asked_for_in_full() -> None:
    words = options(Layout(skill="/s", cwd="/tmp/work"), {})
    for name in ("user", "pid", "net", "ipc", "uts"):
        assert f"--unshare-{name}" in words
    for option in ("--disable-userns", "--new-session", "--die-with-parent", "--clearenv", "--unshare-cgroup-try"):
        assert option in words
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert [words[words.index(name) + 1] for name in ("--uid", "--gid")] == ["65534", "65534"]


def test_the_workspace_is_writable_only_where_granted() -> None:
    reading = options(Layout(skill="/s", workspace="/w", cwd="/workspace"), {})
    writing = options(Layout(skill="/s", workspace="/w", write=True, cwd="/workspace"), {})
    assert ("/w", "/workspace") in _pairs(reading, "--ro-bind")
    assert _pairs(reading, "--bind") == []
    assert _pairs(writing, "--bind") == [("/w", "/workspace")]


def test_nothing_is_taken_home_while_a_process_may_still_be_there() -> None:
    ending = Ending(timed_out=True, cancelled=False, ended=False, seconds=1.0)
    request = ExecRequest(skill_dir="/s", script="x", out_dir="/o")
    started: Started = None  # type: ignore[assignment]  # it must not be touched
    artifacts, [notice] = bubblewrap._artifacts(started, request, ending)
    assert artifacts == ()
    assert notice.code == "process_left"


def test_a_media_type_is_never_guessed_from_content() -> None:
    assert media_type("page.html.bin") == "application/octet-stream"
