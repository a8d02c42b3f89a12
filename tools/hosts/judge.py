"""Judges captured transcripts, and compares with the verdicts that stand beside their scripts: `judge.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from prowess.evals.transcripts.reading import read_transcript
from prowess.evals.verdicts.judging import verdict_of
from tools.hosts.capture import Captured


def main() -> int:
    """Print each difference. Return 1 if there is one."""
    folder, wrong, lines = Path(sys.argv[1]), 0, 0
    for line in (folder / "cases.jsonl").read_bytes().splitlines():
        case = msgspec.json.decode(line, type=Captured)
        run = read_transcript(folder / case.transcript)
        found = verdict_of(run, skill=case.skill, query=case.query).verdict
        lines += 1
        if (run.host, run.form, found) != (case.host, case.form, case.verdict):
            wrong += 1
            print(f"{case.transcript}: {case.host} {case.form} {case.verdict}, read as {run.host} {run.form} {found}")
    print(f"{lines} transcripts judged, {wrong} verdicts differ from the scripts")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
