"""The rules of `skill.manifest.yaml`, declared once: see `table`, whose columns these are.

What is wrong between the skills of a set is found by the catalog and declared here, beside the rest of `composition`.
"""

from __future__ import annotations

from functools import partial

from prowess.format.rules.meta import E, N, W, rule_row

_rule = partial(rule_row, source="skillscraft specification reference, extended specification")

MANIFEST_RULES = (
    _rule("manifest.file", (W, N, E, W, W, W), "skill.manifest.yaml is a regular file of UTF-8.", (
        "Looks whether skill.manifest.yaml is a regular file of UTF-8.",
        "A link may lead out of the skill, and other bytes read differently elsewhere.",
        "The manifest as a symbolic link", "Put the file itself beside SKILL.md.")),
    _rule("manifest.syntax", (W, N, E, W, W, W), "The manifest is YAML without anchors or tags.", (
        "Reads the manifest as YAML without anchors, aliases and tags.",
        "What cannot be read declares nothing.",
        "`security: [`", "`security: {capabilities: []}`")),
    _rule("manifest.notMapping", (W, N, E, W, W, W), "The manifest is a mapping.", (
        "Looks whether the manifest is keys with values.",
        "A list has no sections.",
        "`- security`", "`security: {}`")),
    _rule("manifest.duplicateKey", (W, N, E, W, W, W), "Each key of the manifest is written once.", (
        "Looks for a key that is written twice.",
        "One reader takes the first, another the last.",
        "Two sections `tests:`", "Join them.")),
    _rule("manifest.unknownField", (W, N, W, W, W, W), "Only known fields stand in the manifest.", (
        "Compares each key with those that are known.",
        "A slip of the pen declares nothing.",
        "`securty:`", "`security:`")),
    _rule("security.type", (W, N, E, W, W, W), "security is a mapping of known types.", (
        "Looks whether `security` is a mapping whose values have their types.",
        "A host gates permissions by it.",
        "`security: none`", "`security: {requiresNetwork: false}`")),
    _rule("security.capabilities.type", (W, N, E, W, W, W), "security lists capabilities.", (
        "Looks whether `capabilities` is a list.",
        "Each capability is asked for by itself.",
        "`capabilities: network`", "A list of mappings with `capability` and `reason`.")),
    _rule("security.capabilities.itemType", (W, N, E, W, W, W), "A capability has an area:action and a reason.", (
        "Looks whether each capability has its fields.",
        "A capability without a reason cannot be judged by a person.",
        "`- network`", "A mapping with `capability: network:http` and a `reason`.")),
    _rule("security.fileSystemScope", (W, N, E, W, W, W), "fileSystemScope is one of three words.", (
        "Compares the scope with the words that are known.",
        "A scope that is not known grants nothing.",
        "`fileSystemScope: all`", "One of the words that the message lists.")),
    _rule("testing.type", (W, N, E, W, W, W), "tests is a list of scenarios.", (
        "Looks whether `tests` is a list of scenarios.",
        "A runner has nothing to run otherwise.",
        "`tests: yes`", "A list of scenarios, each with a name and cases.")),
    _rule("testing.scenarios.type", (W, N, E, W, W, W), "A scenario lists cases, a case assertions.", (
        "Looks whether a scenario lists its cases, and a case its assertions.",
        "A runner walks both lists.",
        "`cases: one`", "A list of cases.")),
    _rule("testing.scenarios.itemType", (W, N, E, W, W, W), "Scenarios, cases, assertions have their fields.", (
        "Looks whether scenarios, cases and assertions have their fields.",
        "What is missing cannot be run or judged.",
        "A case without input", "A case with all that the message names.")),
    _rule("testing.scenarios.name", (W, N, E, W, W, W), "Scenarios and cases have names.", (
        "Looks whether scenarios and cases have names.",
        "A report has to call them something.",
        "A scenario without `name`", "`name: an empty file`")),
    _rule("testing.scenarios.expectedOutput", (W, N, E, W, W, W), "expectedBehavior is a text.", (
        "Looks whether the expected behaviour is a text.",
        "It is read by a person or a model that judges.",
        "`expectedBehavior: [ok]`", "`expectedBehavior: Says that the file is empty.`")),
    _rule("tools.type", (W, N, E, W, W, W), "tools is a mapping.", (
        "Looks whether `tools` is a mapping.",
        "Dependencies are looked up in it.",
        "`tools: git`", "`tools: {dependencies: []}`")),
    _rule("tools.dependencies.type", (W, N, E, W, W, W), "tools lists dependencies.", (
        "Looks whether `dependencies` is a list.",
        "Each tool is checked by itself.",
        "`dependencies: git`", "A list of mappings.")),
    _rule("tools.dependencies.itemType", (W, N, E, W, W, W), "A tool is named, required or not, for a purpose.", (
        "Looks whether a tool has a name, whether it is required, and what for.",
        "A person decides by it whether to install the tool.",
        "`- git`", "A mapping with the fields that the message names.")),
    _rule("composition.type", (W, N, E, W, W, W), "composition is a mapping.", (
        "Looks whether `composition` is a mapping.",
        "The order of skills is built from it.",
        "`composition: pdf`", "`composition: {dependencies: []}`")),
    _rule("composition.dependencies.type", (W, N, E, W, W, W), "composition lists dependencies.", (
        "Looks whether `dependencies` is a list.",
        "Each of them is looked for.",
        "`dependencies: pdf`", "A list of mappings.")),
    _rule("composition.dependencies.itemType", (W, N, E, W, W, W), "A dependency has a skillName and a reason.", (
        "Looks whether each dependency has the name of a skill and a reason.",
        "A dependency without a reason cannot be weighed.",
        "`- pdf`", "A mapping with `skillName` and `reason`.")),
    _rule("composition.conflicts.type", (W, N, E, W, W, W), "conflicts is a list of names of skills.", (
        "Looks whether `conflicts` is a list of names.",
        "Each name is compared with the skills that are active.",
        "`conflicts: pdf`", "`conflicts: [pdf]`")),
    _rule("composition.executionOrder", (W, N, E, W, W, W), "executionOrder is before, after or independent.", (
        "Compares the order with three words.",
        "Another word orders nothing.",
        "`executionOrder: first`", "`executionOrder: before`")),
    _rule("composition.missing", (E, N, E, W, E, W), "The skills that a skill depends on are there.", (
        "Looks for every skill that a skill depends on in the set.",
        "The skill would be activated without what it builds on.",
        "A dependency on `pdf`, which is not there", "Add the skill, or drop the dependency."),
        family="catalog"),
    _rule("composition.conflict", (E, N, E, W, E, W), "What a skill depends on does not exclude it.", (
        "Looks whether what a skill depends on, directly or not, excludes it.",
        "Both cannot be active together.",
        "`a` needs `b`, and `b` conflicts with `a`", "Drop one of the two."),
        family="catalog"),
    _rule("composition.cycle", (E, N, E, W, E, W), "No skill depends on itself, through others or not.", (
        "Follows the dependencies.",
        "No order puts each skill after what it needs.",
        "`a` needs `b`, and `b` needs `a`", "Drop one of the two, or join the skills."),
        family="catalog"),
)  # fmt: skip
