"""The numbers, names and marks of the format, each with its source."""

from __future__ import annotations

MIN_NAME_LENGTH = 1
MAX_NAME_LENGTH = 64  # Agent Skills specification, field `name`: code points after NFKC
MAX_DESCRIPTION_LENGTH = 1024  # field `description`
MAX_COMPATIBILITY_LENGTH = 500  # field `compatibility`
MAX_BODY_LINES = 500  # skillscraft constants; advice in the official text
MAX_BODY_TOKENS = 5000  # the same
NAME_PATTERN = r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){0,62}[a-z0-9]?"  # skillscraft; of a whole ASCII name
MAX_FRONT_MATTER_BYTES = 64 * 1024  # ours: the largest real one seen is below 4 KiB
MAX_DOCUMENT_BYTES = 2 * 1024 * 1024  # ours: a longer SKILL.md does not fit any model's context

FILE_NAMES = ("SKILL.md", "skill.md")  # in order of preference; no other spelling is read
MANIFEST_FILE = "skill.manifest.yaml"  # ours: the place of the extended manifests of skillscraft

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
EXTENDED_FIELDS = frozenset(
    {
        "model", "context", "agent", "hooks", "scope", "execution", "priority", "tags", "arguments", "argument-hint",
        "paths", "disable-model-invocation", "user-invocable",
    }
)  # fmt: skip
# What Claude Code and its kin know at top level beyond the six.
CLAUDE_CODE_FIELDS = EXTENDED_FIELDS | {
    "when_to_use", "disallowed-tools", "effort", "shell", "background", "display-name", "default-enabled", "fallback",
}  # fmt: skip
KNOWN_FIELDS = frozenset(FIELDS) | CLAUDE_CODE_FIELDS

MAX_TAGS = 64  # ours: tags serve filtering; more are no longer tags
MAX_TAG_LENGTH = 64

# What maintainers and registries add for people: names, and how names begin, in lower case.
FILES_FOR_PEOPLE = frozenset({"benchmark.md", "skill-card.md", "skill.oms.sig"})  # the last: OpenSSF model signing
PAPERS = ("license", "licence", "notice", "copying", "readme", "changelog", "contributing")


COMMAND_MARK = "!`"  # before a command in a body
COMMAND_FENCE = "```!"  # begins a block of commands


def may_hold_commands(body: str) -> bool:
    """Whether a body may have commands; without one of the marks it has none."""
    return COMMAND_MARK in body or COMMAND_FENCE in body
