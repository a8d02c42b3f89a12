"""All rules about the format of a skill: severity in each profile, summary, documentation page, fix.

Rule ids never change. `N` means that the profile does not report the rule. The four texts of a row are its page: what
the rule checks, why it matters, an example that breaks it, and the correct form. Advisory rules are declared in
`prowess.lint.rules`, one per file. Among the rules on `skill.manifest.yaml`, those that compare several skills are
applied by the catalog.
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
    #                      │  │  │  │  │  ┌ lenient: an error is what keeps a skill from being loaded
    _rule("file.missing", (E, E, E, E, E, E), "A skill is a directory that holds SKILL.md.", (
        "Looks for a file SKILL.md in the directory.",
        "Without it the directory is no skill, and no agent offers it.",
        "`pdf/README.md` alone", "Add `pdf/SKILL.md` with a name and a description.")),
    _rule("file.name", (W, N, W, W, W, W), "The file is called SKILL.md, not skill.md.", (
        "Compares the name of the file on disk with SKILL.md, letter for letter.",
        "`skill.md` is found on macOS and Windows, and not on Linux.",
        "`pdf/skill.md`", "`pdf/SKILL.md`")),
    _rule("file.notRegular", (E, E, E, E, E, E), "SKILL.md is a regular file, no link or pipe.", (
        "Looks whether SKILL.md is a regular file with one hard link.",
        "A link can lead to any file of the machine, and a pipe blocks whoever reads it.",
        "SKILL.md as a symbolic or a second hard link", "Put the file itself into the directory.")),
    _rule("file.unreadable", (E, E, E, E, E, E), "SKILL.md can be opened and read.", (
        "Opens the file.",
        "A skill that its user cannot read is not offered.",
        "A SKILL.md with the mode 000", "`chmod 644 SKILL.md`")),
    _rule("file.size", (E, E, E, E, E, E), "SKILL.md is at most 2 MiB.", (
        "Reads at most 2 MiB.",
        "A longer file fits into no model's context, and was made by mistake or in bad faith.",
        "A log that was appended to SKILL.md", "Move it into a file of its own.")),
    _rule("encoding.bom", (I, E, I, I, I, I), "No byte-order mark stands at the start.", (
        "Looks for a byte-order mark at the start.",
        "Some readers do not see the first fence behind it, and drop the skill.",
        "A file saved as UTF-8 with BOM", "Save it as UTF-8."),
        fixes="removes it"),
    _rule("encoding.invalid", (E, E, E, E, E, E), "SKILL.md is UTF-8.", (
        "Decodes the file as UTF-8.",
        "Every other encoding depends on the machine, and some text would be wrong.",
        "A file saved as Latin-1", "Save it as UTF-8.")),
    _rule("encoding.nul", (E, E, E, E, E, E), "SKILL.md holds no NUL character.", (
        "Looks for NUL characters.",
        "They end a text for many programs, so that what follows is seen by some and not by others.",
        "`description: Reads PDF\\0 files`", "Remove the character.")),
    _rule("frontmatter.missing", (E, E, E, E, E, E), "The first line is three hyphens.", (
        "Looks for a line of three hyphens at the start.",
        "Name and description stand between two such lines; without them nobody knows what the skill is for.",
        "`# PDF`", "Begin with `---`, `name: pdf`, `description: ...`, `---`.")),
    _rule("frontmatter.notFirst", (E, E, E, E, E, W), "Nothing stands before the opening fence.", (
        "Looks whether blank lines or comments stand before the opening fence.",
        "Most readers want the fence in the first line and drop the skill.",
        "A licence comment above `---`", "Put `---` into the first line and the comment below the closing fence."),
        fixes="removes the blank lines before it"),
    _rule("frontmatter.unclosed", (E, E, E, E, E, E), "Another line of three hyphens closes it.", (
        "Looks for a second line of three hyphens at the start of a line.",
        "Without it the whole file counts as fields.",
        "`---`, `name: pdf`, and then the text", "Close the fields with `---`.")),
    _rule("frontmatter.fence", (W, N, W, W, W, W), "Every reader finds the same fences.", (
        ("Looks for blanks after the hyphens of a fence, and for characters up to the closing fence that only some "
        "readers take for the end of a line: a lone carriage return, a vertical tab, U+2028 and others."),
        ("Another reader may see no fence there, or one where this one sees none, and then reads other fields and "
        "another text than those that were reviewed."),
        "`--- ` with a blank at the end", "Write `---` and end lines with LF or CRLF."),
        fixes="removes blanks after a fence"),
    _rule("frontmatter.size", (E, E, E, E, E, E), "The frontmatter is at most 64 KiB.", (
        "Counts the bytes between the fences, at most 64 KiB.",
        "Agents read the fields of every skill when they start.",
        "A changelog under metadata", "Move it into a file of its own.")),
    _rule("frontmatter.syntax", (E, E, E, E, E, E), "It is YAML without anchors, aliases or tags.", (
        ("Reads the fields as YAML without anchors, aliases, tags, merge keys and second documents, at most 20 "
        "levels deep."),
        ("What YAML refuses is dropped in silence by many agents; what is refused here reads differently from one "
        "reader to the next, or explodes."),
        "`description: Checks invoices. Triggers: VAT`", '`description: "Checks invoices. Triggers: VAT"`'),
        fixes="quotes the value that YAML refuses"),
    _rule("frontmatter.notMapping", (E, E, E, E, E, E), "The frontmatter is a mapping of keys to values.", (
        "Looks whether the fields are keys with values.",
        "A list or a single text has no name and no description.",
        "`- name: pdf`", "`name: pdf`")),
    _rule("frontmatter.duplicateKey", (E, E, E, E, E, W), "Each field is written once.", (
        "Looks for a field that is written twice.",
        "One reader takes the first, another the last.",
        "Two lines that begin with `description:`", "Keep one of them."),
        fixes="removes the second one; without --unsafe-fixes only a mere repetition"),
    _rule("frontmatter.unknownField", (E, E, W, E, W, W), "Only the six known fields stand in it.", (
        "Compares each key with those that the profile knows.",
        "Some hosts refuse a skill for one key too many. `metadata` is the place for everything else.",
        "`version: 1.0.0`, `licence: MIT`",
        ('`metadata:` and below it `version: "1.0.0"`. A field of a host, such as `argument-hint`, does nothing '
        "there: a skill for that host is checked with its profile.")),
        fixes="writes the field that is meant, or moves it under metadata"),
    _rule("name.required", (E, E, E, E, E, W), "A skill has a name.", (
        "Looks for the field `name`.",
        "The name is how a skill is called and activated.",
        "Only a description", "`name: pdf-tables`"),
        fixes="names it after its directory"),
    _rule("name.type", (E, E, E, E, E, W), "name is a text.", (
        "Looks whether name is a text.",
        "A list or a mapping cannot be called.",
        "`name: [pdf]`", "`name: pdf`")),
    _rule("name.maxLength", (E, E, E, E, E, W), "name has at most 64 characters.", (
        "Counts the characters of the name after normalising, at most 64.",
        "Longer names are refused.",
        "A name that is a sentence", "`name: pdf-tables`")),
    _rule("name.format", (E, E, E, E, E, W), "name is lowercase letters, digits, hyphens.", (
        "Looks for anything but lowercase letters, digits and single hyphens within.",
        "The name becomes part of paths, commands and addresses.",
        "`name: PDF_Tables`", "`name: pdf-tables`"),
        fixes="writes the nearest name that is right"),
    _rule("name.matchesDirectory", (E, E, E, E, E, W), "name equals the name of the skill's directory.", (
        "Compares the name with that of the directory.",
        "Where both differ some hosts use one and some the other, and a call by name misses.",
        "`name: pdf` in `pdf-tools/SKILL.md`", "Rename the directory, or the skill."),
        fixes="renames the skill, with --unsafe-fixes"),
    _rule("name.ascii", (I, N, N, N, W, N), "name keeps to a-z, 0-9 and the hyphen.", (
        "Looks for letters beyond a to z.",
        "The official text allows them, several hosts do not.",
        "`name: größe`", "`name: groesse`")),
    _rule("description.required", (E, E, E, E, E, E), "A skill has a description.", (
        "Looks for a description that is not empty.",
        "It is all that a model sees before it activates a skill.",
        "`description:`", "`description: Extracts tables from PDF files. Use when ...`")),
    _rule("description.type", (E, E, E, E, E, W), "description is a text.", (
        "Looks whether description is a text.",
        "A list is printed by some hosts as YAML and by others not at all.",
        "`description: [tables, PDF]`", "`description: Tables from PDF.`")),
    _rule("description.maxLength", (E, E, E, E, E, W), "description has at most 1024 characters.", (
        "Counts the characters, at most 1024.",
        "Longer ones are cut, or the skill is refused.",
        "The whole manual as a description",
        "What the skill does and when to use it; the rest belongs into the body.")),
    _rule("license.type", (E, N, E, E, E, W), "license is a text.", (
        "Looks whether license is a text.",
        "Tools that collect licences expect one line.",
        "`license: {name: MIT}`", "`license: MIT`")),
    _rule("compatibility.type", (E, E, E, E, E, W), "compatibility is a text.", (
        "Looks whether compatibility is a text.",
        "It is shown to people and models as it is.",
        "`compatibility: [python]`", "`compatibility: Requires Python 3.11`")),
    _rule("compatibility.empty", (E, N, N, E, E, W), "compatibility says something where it stands.", (
        "Looks for the key without a value.",
        "It promises a requirement and names none.",
        "`compatibility:`", "Remove the line, or say what is needed.")),
    _rule("compatibility.maxLength", (E, E, E, E, E, W), "compatibility has at most 500 characters.", (
        "Counts the characters, at most 500.",
        "Longer ones are refused.",
        "An installation guide", "`compatibility: Requires git and jq`; the guide belongs into the body.")),
    _rule("metadata.type", (E, N, E, E, E, W), "metadata is a mapping.", (
        "Looks whether metadata is a mapping.",
        "A text or a list has no keys to look up.",
        "`metadata: v1`", '`metadata:` and below it `version: "1"`')),
    _rule("metadata.keyType", (E, N, E, E, E, W), "Each key of metadata is a text.", (
        "Looks whether each key is a text.",
        "A list as a key cannot be looked up by most programs.",
        "`? [a, b]`", "`a-b: ...`")),
    _rule("metadata.valueType", (E, N, E, E, E, W), "Each value of metadata is a text.", (
        ("Looks whether each value is a text, in the profile `skillscraft` written so that every reader takes it for "
        "one."),
        ("`1.0` is a number to one reader and a text to the next, and a nested value fails the whole skill in strict "
        "hosts. A list is a warning in the profile `claude-code`, whose host takes it."),
        "`tags: [a, b]`", '`tags: "a, b"`'),
        fixes="quotes it"),
    _rule("metadata.duplicateKey", (E, E, E, E, E, W), "Each key of metadata is written once.", (
        "Looks for a key of metadata that is written twice.",
        "One reader takes the first, another the last.",
        "Two lines `version:`", "Keep one."),
        fixes="removes the second one; without --unsafe-fixes only a mere repetition"),
    _rule("allowed-tools.type", (E, N, E, E, E, W), "allowed-tools is a text.", (
        "Looks whether allowed-tools is a text, or a list where the profile permits one.",
        "In other forms some hosts ignore it, and nothing is restricted.",
        "`allowed-tools: [Read, Bash]`", "`allowed-tools: Read Bash`"),
        fixes="writes the tokens as a text"),
    _rule("allowed-tools.syntax", (E, N, E, E, E, W), "allowed-tools is a row of Name or Name(pattern).", (
        "Reads the value as a row of `Name` or `Name(pattern)`.",
        "A pattern that is misread permits too much or nothing.",
        "`Bash(git add`", "`Bash(git add *)`")),
    _rule("allowed-tools.separator", (W, N, W, W, N, W), "Blanks separate the tokens of allowed-tools.", (
        "Looks for commas between the tokens.",
        "The specification separates by blanks; some hosts do not know commas.",
        "`Read, Grep`", "`Read Grep`"),
        fixes="writes blanks"),
    _rule("disallowed-tools.syntax", (N, N, N, N, E, W), "disallowed-tools holds Name or Name(pattern).", (
        "Reads the value, a text or a list of texts, as a row of `Name` or `Name(pattern)`.",
        "A session refuses every tool while a skill is active whose denials cannot be read.",
        "`Bash(git push`", "`Bash(git push *)`"), source="Claude Code documentation, skills"),
    _rule("model.type", (N, N, N, N, E, W), "model is a text.", (
        "Looks whether model is a text.",
        "Anything else is no name of a model.",
        "`model: [a]`", "`model: inherit`"),
        source=_PLATFORM),
    _rule("context.value", (N, N, N, N, E, W), "context is inherit or fork.", (
        "Compares context with the two words that are known.",
        "A word that is not known decides nothing.",
        "`context: forked`", "`context: fork`"),
        source=_PLATFORM),
    _rule("agent.type", (N, N, N, N, E, W), "agent is a text.", (
        "Looks whether agent is a text.",
        "Anything else is no name of an agent.",
        "`agent: {a: b}`", "`agent: Explore`"),
        source=_PLATFORM),
    _rule("agent.needsFork", (N, N, N, N, W, W), "agent stands beside context: fork.", (
        "Looks for `agent` without `context: fork`.",
        "An agent has its own context; without it the field does nothing.",
        "`agent: Explore`", "`context: fork` beside it"),
        source=_PLATFORM),
    _rule("hooks.type", (N, N, N, N, E, W), "Each hook names a script or a command.", (
        "Looks whether each hook names a script or a command.",
        "A hook that cannot be read never runs.",
        "`hooks: {pre: 3}`", "`hooks: {pre: scripts/check.sh}`"),
        source=_PLATFORM),
    _rule("hooks.event", (N, N, N, N, W, W), "Each key of hooks is a known event.", (
        "Compares each key of hooks with the events that are known.",
        "A hook on an event that never happens never runs.",
        "`hooks: {PreTool: ...}`", "`hooks: {PreToolUse: ...}`"),
        source=_PLATFORM),
    _rule("hooks.path", (N, N, N, N, E, W), "A hook's script is a path inside the skill.", (
        "Looks whether the script of a hook lies inside the skill.",
        "A hook runs by itself; what it runs must come with the skill.",
        "`script: ../../run.sh`", "`script: scripts/run.sh`"),
        source=_PLATFORM),
    _rule("hooks.value", (N, N, N, N, E, W), "Settings of a hook can be read.", (
        "Reads the settings of each hook.",
        "A setting that is misread changes when the hook runs.",
        "`timeout: soon`", "`timeout: 10`"),
        source=_PLATFORM),
    _rule("scope.type", (N, N, N, N, E, W), "scope lists agents, tenants, environments.", (
        "Reads who a skill is for.",
        "A scope that cannot be read closes the skill to everyone.",
        "`scope: everyone`", "`scope: {agents: [reviewer]}`"),
        source=_PLATFORM),
    _rule("execution.type", (N, N, N, N, E, W), "Settings of execution can be read.", (
        "Reads what a skill wishes of its runs.",
        "A wish that cannot be read is not granted.",
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
    _rule("invocation.type", (N, N, N, N, E, W), "Who may invoke is said by true or false.", (
        "Looks whether the switches on invocation are true or false; yes, on and 1, no, off and 0 are read too.",
        "A switch that is misread opens a skill that was meant to be closed.",
        "`disable-model-invocation: maybe`", "`disable-model-invocation: true`"),
        source=_PLATFORM),
    _rule("arguments.type", (N, N, N, N, E, W), "arguments is a list of names.", (
        "Looks for a list of names.",
        "Placeholders in the body are filled in by these names.",
        "`arguments: {a: 1}`", "`arguments: [file]`"),
        source=_PLATFORM),
    _rule("argument-hint.type", (N, N, N, N, W, W), "argument-hint is a text.", (
        "Looks whether it is a text.",
        "It is shown to the user as it is.",
        "`argument-hint: {a: b}`", '`argument-hint: "[file]"`'),
        source=_PLATFORM),
    _rule("paths.type", (N, N, N, N, E, W), "paths is a list of patterns.", (
        "Looks for a list of patterns.",
        "The skill is offered for files that fit.",
        "`paths: {a: b}`", '`paths: ["*.pdf"]`'),
        source=_PLATFORM),
)  # fmt: skip
_OF_MANIFEST = (
    _manifest("manifest.file", (W, N, E, W, W, W), "skill.manifest.yaml is a regular file of UTF-8.", (
        "Looks whether skill.manifest.yaml is a regular file of UTF-8.",
        "A link may lead out of the skill, and other bytes read differently elsewhere.",
        "The manifest as a symbolic link", "Put the file itself beside SKILL.md.")),
    _manifest("manifest.syntax", (W, N, E, W, W, W), "The manifest is YAML without anchors or tags.", (
        "Reads the manifest as YAML without anchors, aliases and tags.",
        "What cannot be read declares nothing.",
        "`security: [`", "`security: {capabilities: []}`")),
    _manifest("manifest.notMapping", (W, N, E, W, W, W), "The manifest is a mapping.", (
        "Looks whether the manifest is keys with values.",
        "A list has no sections.",
        "`- security`", "`security: {}`")),
    _manifest("manifest.duplicateKey", (W, N, E, W, W, W), "Each key of the manifest is written once.", (
        "Looks for a key that is written twice.",
        "One reader takes the first, another the last.",
        "Two sections `tests:`", "Join them.")),
    _manifest("manifest.unknownField", (W, N, W, W, W, W), "Only known fields stand in the manifest.", (
        "Compares each key with those that are known.",
        "A slip of the pen declares nothing.",
        "`securty:`", "`security:`")),
    _manifest("security.type", (W, N, E, W, W, W), "security is a mapping of known types.", (
        "Looks whether `security` is a mapping whose values have their types.",
        "A host gates permissions by it.",
        "`security: none`", "`security: {requiresNetwork: false}`")),
    _manifest("security.capabilities.type", (W, N, E, W, W, W), "security lists capabilities.", (
        "Looks whether `capabilities` is a list.",
        "Each capability is asked for by itself.",
        "`capabilities: network`", "A list of mappings with `capability` and `reason`.")),
    _manifest("security.capabilities.itemType", (W, N, E, W, W, W), "A capability has an area:action and a reason.", (
        "Looks whether each capability has its fields.",
        "A capability without a reason cannot be judged by a person.",
        "`- network`", "A mapping with `capability: network:http` and a `reason`.")),
    _manifest("security.fileSystemScope", (W, N, E, W, W, W), "fileSystemScope is one of three words.", (
        "Compares the scope with the words that are known.",
        "A scope that is not known grants nothing.",
        "`fileSystemScope: all`", "One of the words that the message lists.")),
    _manifest("testing.type", (W, N, E, W, W, W), "tests is a list of scenarios.", (
        "Looks whether `tests` is a list of scenarios.",
        "A runner has nothing to run otherwise.",
        "`tests: yes`", "A list of scenarios, each with a name and cases.")),
    _manifest("testing.scenarios.type", (W, N, E, W, W, W), "A scenario lists cases, a case assertions.", (
        "Looks whether a scenario lists its cases, and a case its assertions.",
        "A runner walks both lists.",
        "`cases: one`", "A list of cases.")),
    _manifest("testing.scenarios.itemType", (W, N, E, W, W, W), "Scenarios, cases, assertions have their fields.", (
        "Looks whether scenarios, cases and assertions have their fields.",
        "What is missing cannot be run or judged.",
        "A case without input", "A case with all that the message names.")),
    _manifest("testing.scenarios.name", (W, N, E, W, W, W), "Scenarios and cases have names.", (
        "Looks whether scenarios and cases have names.",
        "A report has to call them something.",
        "A scenario without `name`", "`name: an empty file`")),
    _manifest("testing.scenarios.expectedOutput", (W, N, E, W, W, W), "expectedBehavior is a text.", (
        "Looks whether the expected behaviour is a text.",
        "It is read by a person or a model that judges.",
        "`expectedBehavior: [ok]`", "`expectedBehavior: Says that the file is empty.`")),
    _manifest("tools.type", (W, N, E, W, W, W), "tools is a mapping.", (
        "Looks whether `tools` is a mapping.",
        "Dependencies are looked up in it.",
        "`tools: git`", "`tools: {dependencies: []}`")),
    _manifest("tools.dependencies.type", (W, N, E, W, W, W), "tools lists dependencies.", (
        "Looks whether `dependencies` is a list.",
        "Each tool is checked by itself.",
        "`dependencies: git`", "A list of mappings.")),
    _manifest("tools.dependencies.itemType", (W, N, E, W, W, W), "A tool is named, required or not, for a purpose.", (
        "Looks whether a tool has a name, whether it is required, and what for.",
        "A person decides by it whether to install the tool.",
        "`- git`", "A mapping with the fields that the message names.")),
    _manifest("composition.type", (W, N, E, W, W, W), "composition is a mapping.", (
        "Looks whether `composition` is a mapping.",
        "The order of skills is built from it.",
        "`composition: pdf`", "`composition: {dependencies: []}`")),
    _manifest("composition.dependencies.type", (W, N, E, W, W, W), "composition lists dependencies.", (
        "Looks whether `dependencies` is a list.",
        "Each of them is looked for.",
        "`dependencies: pdf`", "A list of mappings.")),
    _manifest("composition.dependencies.itemType", (W, N, E, W, W, W), "A dependency has a skillName and a reason.", (
        "Looks whether each dependency has the name of a skill and a reason.",
        "A dependency without a reason cannot be weighed.",
        "`- pdf`", "A mapping with `skillName` and `reason`.")),
    _manifest("composition.conflicts.type", (W, N, E, W, W, W), "conflicts is a list of names of skills.", (
        "Looks whether `conflicts` is a list of names.",
        "Each name is compared with the skills that are active.",
        "`conflicts: pdf`", "`conflicts: [pdf]`")),
    _manifest("composition.executionOrder", (W, N, E, W, W, W), "executionOrder is before, after or independent.", (
        "Compares the order with three words.",
        "Another word orders nothing.",
        "`executionOrder: first`", "`executionOrder: before`")),
    _manifest("composition.missing", (E, N, E, W, E, W), "The skills that a skill depends on are there.", (
        "Looks for every skill that a skill depends on in the set.",
        "The skill would be activated without what it builds on.",
        "A dependency on `pdf`, which is not there", "Add the skill, or drop the dependency."),
        family="catalog"),
    _manifest("composition.conflict", (E, N, E, W, E, W), "What a skill depends on does not exclude it.", (
        "Looks whether what a skill depends on, directly or not, excludes it.",
        "Both cannot be active together.",
        "`a` needs `b`, and `b` conflicts with `a`", "Drop one of the two."),
        family="catalog"),
    _manifest("composition.cycle", (E, N, E, W, E, W), "No skill depends on itself, through others or not.", (
        "Follows the dependencies.",
        "No order puts each skill after what it needs.",
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
        "The file is not there on another machine, and on this one it was not meant to be read.",
        "`[users](../../etc/passwd)`",
        "Put the file into the skill. Where another skill is meant, write its name, not a link.")),
    _rule("reference.absolute", (E, N, E, E, W, W), "A link to a file is relative to the skill.", (
        "Looks for links that begin at a root, a drive or a home; `/plugin:skill`, a command, is no file.",
        "The path holds on one machine alone.",
        "`[hosts](/etc/hosts)`", "`[hosts](references/hosts.md)`; a page of a website by its whole address")),
)  # fmt: skip

RULES: dict[str, RuleMeta] = {row.id: row for row in (*_OF_FIELDS, *_OF_MANIFEST, *_OF_BODY)}
