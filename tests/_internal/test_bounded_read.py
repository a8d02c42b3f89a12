"""What a person names as input has the same limit in every form, and a part of it is never taken for the whole."""

from __future__ import annotations

import errno
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import bounded_read
from prowess._internal.files.bounded_read import STANDARD_INPUT, is_stream, read_input

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST = 1000


@contextmanager
def named(form: str, folder: Path, content: bytes) -> Iterator[str]:
    """Yield the name of an input with `content`: a file, a named pipe or standard input."""
    path = folder / "input"
    if form == "file":
        path.write_bytes(content)
        yield str(path)
    elif form == "pipe":
        os.mkfifo(path)
        held = os.open(path, os.O_RDWR)  # so that the reader sees a writer from the start
        os.write(held, content)
        closing = threading.Timer(0.2, os.close, (held,))
        closing.start()
        yield str(path)
        closing.join()
    else:
        (end, other), kept = os.pipe(), os.dup(0)
        os.write(other, content)
        os.close(other)
        os.dup2(end, 0)
        os.close(end)
        try:
            yield STANDARD_INPUT
        finally:
            os.dup2(kept, 0)
            os.close(kept)


def test_a_standard_input_that_does_not_wait_is_read_to_its_end(tmp_path: Path) -> None:
    with named("standard input", tmp_path, b"") as name:
        end, other = os.pipe()
        os.set_blocking(end, False)
        os.dup2(end, 0)
        os.close(end)

        def late() -> None:
            os.write(other, b"late")
            os.close(other)

        writing = threading.Timer(0.1, late)
        writing.start()
        assert read_input(name, MOST) == b"late"
        writing.join()


@pytest.mark.parametrize("form", ["file", "pipe", "standard input"])
def test_an_input_is_read_whole_up_to_its_limit_and_refused_above_it(form: str, tmp_path: Path) -> None:
    for size in (0, MOST, MOST + 1):
        (tmp_path / str(size)).mkdir()
        with named(form, tmp_path / str(size), b"x" * size) as name:
            assert is_stream(name) == (form != "file")
            if size <= MOST:
                assert read_input(name, MOST) == b"x" * size
                continue
            with pytest.raises(OSError, match=f"more than {MOST} bytes") as caught:
                read_input(name, MOST)
            assert caught.value.errno == errno.EFBIG


@pytest.mark.parametrize("name", ["", "nowhere", "a\0b"])
def test_a_path_that_is_nothing_is_no_stream(name: str) -> None:
    assert not is_stream(name)


def test_the_reason_why_a_pipe_gives_nothing_is_true_of_a_writer_that_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_read, "PIPE_SECONDS", 0.1)
    os.mkfifo(tmp_path / "input")
    held = os.open(tmp_path / "input", os.O_RDWR)
    os.close(held)
    with pytest.raises(OSError, match="a pipe without content and without a writer"):
        read_input(tmp_path / "input", MOST)
