"""Limits, file names, field names and command markers of the format, each with its source."""

from __future__ import annotations

MIN_NAME_LENGTH = 1
MAX_NAME_LENGTH = 64  # Agent Skills specification, field `name`: code points after NFKC
MAX_DESCRIPTION_LENGTH = 1024  # field `description`
MAX_COMPATIBILITY_LENGTH = 500  # field `compatibility`
MAX_BODY_LINES = 500  # skillscraft constants; the official text advises the same
MAX_BODY_TOKENS = 5000  # skillscraft constants
NAME_PATTERN = r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){0,62}[a-z0-9]?"  # skillscraft; a whole ASCII name
MAX_FRONT_MATTER_BYTES = 64 * 1024  # our limit: the largest one seen in practice is below 4 KiB
MAX_DOCUMENT_BYTES = 2 * 1024 * 1024  # our limit: a longer SKILL.md does not fit any model's context

FILE_NAMES = ("SKILL.md", "skill.md")  # in order of preference; no other spelling is read
MANIFEST_FILE = "skill.manifest.yaml"  # our choice: the file with skillscraft's extended manifests

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
EXTENDED_FIELDS = frozenset(
    {
        "model", "context", "agent", "hooks", "scope", "execution", "priority", "tags", "arguments", "argument-hint",
        "paths", "disable-model-invocation", "user-invocable",
    }
)  # fmt: skip
# Top-level fields that Claude Code and similar clients know in addition to the six of the specification.
CLAUDE_CODE_FIELDS = EXTENDED_FIELDS | {
    "when_to_use", "disallowed-tools", "effort", "shell", "background", "display-name", "default-enabled", "fallback",
}  # fmt: skip
KNOWN_FIELDS = frozenset(FIELDS) | CLAUDE_CODE_FIELDS
# Fields that restrict who may use a skill. They are read in any case and with any separators (fields/near_fields.py).
RESTRICTING_FIELDS = ("disable-model-invocation", "user-invocable", "hooks", "scope")

MAX_TAGS = 64  # our limit: tags are for filtering, and more would not help
MAX_TAG_LENGTH = 64

# Files that maintainers and registries add for people: whole names, and starts of names, all in lower case.
FILES_FOR_PEOPLE = frozenset({"benchmark.md", "skill-card.md", "skill.oms.sig"})  # skill.oms.sig: OpenSSF
PAPERS = ("license", "licence", "notice", "copying", "readme", "changelog", "contributing")


COMMAND_MARK = "!`"  # precedes a command in a body
COMMAND_FENCE = "```!"  # starts a block of commands


def may_hold_commands(body: str) -> bool:
    """Whether the body contains a marker of commands. A body without a marker has no commands."""
    return COMMAND_MARK in body or COMMAND_FENCE in body
