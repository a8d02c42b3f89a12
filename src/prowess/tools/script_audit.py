"""Facts about the run of a script for audit records: its command line and its output, without secrets.

The policy decides whether a text is kept or only its digest (`audit.command`, `audit.output`). The digest is always
recorded. Platform requirements 003, script execution security.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess._internal.text.secret_patterns import redacted, redacted_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from prowess.execution import ExecResult
    from prowess.policy.policy import Policy

RUN_TOOL = "skills.run_script"
_MOST_BYTES, _MOST_CHARACTERS = 1_200_000, 200_000  # of one stream in a record; a character takes at most 6 bytes


def command_of(arguments: Mapping[str, object]) -> list[str]:
    """Return the command line of a call of `skills.run_script`: the path of the script, then its arguments."""
    words = arguments.get("args", ())
    return [str(arguments.get("path")), *(map(str, words) if isinstance(words, list | tuple) else ())]


def command_facts(command: Sequence[str], *, kept: bool, known: Iterable[str] = ()) -> dict[str, object]:
    """Return `command_sha256`, over the canonical JSON of the words, and `command` if it is kept."""
    digest = {"command_sha256": sha256_of(canonical_json(list(command)))}
    return {"command": redacted_words(command, known), **digest} if kept else dict(digest)


def run_facts(policy: Policy, command: Sequence[str], done: ExecResult, known: Iterable[str] = ()) -> dict[str, object]:
    """Return the facts about a run that has ended. `known` are values that count as secrets. May take long: blocks.

    Each stream has its digest and its size, and its text if the policy keeps it. A text that would take more than
    1.2 MB is cut.
    """
    values = tuple(known)
    facts: dict[str, object] = {
        **command_facts(command, kept=policy.audit_command == "kept", known=values),
        "exit_code": done.exit_code,
        "duration_ms": done.duration_ms,
        "timed_out": done.timed_out,
    }
    for name, raw, size in (("stdout", done.stdout, done.stdout_bytes), ("stderr", done.stderr, done.stderr_bytes)):
        facts |= {f"{name}_sha256": sha256_of(raw), f"{name}_bytes": size}
        if policy.audit_output == "kept":
            facts[name] = _bounded(redacted(raw.decode("utf-8", "replace")[:_MOST_BYTES], values))
    return facts


def _bounded(text: str) -> str:
    return text if len(canonical_json(text)) <= _MOST_BYTES else text[:_MOST_CHARACTERS]
