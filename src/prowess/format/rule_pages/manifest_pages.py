"""Pages of the rules on the manifest beside SKILL.md, and on how skills depend on each other."""

from __future__ import annotations

from prowess.format.rule_pages.page import Page

PAGES = {
    "manifest.file": Page(
        what="Looks whether skill.manifest.yaml is a regular file of UTF-8.",
        why="A link may lead out of the skill, and other bytes read differently elsewhere.",
        example="The manifest as a symbolic link",
        instead="Put the file itself beside SKILL.md.",
    ),
    "manifest.syntax": Page(
        what="Reads the manifest as YAML without anchors, aliases and tags.",
        why="What cannot be read declares nothing.",
        example="`security: [`",
        instead="`security: {capabilities: []}`",
    ),
    "manifest.notMapping": Page(
        what="Looks whether the manifest is keys with values.",
        why="A list has no sections.",
        example="`- security`",
        instead="`security: {}`",
    ),
    "manifest.duplicateKey": Page(
        what="Looks for a key that is written twice.",
        why="One reader takes the first, another the last.",
        example="Two sections `tests:`",
        instead="Join them.",
    ),
    "manifest.unknownField": Page(
        what="Compares each key with those that are known.",
        why="A slip of the pen declares nothing.",
        example="`securty:`",
        instead="`security:`",
    ),
    "security.type": Page(
        what="Looks whether `security` is a mapping whose values have their types.",
        why="A host gates permissions by it.",
        example="`security: none`",
        instead="`security: {requiresNetwork: false}`",
    ),
    "security.capabilities.type": Page(
        what="Looks whether `capabilities` is a list.",
        why="Each capability is asked for by itself.",
        example="`capabilities: network`",
        instead="A list of mappings with `capability` and `reason`.",
    ),
    "security.capabilities.itemType": Page(
        what="Looks whether each capability has its fields.",
        why="A capability without a reason cannot be judged by a person.",
        example="`- network`",
        instead="A mapping with `capability: network:http` and a `reason`.",
    ),
    "security.fileSystemScope": Page(
        what="Compares the scope with the words that are known.",
        why="A scope that is not known grants nothing.",
        example="`fileSystemScope: all`",
        instead="One of the words that the message lists.",
    ),
    "testing.type": Page(
        what="Looks whether `tests` is a list of scenarios.",
        why="A runner has nothing to run otherwise.",
        example="`tests: yes`",
        instead="A list of scenarios, each with a name and cases.",
    ),
    "testing.scenarios.type": Page(
        what="Looks whether a scenario lists its cases, and a case its assertions.",
        why="A runner walks both lists.",
        example="`cases: one`",
        instead="A list of cases.",
    ),
    "testing.scenarios.itemType": Page(
        what="Looks whether scenarios, cases and assertions have their fields.",
        why="What is missing cannot be run or judged.",
        example="A case without input",
        instead="A case with all that the message names.",
    ),
    "testing.scenarios.name": Page(
        what="Looks whether scenarios and cases have names.",
        why="A report has to call them something.",
        example="A scenario without `name`",
        instead="`name: an empty file`",
    ),
    "testing.scenarios.expectedOutput": Page(
        what="Looks whether the expected behaviour is a text.",
        why="It is read by a person or a model that judges.",
        example="`expectedBehavior: [ok]`",
        instead="`expectedBehavior: Says that the file is empty.`",
    ),
    "tools.type": Page(
        what="Looks whether `tools` is a mapping.",
        why="Dependencies are looked up in it.",
        example="`tools: git`",
        instead="`tools: {dependencies: []}`",
    ),
    "tools.dependencies.type": Page(
        what="Looks whether `dependencies` is a list.",
        why="Each tool is checked by itself.",
        example="`dependencies: git`",
        instead="A list of mappings.",
    ),
    "tools.dependencies.itemType": Page(
        what="Looks whether a tool has a name, whether it is required, and what for.",
        why="A person decides by it whether to install the tool.",
        example="`- git`",
        instead="A mapping with the fields that the message names.",
    ),
    "composition.type": Page(
        what="Looks whether `composition` is a mapping.",
        why="The order of skills is built from it.",
        example="`composition: pdf`",
        instead="`composition: {dependencies: []}`",
    ),
    "composition.dependencies.type": Page(
        what="Looks whether `dependencies` is a list.",
        why="Each of them is looked for.",
        example="`dependencies: pdf`",
        instead="A list of mappings.",
    ),
    "composition.dependencies.itemType": Page(
        what="Looks whether each dependency has the name of a skill and a reason.",
        why="A dependency without a reason cannot be weighed.",
        example="`- pdf`",
        instead="A mapping with `skillName` and `reason`.",
    ),
    "composition.conflicts.type": Page(
        what="Looks whether `conflicts` is a list of names.",
        why="Each name is compared with the skills that are active.",
        example="`conflicts: pdf`",
        instead="`conflicts: [pdf]`",
    ),
    "composition.executionOrder": Page(
        what="Compares the order with three words.",
        why="Another word orders nothing.",
        example="`executionOrder: first`",
        instead="`executionOrder: before`",
    ),
    "composition.missing": Page(
        what="Looks for every skill that a skill depends on in the set.",
        why="The skill would be activated without what it builds on.",
        example="A dependency on `pdf`, which is not there",
        instead="Add the skill, or drop the dependency.",
    ),
    "composition.conflict": Page(
        what="Looks whether what a skill depends on, directly or not, excludes it.",
        why="Both cannot be active together.",
        example="`a` needs `b`, and `b` conflicts with `a`",
        instead="Drop one of the two.",
    ),
    "composition.cycle": Page(
        what="Follows the dependencies.",
        why="No order puts each skill after what it needs.",
        example="`a` needs `b`, and `b` needs `a`",
        instead="Drop one of the two, or join the skills.",
    ),
}
