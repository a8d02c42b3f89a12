"""Every rule of the format in one table: what it is called, what it means, and how bad it is in each profile.

A rule id is for ever. The severity in the column `spec` is also the default: what a rule has where a profile switches
it off and a user selects it all the same. Where `spec` itself is silent, the column `lenient` gives the default, then
the first profile that reports the rule; a rule of taste that none reports is an info. `N` means that the profile does
not report the rule.
"""

from __future__ import annotations

from typing import NamedTuple

from prowess.diagnostics import Severity

E, W, I, N = Severity.ERROR, Severity.WARNING, Severity.INFO, None  # noqa: E741 -- one letter a cell keeps the table a table


class RuleRow(NamedTuple):
    """One rule, and its severity in each of the six profiles, in the order of `PROFILES`."""

    id: str
    family: str
    spec: Severity | None
    skills_ref: Severity | None
    skillscraft: Severity | None
    boxxy: Severity | None
    claude_code: Severity | None
    lenient: Severity | None
    summary: str

    @property
    def default(self) -> Severity:
        """The severity of a finding before a profile has judged it."""
        others = (self.skills_ref, self.skillscraft, self.boxxy, self.claude_code)
        return self.spec or self.lenient or next(filter(None, others), I)

    def severity_in(self, profile: str) -> Severity | None:
        """Return the severity in the profile of this name; None where that does not report the rule."""
        severity: Severity | None = getattr(self, profile.replace("-", "_"))
        return severity


