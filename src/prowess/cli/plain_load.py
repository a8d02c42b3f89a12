"""`prowess load NAME` where nothing has a say in it: the same text and the same records without building a session.

A session, its event loop and the reader of YAML take ten times as long to import as one plain skill takes to read. They
are needed where something decides, asks or runs. So this module looks first whether anything could: an option beyond
`--root` and `--quiet`, a policy file, a notice about trust, a home that takes no log, a skill with a field beyond the
six of the specification (hooks, forks, who may start it), a body with a command. Wherever one of them is there, or
anything is not certain, `plain_load` returns None before it has written or printed anything, and the session does it
all. A test holds both ways against each other: output, exit code and log.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress

from prowess._internal.canonical_json import canonical_json, sha256_of
from prowess._internal.command_mark import COMMAND_MARK
from prowess._internal.open_flags import READ
from prowess._internal.tree_digest import read_tree
from prowess._internal.uuid7 import uuid7
from prowess.catalog.catalog import Catalog
from prowess.cli import exit_codes, output
from prowess.cli.audit_place import audit_log, home_and_fault
from prowess.cli.signals import SignalledError, ended_in_order
from prowess.errors import AuditError, SkillError
from prowess.format.limits import MAX_DOCUMENT_BYTES
from prowess.format.plain_front_matter import plain_text
from prowess.policy.audit_event import AuditEvent
from prowess.policy.policy_places import policy_places

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.policy.audit_log import JsonlAuditLog

_FILE = "SKILL.md"
_TOOL = "skills.invoke"  # a person asks, as in `one_activation`
_COMPLETION = "_PROWESS_COMPLETE"  # set where a shell asks for completions instead
_PLACEHOLDERS = ("${SKILL_DIR}", "${SESSION_ID}")  # the others stand for something only where there are arguments


class _Plain:
    """A skill that was read: its text and what names it."""

    __slots__ = ("body", "digest", "name", "root")

    def __init__(self, name: str, body: str, digest: str, root: str) -> None:
        self.name, self.body, self.digest, self.root = name, body, digest, root

    def rendered(self, session_id: str) -> str:
        """Return the body with its placeholders replaced, as `prowess.runtime.rendering` does without arguments."""
        if not any(placeholder in self.body for placeholder in _PLACEHOLDERS):
            return self.body
        # Imported here, not at the top: most bodies have none.
        from prowess.runtime.substitution import Values, substituted

        return substituted(self.body, Values(skill_dir=self.root, session_id=session_id))


def plain_load(arguments: Sequence[str]) -> int | None:
    """Carry out `load` with these arguments, those behind the command; None where the session has to do it."""
    asked = _asked(arguments)
    if asked is None or _COMPLETION in os.environ or any(os.path.lexists(place) for place in policy_places()):
        return None
    name, roots = asked
    try:
        skill = _read(name, roots)
    except (OSError, SkillError):
        return None  # the session finds the same, and says it
    if skill is None:
        return None
    home, fault = home_and_fault()
    log = None if fault else audit_log(home)
    return None if log is None else _recorded(skill, log)


def _asked(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    names: list[str] = []
    roots: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--root":
            roots.append(next(rest, "-"))
        elif word.startswith("--root="):
            roots.append(word.removeprefix("--root="))
        elif word not in {"-q", "--quiet"}:
            names.append(word)
    if len(names) != 1 or not _is_name(names[0]):
        return None
    if any(root[:1] in {"", "-"} or not os.path.isdir(root) or not os.access(root, os.R_OK) for root in roots):
        return None
    return names[0], roots


def _is_name(word: str) -> bool:
    return word.isascii() and word[:1].isalnum() and word.replace("-", "").isalnum()


def _read(name: str, roots: Sequence[str]) -> _Plain | None:
    catalog = Catalog(*roots) if roots else Catalog.discover()
    entry = catalog.get(name)
    if catalog.notices or entry.name != name or entry.origin is not None:
        return None
    location, root = entry.location, entry.root_dir
    if os.path.basename(location) != _FILE or not all(map(_says_nothing, os.listdir(root))):
        return None
    data = _bytes_of(location)
    body = None if data is None else plain_text(data, os.path.basename(root))
    if data is None or body is None or COMMAND_MARK in body:
        return None
    manifest = read_tree(root)
    own = manifest.find(_FILE)
    # The text that is printed is the file that was hashed; and what has no digest has a notice.
    if manifest.obstacles or own is None or own.sha256 != hashlib.sha256(data).hexdigest():
        return None
    return _Plain(name, body, manifest.content_digest, root)


def _says_nothing(name: str) -> bool:
    """Whether an entry at the top of a skill is a directory or a text for readers, and no further manifest."""
    return "." not in name or name.endswith((".md", ".txt"))


def _bytes_of(path: str) -> bytes | None:
    with open(os.open(path, READ), "rb") as file:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    return data if len(data) <= MAX_DOCUMENT_BYTES else None


def _recorded(skill: _Plain, log: JsonlAuditLog) -> int | None:
    """Leave the records of an activation around it; nothing is printed that is not recorded."""
    session_id, call_id, begun = uuid7(), uuid7(), time.monotonic_ns()

    def record(kind: str, data: dict[str, object]) -> None:
        log.append(AuditEvent(kind=kind, session_id=session_id, call_id=call_id, data=data))

    def finished(outcome: str, code: str | None = None) -> None:
        ended: dict[str, object] = {"outcome": outcome} if code is None else {"outcome": outcome, "code": code}
        duration = (time.monotonic_ns() - begun) // 1_000_000
        record("tool.finished", {"tool": _TOOL, **ended, "duration_ms": duration})

    started = False
    try:
        with ended_in_order():
            try:
                record("tool.started", _started(skill.name))
                started = True
                digests: dict[str, object] = {"digest": skill.digest, "content_digest": skill.digest}
                record("skill.loaded", {"skill": skill.name, **digests})
                finished("success")
            except (KeyboardInterrupt, SignalledError):
                if started:
                    with suppress(AuditError):  # nobody is left to be told
                        finished("cancelled", "cancelled")
                raise
            except AuditError as fault:
                if not started:
                    return None  # nothing is written: the session tries, and says what it means
                with suppress(AuditError):  # the log that failed may fail again
                    finished("failure", fault.code)
                output.error(f"{fault}; what was done is not recorded in full, so nothing is shown")
                return exit_codes.UNAVAILABLE
    except KeyboardInterrupt:
        output.note("interrupted")
        return exit_codes.INTERRUPTED
    except SignalledError as ended:
        output.note(f"ended by {ended.name}")
        return exit_codes.SIGNALLED + ended.number
    return _print(skill.rendered(session_id))


def _started(name: str) -> dict[str, object]:
    """Return what is recorded of the call: names and sizes of its arguments and their digest, and who allowed it."""
    arguments: dict[str, object] = {"skill": name, "args": None, "raw": False}
    canonical = canonical_json(arguments)
    return {
        "tool": _TOOL,
        "arguments_sha256": sha256_of(canonical),
        "arguments_bytes": len(canonical),
        "arguments": {key: len(canonical_json(arguments[key])) for key in sorted(arguments)},
        "allowed_by": "built-in",
    }


def _print(body: str) -> int:
    try:
        if sys.stdout.isatty():
            output.line(body)
        else:
            output.raw(body)
    except OSError as fault:
        output.error(f"{fault.filename}: {fault.strerror}")
        return exit_codes.FAILED
    return exit_codes.OK
