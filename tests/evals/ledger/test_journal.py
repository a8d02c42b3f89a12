"""Journals that are torn, foreign, newer, links, or on a disk that is full."""

from __future__ import annotations

import json
import os
import resource
import signal
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.file_lock import locked
from prowess.agent import Usage
from prowess.evals.ledger.calls import CallAnswer, CallBound
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JOURNAL, REQUESTS, Amount, AnsweredCall, Journal, JournalError
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.recorded_calls import RecordedCalls
from tests.evals.ledger.asking import DOLLAR, HEADER, Asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOUND = CallBound(input_tokens=10, output_tokens=10)


async def _recorded(path: Path, *requests: str) -> bytes:
    with Ledger(path, HEADER, Caps()) as ledger:
        ask = Asking(ledger)
        for request in requests:
            await ask("one", request)
    return path.read_bytes()  # noqa: ASYNC240 -- no other task waits


@pytest.mark.anyio
async def test_a_journal_that_was_cut_anywhere_loses_at_most_its_last_line(tmp_path: Path) -> None:
    whole = await _recorded(tmp_path / JOURNAL, "a", "b")
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    for size in sorted({*range(ends[0], len(whole), 7), *ends, *(end - 1 for end in ends[1:])}):
        (tmp_path / JOURNAL).write_bytes(whole[:size])
        complete = sum(end <= size for end in ends)  # header, started, answered, started, answered
        with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
            ask = Asking(ledger)
            calls, in_doubt = ledger.spent.calls, ledger.spent.in_doubt_usd
            await ask("one", "a")
            await ask("one", "b")
        assert (calls, ask.count) == (max(0, complete) // 2, 2 - max(0, complete - 1) // 2), size
        assert (in_doubt > 0) == (complete in (2, 4)), size
    for size in (0, 1, ends[0] - 1):  # no kill leaves this: the first line is there before the first request
        (tmp_path / JOURNAL).write_bytes(whole[:size])
        with pytest.raises(JournalError, match="their requests are beside it"):
            Ledger(tmp_path / JOURNAL, HEADER, Caps())


@pytest.mark.anyio
async def test_an_unfinished_line_that_is_longer_than_the_next_one_leaves_nothing_behind(tmp_path: Path) -> None:
    whole = await _recorded(tmp_path / JOURNAL, "a")
    (tmp_path / JOURNAL).write_bytes(whole + b'{"kind":"answered","text":"' + b"x" * 5000)
    assert (await _recorded(tmp_path / JOURNAL, "a", "b")).startswith(whole)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        assert ledger.spent.calls == 2


@pytest.fixture
def synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What was brought to the disk: `directory`, or `journal` with its size then."""
    found: list[tuple[str, int]] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        sync(descriptor)
        status = os.fstat(descriptor)
        if os.path.samestat(status, os.stat(tmp_path)):
            found.append(("directory", 0))
        elif os.path.samestat(status, os.stat(tmp_path / JOURNAL)):
            found.append(("journal", status.st_size))

    monkeypatch.setattr(os, "fsync", noted)
    return found


def test_the_disk_knows_the_name_of_a_new_journal(tmp_path: Path, synced: list[tuple[str, int]]) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()):
        pass
    size = (tmp_path / JOURNAL).stat().st_size
    assert synced[-2:] == [("journal", size), ("directory", 0)]
    synced.clear()
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()):
        assert synced == []


def test_the_disk_knows_that_an_unfinished_line_was_cut_off(tmp_path: Path, synced: list[tuple[str, int]]) -> None:
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()):
        pass
    whole = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(whole + b'{"kind":')
    synced.clear()
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()):
        assert synced == [("journal", len(whole))]


@pytest.mark.anyio
async def test_a_broken_line_before_the_end_is_an_error_because_it_may_be_a_charge(tmp_path: Path) -> None:
    whole = await _recorded(tmp_path / JOURNAL, "a")
    lines = whole.splitlines(keepends=True)
    for place in (1, 2):
        broken = [*lines]
        broken[place] = b'{"kind":"started","id":3}\n'
        (tmp_path / JOURNAL).write_bytes(b"".join(broken))
        with pytest.raises(JournalError, match=f"has a line {place + 1} that cannot be read; restore it"):
            Ledger(tmp_path / JOURNAL, HEADER, Caps())
    (tmp_path / JOURNAL).write_bytes(whole.replace(b'"nano_usd":', b'"nano_usd":-', 1))  # a forged credit
    with pytest.raises(JournalError, match="has a line 2 that cannot be read"):
        Ledger(tmp_path / JOURNAL, HEADER, Caps())


@pytest.mark.anyio
@pytest.mark.parametrize("left", [b"", b'{"kind":"jour', None])
async def test_a_journal_that_lost_its_lines_is_refused_because_calls_were_paid(
    left: bytes | None, tmp_path: Path
) -> None:
    await _recorded(tmp_path / JOURNAL, "a")
    (tmp_path / JOURNAL).unlink()
    if left is not None:
        (tmp_path / JOURNAL).write_bytes(left)
    with pytest.raises(JournalError, match=r"is empty, but calls were made: .*; restore it from a backup"):
        Ledger(tmp_path / JOURNAL, HEADER, Caps())


@pytest.mark.parametrize("content", [b"notes of mine", b"{}\n", b'{"kind":"started"}\n', b"[" * 5000 + b"\n", b"\0\n"])
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / JOURNAL).write_bytes(content)
    with pytest.raises(JournalError, match="is no journal of evals; name another folder with --out"):
        Ledger(tmp_path / JOURNAL, HEADER, Caps())
    assert (tmp_path / JOURNAL).read_bytes() == content


def test_a_journal_of_a_newer_version_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text(json.dumps({"kind": "journal", "version": 2, "new": 1}) + "\n", encoding="utf-8")
    with pytest.raises(JournalError, match=r"is of version 2, and this program reads 1; update prowess"):
        Ledger(tmp_path / JOURNAL, HEADER, Caps())


def test_lines_across_several_reads_are_found_where_they_are(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.jsonl")
    texts = [letter * (7 << 20) for letter in "abcde"]
    with Journal.create(path, HEADER) as journal, journal.locked():
        assert list(journal.added()) == []
        for text in texts:
            journal.append(AnsweredCall(id=text[0], charged=Amount(input_tokens=1, output_tokens=1), text=text))
    with Journal(path, writable=False) as journal:
        found = list(journal.added())
        assert [line.text for line, _ in found if isinstance(line, AnsweredCall)] == texts
        assert [journal.read(place).text for _, place in found] == texts


def test_a_journal_that_is_a_hole_on_the_disk_is_not_read_into_memory(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.jsonl")
    Journal.create(path, HEADER).close()
    os.truncate(path, 600 << 20)
    with pytest.raises(JournalError, match="has a line 2 that is longer than 512 MiB"):
        RecordedCalls(path)


def test_a_link_a_pipe_and_a_directory_are_no_journals(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(JournalError, match="is a symbolic link; replace it by the file itself"):
        Ledger(tmp_path / "link", HEADER, Caps())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JournalError, match="is no regular file"):
        Ledger(tmp_path / "pipe", HEADER, Caps())
    with pytest.raises(JournalError, match=r"cannot be opened: .*; name a folder that you may write with --out"):
        Ledger("/sys/kernel/" + JOURNAL, HEADER, Caps())  # where not even root may write
    with pytest.raises(JournalError, match="cannot be opened: Is a directory"):
        Ledger(tmp_path, HEADER, Caps())
    with pytest.raises(JournalError, match="cannot be opened: No such file or directory; name a folder that you may"):
        Ledger(tmp_path / "missing" / JOURNAL, HEADER, Caps())


@pytest.mark.anyio
async def test_requests_are_not_kept_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / REQUESTS).symlink_to(tmp_path / "elsewhere")
    with Ledger(tmp_path / "run" / JOURNAL, HEADER, Caps()) as ledger:
        ask = Asking(ledger)
        with pytest.raises(JournalError, match="cannot keep a request"):
            await ask("one", "a")
    assert (ask.count, list((tmp_path / "elsewhere").iterdir())) == (0, [])


@pytest.fixture
def small_files() -> Iterator[None]:
    """Let no file of this process grow beyond 3000 bytes, which fails as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.anyio
@pytest.mark.usefixtures("small_files")
async def test_on_a_full_disk_no_answer_is_handed_on_and_no_further_call_is_made(tmp_path: Path) -> None:
    count = 0

    async def ask() -> CallAnswer:
        nonlocal count
        count += 1
        return CallAnswer(content=b"x" * 4000, usage=Usage(input_tokens=1))

    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        for _ in range(2):
            with pytest.raises(JournalError, match="cannot be written: File too large; free space"):
                await ledger.call("one", b"a", BOUND, ask, price=DOLLAR)
    assert count == 1
    assert (tmp_path / JOURNAL).read_bytes().endswith(b"}\n")  # nothing unfinished was left
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        assert (ledger.spent.calls, ledger.spent.in_doubt_usd) == (1, 0.00002)


@pytest.mark.anyio
async def test_a_process_that_holds_the_lock_and_is_stopped_is_named_after_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.evals.ledger.journal._WAIT_SECONDS", 0.05)
    with Ledger(tmp_path / JOURNAL, HEADER, Caps()) as ledger:
        ask = Asking(ledger)
        with locked(str(tmp_path / JOURNAL)), pytest.raises(JournalError, match="is locked by another process"):
            await ask("one", "a")
        assert ask.count == 0
        await ask("one", "a")
        assert ask.count == 1


@pytest.mark.anyio
async def test_a_kept_answer_that_somebody_changed_is_not_handed_on(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    await _recorded(path, "a")
    with Ledger(path, HEADER, Caps()) as ledger:
        path.write_bytes(path.read_bytes().replace(b"answered", b"answerxx"))
        with pytest.raises(JournalError, match="was changed while it was read"):
            await Asking(ledger)("one", "a")
