"""Bash is the judge: what is taken apart into simple commands starts exactly these commands and nothing else.

`PROWESS_SHELL_FUZZ` says how many lines are generated (2000 by default, 100 000 in `make fuzz`). Lines that are refused
are not run; every line that is not, is run by a real bash under strace, with stubs for all programs.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from prowess._internal.shell.command_line import ShellParts, SimpleCommand, parse_command_line
from prowess.policy.restriction import Restriction, decide
from tests.property.shell_lines import PROGRAMS, lines
from tests.property.traced_bash import TracedBash, can_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SHARDS = 8
_TOTAL = int(os.environ.get("PROWESS_SHELL_FUZZ", "2000"))
_PERMITTED = {"git", "ls", "head", "echo"}
_RESTRICTION = Restriction.of_field("s", " ".join(f"Bash({name}:*)" for name in sorted(_PERMITTED)))
_BATCH = 2000
_OBSTACLE = can_trace()


@pytest.mark.shell_fuzz
@pytest.mark.skipif(_OBSTACLE is not None, reason=f"nothing can be traced: {_OBSTACLE}")
@pytest.mark.parametrize("shard", range(_SHARDS))
def test_bash_starts_what_was_permitted_and_nothing_else(shard: int, tmp_path: Path) -> None:
    bash = TracedBash(tmp_path, PROGRAMS)
    count, judged = _TOTAL // _SHARDS, Counter[str]()
    source = islice(lines(shard), count)
    faults: list[str] = []
    while batch := list(islice(source, _BATCH)):
        taken = [(line, parts) for line in batch if isinstance(parts := parse_command_line(line), ShellParts)]
        judged["taken"] += len(taken)
        started = bash.started([line for line, _ in taken])
        for (line, parts), argvs in zip(taken, started, strict=True):
            faults += _faults(line, parts, argvs)
            judged["started"] += len(argvs)
            permitted = type(decide("Bash", {"command": line}, [_RESTRICTION])).__name__ == "Allow"
            judged["permitted"] += permitted
            if permitted:
                faults += [f"{line!r}: started {argv!r}" for argv in argvs if argv[0] not in _PERMITTED]
    assert faults == [], "\n".join([f"{len(faults)} faults", *faults[:20]])
    # Without these the test could pass because nothing was ever run.
    assert judged["taken"] > count // 10
    assert judged["permitted"] > count // 20
    assert judged["started"] > count // 10


@pytest.mark.skipif(_OBSTACLE is not None, reason=f"nothing can be traced: {_OBSTACLE}")
def test_the_judge_sees_what_a_wrong_reading_would_miss(tmp_path: Path) -> None:
    """Without this the test above could pass because the trace is read wrongly."""
    bash = TracedBash(tmp_path, PROGRAMS)
    lines_ = [
        "git 'a b' | rm",
        "git $(id)",
        "git & rm x; wait",
        "g{it,x} a",
        "hash -p sub/stub git; git",
        "git a\fb",
        "printf %n PATH",
    ]
    started = bash.started(lines_)
    assert sorted(started[0]) == [("git", "a b"), ("rm",)]
    assert started[1] == [("id",), ("git",)]
    assert sorted(started[2]) == [("git",), ("rm", "x")]
    assert started[3] == [("git", "gx", "a")]
    assert started[4] == [("./sub/stub as git",)]
    assert started[5] == [("git", "a\fb")]
    assert started[6] == []
    wrong = parse_command_line("git")
    assert isinstance(wrong, ShellParts)
    assert [len(_faults("", wrong, argvs)) for argvs in started] == [2, 1, 1, 1, 1, 1, 0]
    assert len(_faults("", wrong, [("git",), ("git",)])) == 1


def _faults(line: str, parts: ShellParts, argvs: Sequence[tuple[str, ...]]) -> list[str]:
    """Each vector that bash passed must be one of ours, and each of ours is passed at most once."""
    owner: dict[int, int] = {}  # place of a command → place of the vector it stands for

    def found(vector: int, tried: set[int]) -> bool:
        # A command with a glob fits several vectors, so it may have to give one up to another that fits no other.
        for place, command in enumerate(parts.commands):
            if place in tried or not _fits(command, argvs[vector]):
                continue
            tried.add(place)
            if place not in owner or found(owner[place], tried):
                owner[place] = vector
                return True
        return False

    foreign = [argvs[vector] for vector in range(len(argvs)) if not found(vector, set())]
    return [f"{line!r}: bash started {argv!r}, we read {parts.commands!r}" for argv in foreign]


def _fits(command: SimpleCommand, argv: tuple[str, ...]) -> bool:
    """Whether `argv` is the command's, with one word or more in the place of each that bash expands."""
    if not any(word.expands for word in command.words):
        return command.argv == argv
    ends = {0}
    for word in command.words:
        if word.expands:
            ends = {later for end in ends for later in range(end + 1, len(argv) + 1)}
        else:
            ends = {end + 1 for end in ends if end < len(argv) and argv[end] == word.text}
    return len(argv) in ends
