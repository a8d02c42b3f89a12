from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.fix.applying import difference

if TYPE_CHECKING:
    from pathlib import Path

_TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d"]), max_size=30).map("".join)


def patched(before: str, lines: list[str]) -> str:
    """What `patch` makes of a text: read the hunks and nothing else."""
    old, new, at = before.split("\n"), "", 0
    ends_with_break = True
    for line in lines[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            first = int(start) - (length != "0")
            new += "".join(f"{kept}\n" for kept in old[at:first])
            at = first
        elif line.startswith("\\"):
            ends_with_break = False
        else:
            at += line[0] in " -"
            if line[0] in " +":
                new += f"{line[1:]}\n"
                ends_with_break = True
    rest = "\n".join(old[at:])
    return new + rest if ends_with_break or rest else new.removesuffix("\n")


@given(_TEXTS, _TEXTS)
def test_the_difference_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    lines = list(difference("f", before, after))
    assert bool(lines) == (before != after)
    if lines and after.endswith("\n") and before.endswith("\n"):
        assert patched(before, lines) == after


def test_patch_takes_it(tmp_path: Path) -> None:
    before, after = "".join(f"{n}\n" for n in range(50)) + "end", "".join(f"{n}\n" for n in range(1, 45)) + "x\nend"
    (tmp_path / "f").write_text(before, encoding="utf-8")
    diff = "".join(f"{line}\n" for line in difference("f", before, after))
    assert diff.count("@@ -") == 2
    try:
        subprocess.run(["patch", "-s", "f"], cwd=tmp_path, input=diff, text=True, check=True)
    except FileNotFoundError:
        return
    assert (tmp_path / "f").read_text(encoding="utf-8") == after


@pytest.mark.unmeasured  # coverage makes it several times slower
def test_large_texts_are_not_compared_line_by_line() -> None:
    before = "".join("ab"[n % 2] + "\n" for n in range(200_000))
    start = time.process_time()
    lines = list(difference("f", "x\n" + before + "x\n", "y\n" + before[2:] + "y\n"))
    assert time.process_time() - start < 2
    assert len(lines) == 3 + 400_003
