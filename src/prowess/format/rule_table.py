"""Every rule of the format in one table: what it is called, what it means, and how bad it is in each profile.

A rule id is for ever. The severity in the column `spec` is also the default: what a rule has where a profile switches
it off and a user selects it all the same. Where `spec` itself is silent, because the whole field is unknown to it, the
column `lenient` gives the default. `None` means that the profile does not report the rule.
"""

from __future__ import annotations

from typing import NamedTuple

from prowess.diagnostics import Severity

E, W, I, OFF = Severity.ERROR, Severity.WARNING, Severity.INFO, None  # noqa: E741 -- one letter a cell keeps the table a table


class RuleRow(NamedTuple):
    """One rule. `lenient` is an error exactly where a skill is not loaded."""

    id: str
    family: str
    spec: Severity | None
    skills_ref: Severity | None
    lenient: Severity | None
    summary: str

    @property
    def default(self) -> Severity:
        """The severity of a finding before a profile has judged it."""
        return self.spec or self.lenient or W


_ROWS = (
    #       rule                        family  spec  ref  lenient
    RuleRow("file.missing",             "spec", E,    E,   E,   "A skill is a directory that holds SKILL.md."),
    RuleRow("file.name",                "spec", W,    OFF, W,   "The file is called SKILL.md, not skill.md."),
    RuleRow("file.notRegular",          "spec", E,    E,   E,   "SKILL.md is a regular file, no link or pipe."),
    RuleRow("file.unreadable",          "spec", E,    E,   E,   "SKILL.md can be opened and read."),
    RuleRow("file.size",                "spec", E,    E,   E,   "SKILL.md is at most 2 MiB."),
    RuleRow("encoding.bom",             "spec", I,    E,   I,   "No byte-order mark stands at the start."),
    RuleRow("encoding.invalid",         "spec", E,    E,   E,   "SKILL.md is UTF-8."),
    RuleRow("encoding.nul",             "spec", E,    E,   E,   "SKILL.md holds no NUL character."),
    RuleRow("frontmatter.missing",      "spec", E,    E,   E,   "The first line is three hyphens."),
    RuleRow("frontmatter.notFirst",     "spec", E,    E,   W,   "Nothing stands before the opening fence."),
    RuleRow("frontmatter.unclosed",     "spec", E,    E,   E,   "Another line of three hyphens closes it."),
    RuleRow("frontmatter.size",         "spec", E,    E,   E,   "The frontmatter is at most 64 KiB."),
    RuleRow("frontmatter.syntax",       "spec", E,    E,   E,   "It is YAML without anchors, aliases or tags."),
    RuleRow("frontmatter.notMapping",   "spec", E,    E,   E,   "The frontmatter is a mapping of keys to values."),
    RuleRow("frontmatter.duplicateKey", "spec", E,    E,   W,   "Each field is written once."),
    RuleRow("frontmatter.unknownField", "spec", E,    E,   W,   "Only the six known fields stand in it."),
    RuleRow("name.required",            "spec", E,    E,   W,   "A skill has a name."),
    RuleRow("name.type",                "spec", E,    E,   W,   "name is a text."),
    RuleRow("name.maxLength",           "spec", E,    E,   W,   "name has at most 64 characters."),
    RuleRow("name.format",              "spec", E,    E,   W,   "name is lowercase letters, digits, hyphens."),
    RuleRow("name.matchesDirectory",    "spec", E,    E,   W,   "name equals the name of the skill's directory."),
    RuleRow("name.ascii",               "spec", I,    OFF, OFF, "name keeps to a-z, 0-9 and the hyphen."),
    RuleRow("description.required",     "spec", E,    E,   E,   "A skill has a description."),
    RuleRow("description.type",         "spec", E,    E,   W,   "description is a text."),
    RuleRow("description.maxLength",    "spec", E,    E,   W,   "description has at most 1024 characters."),
    RuleRow("license.type",             "spec", E,    OFF, W,   "license is a text."),
    RuleRow("compatibility.type",       "spec", E,    E,   W,   "compatibility is a text."),
    RuleRow("compatibility.empty",      "spec", E,    OFF, W,   "compatibility says something where it stands."),
    RuleRow("compatibility.maxLength",  "spec", E,    E,   W,   "compatibility has at most 500 characters."),
    RuleRow("metadata.type",            "spec", E,    OFF, W,   "metadata is a mapping."),
    RuleRow("metadata.keyType",         "spec", E,    OFF, W,   "Each key of metadata is a text."),
    RuleRow("metadata.valueType",       "spec", E,    OFF, W,   "Each value of metadata is a text."),
    RuleRow("metadata.duplicateKey",    "spec", E,    E,   W,   "Each key of metadata is written once."),
    RuleRow("allowed-tools.type",       "spec", E,    OFF, W,   "allowed-tools is a text."),
    RuleRow("allowed-tools.syntax",     "spec", E,    OFF, W,   "allowed-tools is a row of Name or Name(pattern)."),
    RuleRow("allowed-tools.separator",  "spec", W,    OFF, W,   "Blanks separate the tokens of allowed-tools."),
    RuleRow("model.type",               "spec", OFF, OFF, W,   "model is a text."),
    RuleRow("context.value",            "spec", OFF, OFF, W,   "context is inherit or fork."),
    RuleRow("agent.type",               "spec", OFF, OFF, W,   "agent is a text."),
    RuleRow("agent.needsFork",          "spec", OFF, OFF, W,   "agent stands beside context: fork."),
    RuleRow("hooks.type",               "spec", OFF, OFF, W,   "Each hook names a script or a command."),
    RuleRow("hooks.event",              "spec", OFF, OFF, W,   "Each key of hooks is a known event."),
    RuleRow("hooks.path",               "spec", OFF, OFF, W,   "A hook's script is a path inside the skill."),
    RuleRow("hooks.value",              "spec", OFF, OFF, W,   "Settings of a hook can be read."),
    RuleRow("scope.type",               "spec", OFF, OFF, W,   "scope lists agents, tenants, environments."),
    RuleRow("execution.type",           "spec", OFF, OFF, W,   "Settings of execution can be read."),
    RuleRow("priority.type",            "spec", OFF, OFF, W,   "priority is a whole number."),
    RuleRow("tags.type",                "spec", OFF, OFF, W,   "tags is a list of short texts."),
    RuleRow("invocation.type",          "spec", OFF, OFF, W,   "Who may invoke is said by true or false."),
    RuleRow("arguments.type",           "spec", OFF, OFF, W,   "arguments is a list of names."),
    RuleRow("argument-hint.type",       "spec", OFF, OFF, W,   "argument-hint is a text."),
    RuleRow("paths.type",               "spec", OFF, OFF, W,   "paths is a list of patterns."),
    RuleRow("reference.escape",         "spec", E,    OFF, W,   "A link to a file stays inside the skill."),
    RuleRow("reference.absolute",       "spec", E,    OFF, W,   "A link to a file is relative to the skill."),
    RuleRow("reference.missing",        "lint", W,    OFF, W,   "A linked file exists."),
    RuleRow("reference.case",           "lint", W,    OFF, W,   "A linked file is spelled as it is on disk."),
    RuleRow("hooks.missing",            "lint", W,    OFF, W,   "A hook's script exists."),
)  # fmt: skip

RULES: dict[str, RuleRow] = {row.id: row for row in _ROWS}