_row = RuleRow
_ROWS = (
    #                                        ┌ spec: the official text
    #                                        │  ┌ skills-ref: what the reference tool reports
    #                                        │  │  ┌ skillscraft
    #                                        │  │  │  ┌ boxxy
    #                                        │  │  │  │  ┌ claude-code
    #                                        │  │  │  │  │  ┌ lenient: an error is what keeps a skill from being loaded
    _row("file.missing",             "spec", E, E, E, E, E, E, "A skill is a directory that holds SKILL.md."),
    _row("file.name",                "spec", W, N, W, W, W, W, "The file is called SKILL.md, not skill.md."),
    _row("file.notRegular",          "spec", E, E, E, E, E, E, "SKILL.md is a regular file, no link or pipe."),
    _row("file.unreadable",          "spec", E, E, E, E, E, E, "SKILL.md can be opened and read."),
    _row("file.size",                "spec", E, E, E, E, E, E, "SKILL.md is at most 2 MiB."),
    _row("encoding.bom",             "spec", I, E, I, I, I, I, "No byte-order mark stands at the start."),
    _row("encoding.invalid",         "spec", E, E, E, E, E, E, "SKILL.md is UTF-8."),
    _row("encoding.nul",             "spec", E, E, E, E, E, E, "SKILL.md holds no NUL character."),
    _row("frontmatter.missing",      "spec", E, E, E, E, E, E, "The first line is three hyphens."),
    _row("frontmatter.notFirst",     "spec", E, E, E, E, E, W, "Nothing stands before the opening fence."),
    _row("frontmatter.unclosed",     "spec", E, E, E, E, E, E, "Another line of three hyphens closes it."),
    _row("frontmatter.size",         "spec", E, E, E, E, E, E, "The frontmatter is at most 64 KiB."),
    _row("frontmatter.syntax",       "spec", E, E, E, E, E, E, "It is YAML without anchors, aliases or tags."),
    _row("frontmatter.notMapping",   "spec", E, E, E, E, E, E, "The frontmatter is a mapping of keys to values."),
    _row("frontmatter.duplicateKey", "spec", E, E, E, E, E, W, "Each field is written once."),
    _row("frontmatter.unknownField", "spec", E, E, W, E, W, W, "Only the six known fields stand in it."),
    _row("name.required",            "spec", E, E, E, E, E, W, "A skill has a name."),
    _row("name.type",                "spec", E, E, E, E, E, W, "name is a text."),
    _row("name.maxLength",           "spec", E, E, E, E, E, W, "name has at most 64 characters."),
    _row("name.format",              "spec", E, E, E, E, E, W, "name is lowercase letters, digits, hyphens."),
    _row("name.matchesDirectory",    "spec", E, E, E, E, E, W, "name equals the name of the skill's directory."),
    _row("name.ascii",               "spec", I, N, N, N, W, N, "name keeps to a-z, 0-9 and the hyphen."),
    _row("description.required",     "spec", E, E, E, E, E, E, "A skill has a description."),
    _row("description.type",         "spec", E, E, E, E, E, W, "description is a text."),
    _row("description.maxLength",    "spec", E, E, E, E, E, W, "description has at most 1024 characters."),
    _row("license.type",             "spec", E, N, E, E, E, W, "license is a text."),
    _row("compatibility.type",       "spec", E, E, E, E, E, W, "compatibility is a text."),
    _row("compatibility.empty",      "spec", E, N, N, E, E, W, "compatibility says something where it stands."),
    _row("compatibility.maxLength",  "spec", E, E, E, E, E, W, "compatibility has at most 500 characters."),
    _row("metadata.type",            "spec", E, N, E, E, E, W, "metadata is a mapping."),
    _row("metadata.keyType",         "spec", E, N, E, E, E, W, "Each key of metadata is a text."),
    _row("metadata.valueType",       "spec", E, N, E, E, E, W, "Each value of metadata is a text."),
    _row("metadata.duplicateKey",    "spec", E, E, E, E, E, W, "Each key of metadata is written once."),
    _row("allowed-tools.type",       "spec", E, N, E, E, E, W, "allowed-tools is a text."),
    _row("allowed-tools.syntax",     "spec", E, N, E, E, E, W, "allowed-tools is a row of Name or Name(pattern)."),
    _row("allowed-tools.separator",  "spec", W, N, W, W, N, W, "Blanks separate the tokens of allowed-tools."),
    _row("model.type",               "spec", N, N, N, N, E, W, "model is a text."),
    _row("context.value",            "spec", N, N, N, N, E, W, "context is inherit or fork."),
    _row("agent.type",               "spec", N, N, N, N, E, W, "agent is a text."),
    _row("agent.needsFork",          "spec", N, N, N, N, W, W, "agent stands beside context: fork."),
    _row("hooks.type",               "spec", N, N, N, N, E, W, "Each hook names a script or a command."),
    _row("hooks.event",              "spec", N, N, N, N, W, W, "Each key of hooks is a known event."),
    _row("hooks.path",               "spec", N, N, N, N, E, W, "A hook's script is a path inside the skill."),
    _row("hooks.value",              "spec", N, N, N, N, E, W, "Settings of a hook can be read."),
    _row("scope.type",               "spec", N, N, N, N, E, W, "scope lists agents, tenants, environments."),
    _row("execution.type",           "spec", N, N, N, N, E, W, "Settings of execution can be read."),
    _row("priority.type",            "spec", N, N, N, N, E, W, "priority is a whole number."),
    _row("tags.type",                "spec", N, N, N, N, E, W, "tags is a list of short texts."),
    _row("invocation.type",          "spec", N, N, N, N, E, W, "Who may invoke is said by true or false."),
    _row("arguments.type",           "spec", N, N, N, N, E, W, "arguments is a list of names."),
    _row("argument-hint.type",       "spec", N, N, N, N, E, W, "argument-hint is a text."),
    _row("paths.type",               "spec", N, N, N, N, E, W, "paths is a list of patterns."),
    _row("manifest.file",            "spec", W, N, E, W, W, W, "skill.manifest.yaml is a regular file of UTF-8."),
    _row("manifest.syntax",          "spec", W, N, E, W, W, W, "The manifest is YAML without anchors or tags."),
    _row("manifest.notMapping",      "spec", W, N, E, W, W, W, "The manifest is a mapping."),
    _row("manifest.duplicateKey",    "spec", W, N, E, W, W, W, "Each key of the manifest is written once."),
    _row("manifest.unknownField",    "spec", W, N, W, W, W, W, "Only known fields stand in the manifest."),
    _row("security.type",            "spec", W, N, E, W, W, W, "security is a mapping of known types."),
    _row("security.capabilities.type", "spec", W, N, E, W, W, W, "security lists capabilities."),
    _row("security.capabilities.itemType", "spec", W, N, E, W, W, W, "A capability has an area:action and a reason."),
    _row("security.fileSystemScope", "spec", W, N, E, W, W, W, "fileSystemScope is one of three words."),
    _row("testing.type",             "spec", W, N, E, W, W, W, "tests is a list of scenarios."),
    _row("testing.scenarios.type",   "spec", W, N, E, W, W, W, "A scenario lists cases, a case assertions."),
    _row("testing.scenarios.itemType", "spec", W, N, E, W, W, W, "Scenarios, cases, assertions have their fields."),
    _row("testing.scenarios.name",   "spec", W, N, E, W, W, W, "Scenarios and cases have names."),
    _row("testing.scenarios.expectedOutput", "spec", W, N, E, W, W, W, "expectedBehavior is a text."),
    _row("tools.type",               "spec", W, N, E, W, W, W, "tools is a mapping."),
    _row("tools.dependencies.type",  "spec", W, N, E, W, W, W, "tools lists dependencies."),
    _row("tools.dependencies.itemType", "spec", W, N, E, W, W, W, "A tool is named, required or not, for a purpose."),
    _row("composition.type",         "spec", W, N, E, W, W, W, "composition is a mapping."),
    _row("composition.dependencies.type", "spec", W, N, E, W, W, W, "composition lists dependencies."),
    _row("composition.dependencies.itemType", "spec", W, N, E, W, W, W, "A dependency has a skillName and a reason."),
    _row("composition.conflicts.type", "spec", W, N, E, W, W, W, "conflicts is a list of names of skills."),
    _row("composition.executionOrder", "spec", W, N, E, W, W, W, "executionOrder is before, after or independent."),
    _row("composition.missing",      "catalog", E, N, E, W, E, W, "The skills that a skill depends on are there."),
    _row("composition.conflict",     "catalog", E, N, E, W, E, W, "What a skill depends on does not exclude it."),
    _row("composition.cycle",        "catalog", E, N, E, W, E, W, "No skill depends on itself, through others or not."),
    _row("body.maxLines",            "spec", W, N, N, E, W, N, "The body has at most 500 lines."),
    _row("reference.escape",         "spec", E, N, E, E, W, W, "A link to a file stays inside the skill."),
    _row("reference.absolute",       "spec", E, N, E, E, W, W, "A link to a file is relative to the skill."),
    _row("reference.missing",        "lint", W, N, W, W, W, W, "A linked file exists."),
    _row("reference.missingPath",    "lint", I, N, I, I, I, N, "A file that the text names by path exists."),
    _row("reference.deadLink",       "lint", I, N, I, I, I, N, "Links in reference files lead to files."),
    _row("reference.case",           "lint", W, N, W, W, W, W, "A linked file is spelled as it is on disk."),
    _row("reference.depth",          "lint", I, N, I, E, I, N, "References lie one level deep."),
    _row("body.tokens",              "lint", W, N, N, W, W, N, "The body has at most 5000 estimated tokens."),
    _row("directory.extraneous",     "lint", N, N, N, W, N, N, "No README, CHANGELOG or the like is in a skill."),
    _row("suppression.unused",       "lint", W, N, W, W, W, N, "A comment asking for silence silences something."),
    _row("hooks.missing",            "lint", W, N, W, W, W, W, "A hook's script exists."),
    _row("context-budget",              "lint", N, N, W, N, N, N, "The body has at most 5000 tokens and 500 lines."),
    _row("description-quality",         "lint", I, N, W, W, I, N, "The description says when to use the skill."),
    _row("no-generic-instructions",     "lint", W, N, W, W, W, N, "Instructions are specific."),
    _row("progressive-disclosure",      "lint", I, N, W, W, I, N, "A body of 200 lines or more has reference files."),
    _row("defaults-over-menus",         "lint", I, N, W, I, I, N, "Choices name a default."),
    _row("gotchas-present",             "lint", N, N, I, N, N, N, "A body of more than 50 lines has gotchas."),
    _row("reference.chain",             "lint", I, N, I, I, I, N, "SKILL.md itself names each reference file."),
    _row("reference.orphan",            "lint", I, N, I, I, I, N, "Something mentions each bundled file."),
    _row("reference.contents",          "lint", I, N, I, I, I, N, "A long reference file begins with its contents."),
    _row("reference.large",             "lint", I, N, I, I, I, N, "A reference file has at most 5000 tokens."),
    _row("scripts.prompt",              "lint", W, N, W, W, W, N, "Scripts do not ask questions."),
    _row("scripts.help",                "lint", I, N, I, I, I, N, "A script that takes arguments has --help."),
    _row("scripts.errors",              "lint", I, N, I, I, I, N, "Scripts say what failed, and exit with non-zero."),
    _row("scripts.streams",             "lint", I, N, I, I, I, N, "Errors go to standard error."),
    _row("scripts.dependencies",        "lint", W, N, W, W, W, N, "Scripts declare the packages they import."),
    _row("scripts.unpinned",            "lint", W, N, W, W, W, N, "One-off commands name a version."),
    _row("scripts.projectVersion",      "lint", I, N, I, I, I, N, "npx, bunx and go run name a version."),
    _row("portability.homePath",        "lint", W, N, W, W, W, N, "No path leads into a person's home."),
    _row("portability.backslash",       "lint", I, N, I, I, I, N, "Paths are written with slashes."),
    _row("portability.hostVariable",    "lint", I, N, I, I, N, N, "Paths are relative to the skill, for every host."),
    _row("portability.hostCommand",     "lint", I, N, I, I, N, N, "No command is left to the host to run on loading."),
    _row("portability.reservedName",    "lint", I, N, I, I, I, N, "The name holds no word that a host reserves."),
    _row("portability.angleBrackets",   "lint", I, N, I, I, I, N, "The description holds no angle brackets."),
    _row("portability.refusedKeys",     "lint", N, N, N, N, N, N, "No field stands that a known host refuses."),
    _row("portability.listing",         "lint", N, N, N, N, W, N, "description and when_to_use fit into the listing."),
    _row("portability.positional",      "lint", N, N, N, N, I, N, "Code holds no $1 that arguments would replace."),
    _row("body.empty",                  "lint", I, N, I, I, I, N, "The body says something."),
    _row("body.unclosedFence",          "lint", W, N, W, W, W, N, "Each block of code is closed."),
    _row("content.placeholder",         "lint", W, N, W, W, W, N, "No text is left to be written."),
    _row("description.purpose",         "lint", I, N, I, W, I, N, "The description says what the skill does."),
    _row("description.keywords",        "lint", I, N, W, W, I, N, "The description has words beyond the name."),
    _row("description.budget",          "lint", N, N, N, I, N, N, "Name and description have about 100 tokens."),
    _row("license.long",                "lint", I, N, I, I, I, N, "license is a name or points to a file."),
    _row("license.missing",             "lint", W, N, W, W, W, N, "The file that license names is there."),
    _row("compatibility.vague",         "lint", I, N, I, I, I, N, "compatibility names a requirement."),
    _row("metadata.version",            "lint", N, N, N, I, N, N, "A skill has a version."),
    _row("metadata.prefix",             "lint", N, N, N, N, N, N, "Keys of metadata are distinctive."),
    _row("body.whenToUse",              "lint", N, N, N, I, N, N, "A long body says when to use the skill."),
    _row("body.examples",               "lint", N, N, N, I, N, N, "A long body has an example."),
    _row("body.edgeCases",              "lint", N, N, N, I, N, N, "A long body treats edge cases."),
    _row("body.structure",              "lint", N, N, N, I, N, N, "A long body has headings, lists or code."),
    _row("body.steps",                  "lint", N, N, N, I, N, N, "A procedure is a list of steps."),
    _row("body.boilerplate",            "lint", I, N, I, I, I, N, "The body has no licence text or changelog."),
    _row("reference.when",              "lint", N, N, N, N, N, N, "A link says when to read the file."),
    _row("name.generic",                "lint", N, N, N, N, N, N, "The name says what the skill does."),
    _row("body.commands",               "lint", N, N, N, N, N, N, "Long rows of commands are scripts."),
    _row("body.templates",              "lint", N, N, N, N, N, N, "Long templates are assets."),
    _row("body.validationLoop",         "lint", N, N, N, N, N, N, "A risky procedure checks its result."),
    _row("body.scope",                  "lint", N, N, N, N, N, N, "A skill is for one task."),
    _row("directory.placement",         "lint", N, N, N, I, N, N, "Files lie where agents look for them."),
    _row("directory.link",              "lint", W, N, W, W, W, N, "No file is a symbolic link."),
    _row("scripts.guard",               "lint", N, N, N, N, N, N, "Scripts that delete have a --dry-run."),
    _row("testing.evals",               "lint", W, N, W, W, W, N, "evals/evals.json has the shape of the guide."),
    _row("security.invisible",       "security", W, N, W, W, W, N, "No invisible characters hide in the texts."),
    _row("security.hiddenInstructions", "security", W, N, W, W, W, N,
         "No comment gives orders that people do not see."),
    _row("security.secret",          "security", W, N, W, W, W, N, "No key or token is published with the skill."),
    _row("catalog.budget",           "catalog", I, N, I, I, I, N, "The listing of a set of skills is not cut."),
)  # fmt: skip

RULES: dict[str, RuleRow] = {row.id: row for row in _ROWS}
