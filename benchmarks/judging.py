"""`read_transcript_text` and `verdict_of` over the captured transcripts beside `json.loads` over their lines."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpora import Corpus

_CAPTURED = Path(__file__).resolve().parents[1] / "tests" / "evals" / "transcripts" / "captured"
_PASSES = 5  # over all transcripts, for one round


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure in this process, in turns; the corpora are not used."""
    del corpora
    lines = (_CAPTURED / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if (_CAPTURED / case["transcript"]).is_file()]
    files = [(case["skill"], case["query"], (_CAPTURED / case["transcript"]).read_bytes()) for case in cases]

    def load() -> None:
        for _, _, data in files:
            for line in data.splitlines():
                json.loads(line)

    def judge() -> None:
        for skill, query, data in files:
            verdict_of(read_transcript_text(data), skill=skill, query=query)

    times = [(_spent(judge), _spent(load)) for _ in range(max(3, rounds))]
    judging, loading = min(spent for spent, _ in times), min(spent for _, spent in times)
    size = sum(len(data) for _, _, data in files)
    return [
        Figure(
            name="reading and judging a transcript, against `json.loads` over its lines",
            value=judging / loading,
            at_most=2,
            note=f"processor time, one process: {len(files)} captured transcripts of four hosts, {size / 1e6:.1f} MB; "
            f"{judging / _PASSES * 1000:.0f} ms beside {loading / _PASSES * 1000:.0f} ms",
        )
    ]


def _spent(work: Callable[[], None]) -> float:
    started = time.process_time()
    for _ in range(_PASSES):
        work()
    return time.process_time() - started
