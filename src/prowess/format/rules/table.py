"""All rules about the format of a skill: severity in each profile, summary, documentation page, fix.

Rule ids never change. `N` means that the profile does not report the rule. The four texts of a row are its page: what
the rule checks, why it matters, an example that breaks it, and the correct form. Lint rules are declared in
`prowess.lint.rules`, one per file. Rules on `skill.manifest.yaml` that compare several skills are applied by the
catalog.
"""

from __future__ import annotations

from functools import partial

from prowess.format.rules.meta import E, I, N, RuleMeta, W
from prowess.format.rules.meta import rule_row as _rule

_manifest = partial(_rule, source="skillscraft specification reference, extended specification")
_PLATFORM = "agent skills platform, YAML frontmatter fields"

_OF_FIELDS = (
    #                      ┌ spec: the official text
    #                      │  ┌ skills-ref: what the reference tool reports
    #                      │  │  ┌ skillscraft
    #                      │  │  │  ┌ boxxy
    #                      │  │  │  │  ┌ claude-code
    #                      │  │  │  │  │  ┌ lenient: an error means that the skill is not loaded
    _rule("file.missing", (E, E, E, E, E, E), "A skill is a directory that contains SKILL.md.", (
        "Looks for a file SKILL.md in the directory.",
        "Without it the directory is not a skill, and no agent offers it.",
        "`pdf/README.md` alone", "Add `pdf/SKILL.md` with a name and a description.")),
    _rule("file.name", (W, N, W, W, W, W), "The file is called SKILL.md, not skill.md.", (
        "Compares the name of the file on disk with SKILL.md, letter for letter.",
        "`skill.md` is found on macOS and Windows, and not on Linux.",
        "`pdf/skill.md`", "`pdf/SKILL.md`")),
    _rule("file.notRegular", (E, E, E, E, E, E), "SKILL.md is a regular file, not a link or pipe.", (
        "Checks that SKILL.md is a regular file with one hard link.",
        "A link can lead to any file of the machine, and a pipe blocks its reader.",
        "SKILL.md as a symbolic or a second hard link", "Put the file itself into the directory.")),
    _rule("file.unreadable", (E, E, E, E, E, E), "SKILL.md can be opened and read.", (
        "Opens the file.",
        "A skill that its user cannot read is not offered.",
        "A SKILL.md with the mode 000", "`chmod 644 SKILL.md`")),
    _rule("file.size", (E, E, E, E, E, E), "SKILL.md is at most 2 MiB.", (
        "Reads at most 2 MiB.",
        "A longer file does not fit into any model's context; it is a mistake or an attack.",
        "A log that was appended to SKILL.md", "Move it into a file of its own.")),
    _rule("encoding.bom", (I, E, I, I, I, I), "The file does not start with a byte-order mark.", (
        "Looks for a byte-order mark at the start.",
        "Some readers do not see the first fence after it, and drop the skill.",
        "A file saved as UTF-8 with BOM", "Save it as UTF-8."),
        fixes="removes it"),
    _rule("encoding.invalid", (E, E, E, E, E, E), "SKILL.md is UTF-8.", (
        "Decodes the file as UTF-8.",
        "Every other encoding depends on the machine, and some text would be wrong.",
        "A file saved as Latin-1", "Save it as UTF-8.")),
    _rule("encoding.nul", (E, E, E, E, E, E), "SKILL.md contains no NUL character.", (
        "Looks for NUL characters.",
        "Many programs end a text at a NUL character, and do not see the rest.",
        "`description: Reads PDF\\0 files`", "Remove the character.")),
    _rule("frontmatter.missing", (E, E, E, E, E, E), "The first line is three hyphens.", (
        "Looks for a line of three hyphens at the start.",
        "Name and description are between two such lines; without them the purpose of the skill is unknown.",
        "`# PDF`", "Begin with `---`, `name: pdf`, `description: ...`, `---`.")),
    _rule("frontmatter.notFirst", (E, E, E, E, E, W), "The opening fence is the first line.", (
        "Looks for blank lines or comments before the opening fence.",
        "Most readers want the fence in the first line and drop the skill.",
        "A licence comment above `---`", "Put `---` into the first line and the comment below the closing fence."),
        fixes="removes the blank lines before it"),
    _rule("frontmatter.unclosed", (E, E, E, E, E, E), "A line of three hyphens closes the frontmatter.", (
        "Looks for a second line of three hyphens at the start of a line.",
        "Without it the whole file counts as fields.",
        "`---`, `name: pdf`, and then the text", "Close the fields with `---`.")),
    _rule("frontmatter.fence", (W, N, W, W, W, W), "Every reader finds the same fences.", (
        ("Looks for spaces after the hyphens of a fence, and for characters before the closing fence that only some "
        "readers treat as the end of a line: a lone carriage return, a vertical tab, U+2028 and others."),
        ("Another reader may find the fences in other places, and then reads other fields and another text than those "
        "that were reviewed."),
        "`--- ` with a space at the end", "Write `---` and end lines with LF or CRLF."),
        fixes="removes spaces after a fence"),
    _rule("frontmatter.size", (E, E, E, E, E, E), "The frontmatter is at most 64 KiB.", (
        "Counts the bytes between the fences, at most 64 KiB.",
        "Agents read the fields of every skill when they start.",
        "A changelog under metadata", "Move it into a file of its own.")),
    _rule("frontmatter.syntax", (E, E, E, E, E, E), "The frontmatter is YAML without anchors or tags.", (
        ("Reads the fields as YAML without anchors, aliases, tags, merge keys and second documents, at most 20 "
        "levels deep."),
        ("Many agents silently drop a skill with invalid YAML. Different readers disagree about anchors, aliases and "
        "tags, and aliases can expand to huge values."),
        "`description: Checks invoices. Triggers: VAT`", '`description: "Checks invoices. Triggers: VAT"`'),
        fixes="quotes the value that YAML refuses"),
    _rule("frontmatter.notMapping", (E, E, E, E, E, E), "The frontmatter is a mapping of keys to values.", (
        "Checks that the fields are keys with values.",
        "A list or a single text has no name and no description.",
        "`- name: pdf`", "`name: pdf`")),
    _rule("frontmatter.duplicateKey", (E, E, E, E, E, W), "Each field is written once.", (
        "Looks for a field that is written twice.",
        "One reader takes the first, another the last.",
        "Two lines that begin with `description:`", "Keep one of them."),
        fixes="removes the second one; without --unsafe-fixes only if both are equal"),
    _rule("frontmatter.unknownField", (E, E, W, E, W, W), "The frontmatter has only the six known fields.", (
        "Compares each key with those that the profile knows.",
        "Some hosts refuse a skill for one key too many. `metadata` is the place for everything else.",
        "`version: 1.0.0`, `licence: MIT`",
        ('`metadata:` and below it `version: "1.0.0"`. A field of a host, such as `argument-hint`, has no effect '
        "there: check a skill for that host with its profile.")),
        fixes="corrects the spelling, or moves the field under metadata"),
    _rule("name.required", (E, E, E, E, E, W), "A skill has a name.", (
        "Looks for the field `name`.",
        "The name is how a skill is called and activated.",
        "Only a description", "`name: pdf-tables`"),
        fixes="names it after its directory"),
    _rule("name.type", (E, E, E, E, E, W), "name is a text.", (
        "Checks that name is a text.",
        "A list or a mapping cannot be used as a name.",
        "`name: [pdf]`", "`name: pdf`")),
    _rule("name.maxLength", (E, E, E, E, E, W), "name has at most 64 characters.", (
        "Counts the characters of the name after normalising, at most 64.",
        "Longer names are refused.",
        "A name that is a sentence", "`name: pdf-tables`")),
    _rule("name.format", (E, E, E, E, E, W), "name is lowercase letters, digits, hyphens.", (
        "Looks for characters other than lowercase letters, digits and single hyphens inside the name.",
        "The name becomes part of paths, commands and addresses.",
        "`name: PDF_Tables`", "`name: pdf-tables`"),
        fixes="writes the nearest valid name"),
    _rule("name.matchesDirectory", (E, E, E, E, E, W), "name equals the name of the skill's directory.", (
        "Compares the name with that of the directory.",
        "If they differ, some hosts use one and some the other, and a call by name may fail.",
        "`name: pdf` in `pdf-tools/SKILL.md`", "Rename the directory, or the skill."),
        fixes="renames the skill, with --unsafe-fixes"),
    _rule("name.ascii", (I, N, N, N, W, N), "name uses only a-z, 0-9 and the hyphen.", (
        "Looks for letters beyond a to z.",
        "The official text allows them, but several hosts do not.",
        "`name: größe`", "`name: groesse`")),
    _rule("description.required", (E, E, E, E, E, E), "A skill has a description.", (
        "Looks for a description that is not empty.",
        "It is all that a model sees before it activates a skill.",
        "`description:`", "`description: Extracts tables from PDF files. Use when ...`")),
    _rule("description.type", (E, E, E, E, E, W), "description is a text.", (
        "Checks that description is a text.",
        "A list is printed by some hosts as YAML and by others not at all.",
        "`description: [tables, PDF]`", "`description: Tables from PDF.`")),
    _rule("description.maxLength", (E, E, E, E, E, W), "description has at most 1024 characters.", (
        "Counts the characters, at most 1024.",
        "Longer ones are cut, or the skill is refused.",
        "The whole manual as a description",
        "What the skill does and when to use it; move the rest into the body.")),
    _rule("license.type", (E, N, E, E, E, W), "license is a text.", (
        "Checks that license is a text.",
        "Tools that collect licences expect one line.",
        "`license: {name: MIT}`", "`license: MIT`")),
    _rule("compatibility.type", (E, E, E, E, E, W), "compatibility is a text.", (
        "Checks that compatibility is a text.",
        "It is shown to people and models as it is.",
        "`compatibility: [python]`", "`compatibility: Requires Python 3.11`")),
    _rule("compatibility.empty", (E, N, N, E, E, W), "compatibility, if present, is not empty.", (
        "Looks for the key without a value.",
        "An empty field promises a requirement but does not name one.",
        "`compatibility:`", "Remove the line, or name the requirements.")),
    _rule("compatibility.maxLength", (E, E, E, E, E, W), "compatibility has at most 500 characters.", (
        "Counts the characters, at most 500.",
        "Longer ones are refused.",
        "An installation guide", "`compatibility: Requires git and jq`; move the guide into the body.")),
    _rule("metadata.type", (E, N, E, E, E, W), "metadata is a mapping.", (
        "Checks that metadata is a mapping.",
        "A text or a list has no keys to look up.",
        "`metadata: v1`", '`metadata:` and below it `version: "1"`')),
    _rule("metadata.keyType", (E, N, E, E, E, W), "Each key of metadata is a text.", (
        "Checks that each key is a text.",
        "Most programs cannot look up a list as a key.",
        "`? [a, b]`", "`a-b: ...`")),
    _rule("metadata.valueType", (E, N, E, E, E, W), "Each value of metadata is a text.", (
        ("Checks that each value is a text; in the profile `skillscraft`, that every YAML reader reads it as "
        "text."),
        ("`1.0` is a number to one reader and a text to the next, and strict hosts refuse the whole skill for a nested "
        "value. In the profile `claude-code` a list is a warning, because that host accepts it."),
        "`tags: [a, b]`", '`tags: "a, b"`'),
        fixes="quotes it"),
    _rule("metadata.duplicateKey", (E, E, E, E, E, W), "Each key of metadata is written once.", (
        "Looks for a key of metadata that is written twice.",
        "One reader takes the first, another the last.",
        "Two lines `version:`", "Keep one."),
        fixes="removes the second one; without --unsafe-fixes only if both are equal"),
    _rule("allowed-tools.type", (E, N, E, E, E, W), "allowed-tools is a text.", (
        "Checks that allowed-tools is a text, or a list if the profile permits one.",
        "Some hosts ignore other forms, and the skill is then not restricted.",
        "`allowed-tools: [Read, Bash]`", "`allowed-tools: Read Bash`"),
        fixes="writes the tokens as a text"),
    _rule("allowed-tools.syntax", (E, N, E, E, E, W), "allowed-tools is a list of Name or Name(pattern).", (
        "Reads the value as a sequence of `Name` or `Name(pattern)`.",
        "A pattern that is misread permits too much or nothing.",
        "`Bash(git add`", "`Bash(git add *)`")),
    _rule("allowed-tools.separator", (W, N, W, W, N, W), "Spaces separate the tokens of allowed-tools.", (
        "Looks for commas between the tokens.",
        "The specification separates tokens by spaces; some hosts do not accept commas.",
        "`Read, Grep`", "`Read Grep`"),
        fixes="writes spaces"),
    _rule("disallowed-tools.syntax", (N, N, N, N, E, W), "disallowed-tools has Name or Name(pattern).", (
        "Reads the value, a text or a list of texts, as a sequence of `Name` or `Name(pattern)`.",
        "While a skill with an unreadable value is active, a session refuses every tool.",
        "`Bash(git push`", "`Bash(git push *)`"), source="Claude Code documentation, skills"),
    _rule("model.type", (N, N, N, N, E, W), "model is a text.", (
        "Checks that model is a text.",
        "Any other value cannot be the name of a model.",
        "`model: [a]`", "`model: inherit`"),
        source=_PLATFORM),
    _rule("context.value", (N, N, N, N, E, W), "context is inherit or fork.", (
        "Compares context with the two known words.",
        "Hosts ignore an unknown word; a session treats it as fork.",
        "`context: forked`", "`context: fork`"),
        source=_PLATFORM),
    _rule("agent.type", (N, N, N, N, E, W), "agent is a text.", (
        "Checks that agent is a text.",
        "Any other value cannot be the name of an agent.",
        "`agent: {a: b}`", "`agent: Explore`"),
        source=_PLATFORM),
    _rule("agent.needsFork", (N, N, N, N, W, W), "agent is used with context: fork.", (
        "Looks for `agent` without `context: fork`.",
        "An agent has its own context; without `context: fork` the field has no effect.",
        "`agent: Explore`", "Add `context: fork`."),
        source=_PLATFORM),
    _rule("hooks.type", (N, N, N, N, E, W), "Each hook names a script or a command.", (
        "Checks that each hook names a script or a command.",
        "A hook that cannot be read never runs.",
        "`hooks: {pre: 3}`", "`hooks: {pre: scripts/check.sh}`"),
        source=_PLATFORM),
    _rule("hooks.event", (N, N, N, N, W, W), "Each key of hooks is a known event.", (
        "Compares each key of hooks with the known events.",
        "A hook on an event that never happens never runs.",
        "`hooks: {PreTool: ...}`", "`hooks: {PreToolUse: ...}`"),
        source=_PLATFORM),
    _rule("hooks.path", (N, N, N, N, E, W), "A hook's script is a path inside the skill.", (
        "Checks that the script of a hook is inside the skill.",
        "A hook runs automatically, so its script must come with the skill.",
        "`script: ../../run.sh`", "`script: scripts/run.sh`"),
        source=_PLATFORM),
    _rule("hooks.value", (N, N, N, N, E, W), "Settings of a hook can be read.", (
        "Reads the settings of each hook.",
        "A setting that is misread changes when the hook runs.",
        "`timeout: soon`", "`timeout: 10`"),
        source=_PLATFORM),
    _rule("scope.type", (N, N, N, N, E, W), "scope lists agents, tenants, environments.", (
        "Reads for whom a skill is visible.",
        "A scope that cannot be read hides the skill from everyone.",
        "`scope: everyone`", "`scope: {agents: [reviewer]}`"),
        source=_PLATFORM),
    _rule("execution.type", (N, N, N, N, E, W), "Settings of execution can be read.", (
        "Reads the settings that a skill requests for its runs.",
        "A request that cannot be read is not granted.",
        "`execution: fast`", "`execution: {timeout-per-iteration: 30}`"),
        source=_PLATFORM),
    _rule("priority.type", (N, N, N, N, E, W), "priority is a whole number.", (
        "Looks for a whole number.",
        "Skills are ordered by it.",
        "`priority: high`", "`priority: 10`"),
        source=_PLATFORM),
    _rule("tags.type", (N, N, N, N, E, W), "tags is a list of short texts.", (
        "Looks for a list of short texts.",
        "Skills are filtered by them.",
        "`tags: {a: b}`", "`tags: [pdf, tables]`"),
        source=_PLATFORM),
    _rule("invocation.type", (N, N, N, N, E, W), "The switches on invocation are true or false.", (
        "Checks that the switches on invocation are true or false; yes, on, 1, no, off and 0 are accepted too.",
        "A switch that is misread opens a skill that was meant to be closed.",
        "`disable-model-invocation: maybe`", "`disable-model-invocation: true`"),
        source=_PLATFORM),
    _rule("arguments.type", (N, N, N, N, E, W), "arguments is a list of names.", (
        "Looks for a list of names.",
        "Placeholders in the body refer to arguments by these names.",
        "`arguments: {a: 1}`", "`arguments: [file]`"),
        source=_PLATFORM),
    _rule("argument-hint.type", (N, N, N, N, W, W), "argument-hint is a text.", (
        "Checks that it is a text.",
        "It is shown to the user as it is.",
        "`argument-hint: {a: b}`", '`argument-hint: "[file]"`'),
        source=_PLATFORM),
    _rule("paths.type", (N, N, N, N, E, W), "paths is a list of patterns.", (
        "Looks for a list of patterns.",
        "The skill is offered for files that match.",
        "`paths: {a: b}`", '`paths: ["*.pdf"]`'),
        source=_PLATFORM),
)  # fmt: skip
_OF_MANIFEST = (
    _manifest("manifest.file", (W, N, E, W, W, W), "skill.manifest.yaml is a regular file of UTF-8.", (
        "Checks that skill.manifest.yaml is a regular file of UTF-8.",
        "A link may lead out of the skill, and other encodings are read differently on other machines.",
        "The manifest as a symbolic link", "Put the file itself beside SKILL.md.")),
    _manifest("manifest.syntax", (W, N, E, W, W, W), "The manifest is YAML without anchors or tags.", (
        "Reads the manifest as YAML without anchors, aliases and tags.",
        "A manifest that cannot be read has no effect.",
        "`security: [`", "`security: {capabilities: []}`")),
    _manifest("manifest.notMapping", (W, N, E, W, W, W), "The manifest is a mapping.", (
        "Checks that the manifest consists of keys with values.",
        "A list has no sections.",
        "`- security`", "`security: {}`")),
    _manifest("manifest.duplicateKey", (W, N, E, W, W, W), "Each key of the manifest is written once.", (
        "Looks for a key that is written twice.",
        "One reader takes the first, another the last.",
        "Two sections `tests:`", "Join them.")),
    _manifest("manifest.unknownField", (W, N, W, W, W, W), "The manifest has only known fields.", (
        "Compares each key with the known keys.",
        "A misspelt key has no effect.",
        "`securty:`", "`security:`")),
    _manifest("security.type", (W, N, E, W, W, W), "security is a mapping of known types.", (
        "Checks that `security` is a mapping, and that its values have the right types.",
        "Hosts use it to decide about permissions.",
        "`security: none`", "`security: {requiresNetwork: false}`")),
    _manifest("security.capabilities.type", (W, N, E, W, W, W), "security lists capabilities.", (
        "Checks that `capabilities` is a list.",
        "Each capability is requested separately.",
        "`capabilities: network`", "A list of mappings with `capability` and `reason`.")),
    _manifest("security.capabilities.itemType", (W, N, E, W, W, W), "A capability has an area:action and a reason.", (
        "Checks that each capability has its fields.",
        "A capability without a reason cannot be judged by a person.",
        "`- network`", "A mapping with `capability: network:http` and a `reason`.")),
    _manifest("security.fileSystemScope", (W, N, E, W, W, W), "fileSystemScope is one of three words.", (
        "Compares the scope with the three known words.",
        "An unknown scope grants nothing.",
        "`fileSystemScope: all`", "One of the words that the message lists.")),
    _manifest("testing.type", (W, N, E, W, W, W), "tests is a list of scenarios.", (
        "Checks that `tests` is a list of scenarios.",
        "A test runner cannot run anything else.",
        "`tests: yes`", "A list of scenarios, each with a name and cases.")),
    _manifest("testing.scenarios.type", (W, N, E, W, W, W), "A scenario lists cases, a case assertions.", (
        "Checks that a scenario lists its cases, and a case its assertions.",
        "A test runner needs both lists.",
        "`cases: one`", "A list of cases.")),
    _manifest("testing.scenarios.itemType", (W, N, E, W, W, W), "Scenarios, cases, assertions have their fields.", (
        "Checks that scenarios, cases and assertions have their fields.",
        "A case without them cannot be run or judged.",
        "A case without input", "A case with all fields that the message names.")),
    _manifest("testing.scenarios.name", (W, N, E, W, W, W), "Scenarios and cases have names.", (
        "Checks that scenarios and cases have names.",
        "Reports identify them by name.",
        "A scenario without `name`", "`name: an empty file`")),
    _manifest("testing.scenarios.expectedOutput", (W, N, E, W, W, W), "expectedBehavior is a text.", (
        "Checks that the expected behaviour is a text.",
        "It is read by a person or a model that judges.",
        "`expectedBehavior: [ok]`", "`expectedBehavior: Says that the file is empty.`")),
    _manifest("tools.type", (W, N, E, W, W, W), "tools is a mapping.", (
        "Checks that `tools` is a mapping.",
        "Dependencies are looked up in it.",
        "`tools: git`", "`tools: {dependencies: []}`")),
    _manifest("tools.dependencies.type", (W, N, E, W, W, W), "tools lists dependencies.", (
        "Checks that `dependencies` is a list.",
        "Each tool is checked separately.",
        "`dependencies: git`", "A list of mappings.")),
    _manifest("tools.dependencies.itemType", (W, N, E, W, W, W), "A tool has a name, a required flag and a purpose.", (
        "Checks that each tool has a name, a required flag and a purpose.",
        "A person needs them to decide whether to install the tool.",
        "`- git`", "A mapping with the fields that the message names.")),
    _manifest("composition.type", (W, N, E, W, W, W), "composition is a mapping.", (
        "Checks that `composition` is a mapping.",
        "The order of skills is built from it.",
        "`composition: pdf`", "`composition: {dependencies: []}`")),
    _manifest("composition.dependencies.type", (W, N, E, W, W, W), "composition lists dependencies.", (
        "Checks that `dependencies` is a list.",
        "Each dependency is looked up separately.",
        "`dependencies: pdf`", "A list of mappings.")),
    _manifest("composition.dependencies.itemType", (W, N, E, W, W, W), "A dependency has a skillName and a reason.", (
        "Checks that each dependency has the name of a skill and a reason, and a version and source that can be read.",
        "A dependency without a reason cannot be judged, and one with an unreadable version cannot be installed.",
        "`- pdf`", "A mapping with `skillName` and `reason`.")),
    _manifest("composition.conflicts.type", (W, N, E, W, W, W), "conflicts is a list of names of skills.", (
        "Checks that `conflicts` is a list of names.",
        "Each name is compared with the skills that are active.",
        "`conflicts: pdf`", "`conflicts: [pdf]`")),
    _manifest("composition.executionOrder", (W, N, E, W, W, W), "executionOrder is before, after or independent.", (
        "Compares the order with the three known words.",
        "Another word has no effect.",
        "`executionOrder: first`", "`executionOrder: before`")),
    _manifest("composition.missing", (E, N, E, W, E, W), "All skills that a skill depends on exist.", (
        "Looks in the set for every skill that a skill depends on.",
        "The skill would be activated without the skills that it needs.",
        "A dependency on `pdf`, which does not exist", "Add the skill, or drop the dependency."),
        family="catalog"),
    _manifest("composition.conflict", (E, N, E, W, E, W), "A skill does not conflict with its dependencies.", (
        "Looks for direct and indirect dependencies that conflict with the skill.",
        "Both cannot be active together.",
        "`a` needs `b`, and `b` conflicts with `a`", "Drop one of the two."),
        family="catalog"),
    _manifest("composition.cycle", (E, N, E, W, E, W), "No skill depends on itself, directly or not.", (
        "Follows the dependencies.",
        "No order puts each skill after its dependencies.",
        "`a` needs `b`, and `b` needs `a`", "Drop one of the two, or join the skills."),
        family="catalog"),
)  # fmt: skip
_OF_BODY = (
    _rule("body.maxLines", (W, N, N, E, W, N), "The body has at most 500 lines.", (
        "Counts the lines of the body, at most 500.",
        "The whole body enters the context when the skill is activated.",
        "A body of 900 lines", "Keep the quick start; move guides into `references/` and code into `scripts/`.")),
    _rule("reference.escape", (E, N, E, E, W, W), "A link to a file stays inside the skill.", (
        "Looks for links whose path leaves the skill.",
        "The file does not exist on another machine, and on this one it may be private.",
        "`[users](../../etc/passwd)`",
        "Put the file into the skill. To refer to another skill, write its name, not a link.")),
    _rule("reference.absolute", (E, N, E, E, W, W), "A link to a file is relative to the skill.", (
        "Looks for links that begin at a root, a drive or a home directory; `/plugin:skill` is a command, not a file.",
        "The path is valid on one machine only.",
        "`[hosts](/etc/hosts)`", "`[hosts](references/hosts.md)`; for a web page, write its full URL")),
)  # fmt: skip

RULES: dict[str, RuleMeta] = {row.id: row for row in (*_OF_FIELDS, *_OF_MANIFEST, *_OF_BODY)}
