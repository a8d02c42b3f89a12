"""The entry point: answer `--version` at once, else load the one command that was asked for.

Importing click costs more than starting Python, and most commands need only their own room, so the table below holds
each command's module and help line as text and nothing is imported before it is needed.
"""

from __future__ import annotations

import gc
import os
import sys

from prowess import __version__

COMMANDS = {
    "validate": "Check one skill, or many, with the reference tool's words.",
    "read-properties": "Print the properties of a skill as JSON.",
    "to-prompt": "Print skills as an <available_skills> block.",
    "check": "Find every fault in skills, with position and reason.",
    "fmt": "Lay out the frontmatter of skills evenly.",
    "new": "Begin a skill from a template.",
    "rule": "Explain one rule, or list all of them.",
    "conformance": "Judge another tool by the cases of the format.",
    "show": "Show one skill for reading, or the roles of a set.",
    "list": "List the skills that the catalog finds here.",
    "why": "Say which copy of a skill wins, and why.",
    "load": "Print the instructions of one skill.",
    "read": "Print one file of one skill.",
    "run": "Run one script of one skill in the sandbox.",
    "trust": "Trust the skills of a project.",
    "session": "Host a session over JSON lines.",
    "serve": "Serve skills over MCP.",
    "lsp": "Serve an editor: findings, fixes, names.",
    "agent": "Carry out a task with a model and the skills that fit.",
    "policy": "Show the policy in force, or test a policy file.",
    "audit": "Show or verify the audit log.",
    "sandbox": "Check what the sandbox of this machine can do.",
    "config": "Show the settings that hold here, and where each was set.",
    "doctor": "Report the state of this machine and project.",
    "completion": "Complete command lines in a shell; the man page.",
}


def main() -> None:
    """Run `prowess` with the arguments of this process and exit with a code of `prowess.cli.exit_codes`."""
    _require_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        try:
            sys.stdout.write(f"prowess {__version__}\n")
            sys.stdout.flush()
        except OSError:
            pass  # below, where every refusal is told
        else:
            return
    # Importing makes objects that stay, 60 000 of them for `load`. At the default of 700 the collector walks them some
    # eighty times, and a single walk over all of them is a fifth of the time of `load`.
    gc.set_threshold(100_000)
    # Imported here, not at the top: it brings click, which `--version` must not pay for.
    from prowess.cli.dispatch import run

    code = run(sys.argv[1:])
    gc.freeze()  # Python collects several times as it ends, for objects that end with it: a tenth of `check` and `load`
    sys.exit(code)


def _require_streams() -> None:
    """Fill in the standard streams that the caller has closed.

    A file that is opened later must never get the number of a standard stream, and with it what is printed there.
    """
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    lost = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    if lost:  # whatever is asked for could not be told
        sys.stderr.write("error: standard output is closed\n")
        sys.exit(1)
