"""The entry point: answers `--version` at once, and otherwise loads the one command that was called.

Importing click takes longer than starting Python, and most commands need few modules. So the table in this module holds
the name and the help line of each command as text, and a command's module is imported when the command is called.
"""

from __future__ import annotations

import gc
import os
import sys

from prowess import __version__

COMMANDS = {
    "validate": "Check skills with the messages of the reference tool.",
    "read-properties": "Print the properties of a skill as JSON.",
    "to-prompt": "Print skills as an <available_skills> block.",
    "check": "Find every fault in skills, with position and reason.",
    "fmt": "Format the front matter of skills.",
    "new": "Create a skill from a template.",
    "rule": "Explain one rule, or list all of them.",
    "conformance": "Test another tool with the conformance cases.",
    "show": "Show one skill, or the costs or roles of a set.",
    "list": "List the skills that the catalog finds here.",
    "match": "Show the skills that fit a task.",
    "watch": "Print each skill that is added, changed or removed.",
    "index": "Build, check or remove the index of the catalog.",
    "why": "Show which copy of a skill is used, and why.",
    "load": "Print the instructions of one skill.",
    "read": "Print one file of one skill.",
    "run": "Run one script of one skill in the sandbox.",
    "install": "Install skills, or what prowess.lock names.",
    "add": "The same as install.",
    "update": "Update installed skills.",
    "outdated": "List installed skills of which there is something newer.",
    "remove": "Remove installed skills.",
    "use": "Print the instructions of a skill without installing it.",
    "rollback": "Go back to an earlier state of the installed skills.",
    "store": "Clean the store of installed skills.",
    "trust": "Trust the skills of a project.",
    "verify": "Verify the signatures of skills and files.",
    "sign": "Sign skills with a key.",
    "key": "Create signing keys, and trust those of publishers.",
    "session": "Host a session over JSON lines.",
    "serve": "Serve skills over MCP.",
    "lsp": "Run the language server for editors.",
    "test": "Run the scenarios of skills without a model.",
    "eval": "Evaluate skills, with a model or by recorded runs.",
    "agent": "Carry out a task with a model and matching skills.",
    "lock": "Check, mend or merge a lock, or convert one of another tool.",
    "pack": "Pack a skill into an archive with the same bytes everywhere.",
    "mirror": "Write everything that the lock names into one directory.",
    "registry": "Make, list, search, check or serve registries of skills.",
    "publish": "Check skills and publish them to a directory or a registry.",
    "deploy": "Sign a release of skills for every host.",
    "revoke": "Take deployed skills away from every host.",
    "sync": "Bring this host to the release of a deployment.",
    "hosts": "Show the release that each host of a deployment has.",
    "inventory": "List every copy of every skill, here or on enrolled machines.",
    "admin": "Administer the store that an organisation's machines share.",
    "policy": "Show the policy in force, test a policy file, or replay calls under it.",
    "block": "Block a skill for everybody, or list the blocks.",
    "unblock": "Lift a block.",
    "access": "Explain whether a person may use a skill.",
    "approve": "Approve a skill, for the policy that asks.",
    "approvals": "List, show, give and revoke approvals.",
    "audit": "Show or verify the audit log.",
    "report": "Report how skills are used, by the audit log.",
    "feedback": "Say that a skill was good or bad, for yourself.",
    "machine": "Enroll this machine, run its service, or show its state.",
    "sandbox": "Test what the sandbox of this machine blocks.",
    "config": "Show the settings in force, and where each was set.",
    "doctor": "Report the state of this machine and project.",
    "completion": "Print or install shell completion and the man page.",
}


def main() -> None:
    """Run `prowess` with the arguments of this process and exit with a code of `prowess.cli.exit_codes`."""
    _require_streams()
    _require_utf8()
    if sys.argv[1:] in (["--version"], ["-V"]):
        try:
            sys.stdout.write(f"prowess {__version__}\n")
            sys.stdout.flush()
        except OSError:
            pass  # the code below reports the error
        else:
            return
    # Imports create many long-lived objects, 60 000 for `load`. With the default threshold of 700, the garbage
    # collector walks them about eighty times, and a single full walk takes a fifth of the time of `load`.
    gc.set_threshold(100_000)
    from prowess.cli.dispatch import run  # Imported here because it imports click, which `--version` does not need.

    code = run(sys.argv[1:])
    gc.freeze()  # avoids collections at exit, which take a tenth of `check` and `load`
    sys.exit(code)


def _require_utf8() -> None:
    """Start again in Python's UTF-8 mode if names of files would be read in the encoding of a locale.

    Then a skill would have another digest, and files another name. The standard streams keep their encoding.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.environ.setdefault("PYTHONIOENCODING", f"{sys.stdout.encoding}:{sys.stdout.errors}")
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 -- this program itself


def _require_streams() -> None:
    """Open `/dev/null` for each closed standard stream, so that a file opened later does not get its descriptor."""
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    lost = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is `number`
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    if lost:  # standard output was closed, so no result could be printed
        sys.stderr.write("error: standard output is closed\n")
        sys.exit(1)
