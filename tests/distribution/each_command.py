"""Runs commands of Prowess in processes forked from this one, which has imported everything: a quick trace of each.

python -m tests.distribution.each_command CASES: a JSON list of argument lists. Before case N the file `/case/N` is
looked for, which marks the trace. What the cases print goes to CASES.N, and their exit codes to CASES.codes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from prowess.cli.dispatch import run
from tests.fork_server import import_everything

_ENDLESS = {("registry", "serve"), ("serve", "--http"), ("sync", "--watch"), ("machine", "run"), ("admin", "serve")}


def main() -> None:
    """Run the cases in their order."""
    import_everything()
    place = sys.argv[1]
    codes = []
    for number, words in enumerate(json.loads(Path(place).read_text("utf-8"))):
        os.access(f"/case/{number}", os.F_OK)
        child = os.fork()
        if not child:
            _run(words, f"{place}.{number}")
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    Path(f"{place}.codes").write_text(json.dumps(codes), "utf-8")


def _run(words: list[str], printed: str) -> None:
    out = os.open(printed, os.O_WRONLY | os.O_CREAT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 2)
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing if words[0] == "watch" else out, 1)  # a watch ends if nobody reads
    signal.alarm(60)
    if tuple(words[:2]) in _ENDLESS:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.5)
    code = 125
    try:
        code = run(words)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
