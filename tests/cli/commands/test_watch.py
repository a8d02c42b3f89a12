"""`prowess watch` as its own process: what it prints, and how it ends."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from queue import Queue
from typing import IO, TYPE_CHECKING

import pytest

from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

WATCH = (sys.executable, "-m", "prowess", "watch")
BOUND = 30.0  # seconds that a test waits for one line at most
_ISOLATED = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


class Watcher:
    """A running `prowess watch`, its lines of both streams, and the process itself."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdout is not None
        assert process.stderr is not None
        self.threads: list[threading.Thread] = []
        self.output, self.notes = self._lines_of(process.stdout), self._lines_of(process.stderr)

    def until_it_watches(self) -> None:
        while "Watching" not in self.notes.get(timeout=BOUND):
            pass

    def document(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.output.get(timeout=BOUND))
        return found

    def _lines_of(self, stream: IO[bytes]) -> Queue[str]:
        lines: Queue[str] = Queue()

        def read() -> None:
            with stream:
                for line in stream:
                    lines.put(line.decode())
            lines.put("")

        self.threads.append(threading.Thread(target=read))
        self.threads[-1].start()
        return lines


@contextmanager
def watching(command: Sequence[str], environment: dict[str, str] | None = None) -> Iterator[Watcher]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}
    )
    watcher = Watcher(process)
    try:
        yield watcher
    finally:
        process.kill()
        process.wait()
        for thread in watcher.threads:
            thread.join()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_skill(tmp_path / "skills" / "alpha").parent


@pytest.fixture
def without_watchfiles(tmp_path: Path) -> dict[str, str]:
    """An environment whose Python finds no watchfiles."""
    (tmp_path / "hiding").mkdir()
    (tmp_path / "hiding" / "watchfiles.py").write_text("raise ModuleNotFoundError(__name__)\n")
    return {"PYTHONPATH": str(tmp_path / "hiding")}


@pytest.mark.proves("catalog.watch.events", "tooling.cli.catalog")
def test_json_lines_name_event_skill_location_and_digest(root: Path) -> None:
    with watching([*WATCH, "--root", str(root), "--json"]) as watcher:
        watcher.until_it_watches()
        text = write_skill(root / "beta") / "SKILL.md"
        assert watcher.document() == {
            "event": "added",
            "name": "beta",
            "location": str(text),
            "digest": f"sha256:{hashlib.sha256(text.read_bytes()).hexdigest()}",
        }
        shutil.rmtree(root / "beta")
        gone = watcher.document()
        assert (gone["event"], gone["name"]) == ("removed", "beta")
        assert watcher.notes.empty(), "watchfiles is installed, so nothing is polled"


def test_text_has_one_row_per_change(root: Path) -> None:
    with watching([*WATCH, "--root", str(root)]) as watcher:
        watcher.until_it_watches()
        write_skill(root / "alpha", body="# Otherwise\n")
        assert watcher.output.get(timeout=BOUND) == f"changed  alpha  {root}/alpha/SKILL.md\n"


@pytest.mark.proves("catalog.watch.polling")
def test_without_watchfiles_it_polls_and_tells_so(root: Path, without_watchfiles: dict[str, str]) -> None:
    with watching([*WATCH, "--root", str(root), "--json"], without_watchfiles) as watcher:
        watcher.until_it_watches()
        assert "pip install 'prowess[watch]'" in watcher.notes.get(timeout=BOUND)
        for name in ("beta", "gamma"):
            write_skill(root / name)
            assert watcher.document()["name"] == name


def test_quiet_prints_no_notes(root: Path, without_watchfiles: dict[str, str]) -> None:
    with watching([*WATCH, "--root", str(root), "--json", "--quiet"], without_watchfiles) as watcher:
        number = 0
        while watcher.output.empty():  # without a note, nobody knows when it begins to watch
            write_skill(root / "alpha", body=f"{(number := number + 1)}\n")
            time.sleep(0.05)
        assert watcher.document()["name"] == "alpha"
        assert watcher.notes.empty()


@pytest.mark.parametrize("installed", [True, False])
def test_ctrl_c_ends_it_with_130(root: Path, without_watchfiles: dict[str, str], installed: bool) -> None:  # noqa: FBT001 -- a case
    with watching([*WATCH, "--root", str(root)], None if installed else without_watchfiles) as watcher:
        watcher.until_it_watches()
        write_skill(root / "beta")
        watcher.output.get(timeout=BOUND)  # so the watch is running
        watcher.process.send_signal(signal.SIGINT)
        assert watcher.process.wait(BOUND) == 130
        assert watcher.output.get(timeout=BOUND) == ""
        notes = list(iter(lambda: watcher.notes.get(timeout=BOUND), ""))
        assert notes[-1] == "interrupted\n"
        assert not any("Traceback" in note for note in notes)


def test_sigterm_ends_it_at_once(root: Path) -> None:
    with watching([*WATCH, "--root", str(root)]) as watcher:
        watcher.until_it_watches()
        watcher.process.send_signal(signal.SIGTERM)
        assert watcher.process.wait(BOUND) == -signal.SIGTERM


def test_it_ends_quietly_if_the_reader_closes_the_pipe(root: Path) -> None:
    process = subprocess.Popen([*WATCH, "--root", str(root), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert b"Watching" in process.stderr.readline()
    process.stdout.close()
    assert process.wait(BOUND) == 0, "it does not wait for the next change"
    assert process.stderr.read() == b""
    process.stderr.close()


def _isolated(script: str) -> list[str]:
    """Return the command line that runs a shell script in namespaces of its own; skip if the system allows none."""
    if (
        shutil.which("unshare") is None
        or subprocess.run([*_ISOLATED, "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no user namespaces")
    return [*_ISOLATED, script, "sh", *WATCH]


def test_it_polls_beyond_the_number_of_watches_of_the_system(root: Path) -> None:
    command = _isolated('echo 5 > /proc/sys/user/max_inotify_watches; exec "$@"')
    with watching([*command, "--root", str(root), "--json"]) as watcher:
        watcher.until_it_watches()
        assert "fs.inotify.max_user_watches" in watcher.notes.get(timeout=BOUND)
        write_skill(root / "beta")
        assert watcher.document()["name"] == "beta"


def test_it_polls_if_no_watch_can_be_opened(root: Path) -> None:
    command = _isolated('echo 0 > /proc/sys/user/max_inotify_instances; exec "$@"')
    with watching([*command, "--root", str(root), "--json"]) as watcher:
        watcher.until_it_watches()
        assert "Too many open files" in watcher.notes.get(timeout=BOUND)
        write_skill(root / "beta")
        assert watcher.document()["name"] == "beta"


def test_it_polls_on_a_network_file_system(root: Path, tmp_path: Path) -> None:
    # The mounts that this process sees: everything below `tmp_path` on NFS.
    place = str(tmp_path).replace(" ", "\\040")
    mounts = f"1 0 0:1 / / rw - ext4 /dev/x rw\n2 1 0:2 / {place} rw shared:1 - nfs4 server:/x rw\n"
    (tmp_path / "mountinfo").write_text(mounts)
    command = _isolated(f'mount --bind {tmp_path}/mountinfo /proc/$$/mountinfo || exit 9; exec "$@"')
    with watching([*command, "--root", str(root), "--json"]) as watcher:
        watcher.until_it_watches()
        assert "on a network file system (nfs4)" in watcher.notes.get(timeout=BOUND)
        write_skill(root / "beta")
        assert watcher.document()["name"] == "beta"
