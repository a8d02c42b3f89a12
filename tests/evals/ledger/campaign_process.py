"""`prowess eval run` in processes that can be killed at any moment.

The process that this module is run in imports everything once. For each line of JSON on its standard input, a list of
arguments and where the report goes, it forks a child that runs the command, prints the child's id, and then the child's
exit status. So a campaign begins in milliseconds, and not in seconds.
"""

from __future__ import annotations

import json
import os
import sys

import pydantic_ai.models.openai  # noqa: F401 -- before the fork, because it takes seconds

from prowess.cli.main import main as command
from prowess.evals.campaigns import running  # noqa: F401 -- as above


def _child(arguments: list[str], report: str) -> None:
    output = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    sys.argv = ["prowess", *arguments]
    status = 70
    try:
        command()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Serve orders until the input ends."""
    print("ready", flush=True)  # noqa: T201 -- the protocol with the test
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _child(order["arguments"], order["report"])
        print(child, flush=True)  # noqa: T201 -- as above
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 -- as above


if __name__ == "__main__":
    main()
