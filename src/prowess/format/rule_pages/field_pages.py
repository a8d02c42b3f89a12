"""Pages of the rules on the six fields of the specification."""

from __future__ import annotations

from prowess.format.rule_pages.page import Page

PAGES = {
    "name.required": Page(
        what="Looks for the field `name`.",
        why="The name is how a skill is called and activated.",
        example="Only a description",
        instead="`name: pdf-tables`",
    ),
    "name.type": Page(
        what="Looks whether name is a text.",
        why="A list or a mapping cannot be called.",
        example="`name: [pdf]`",
        instead="`name: pdf`",
    ),
    "name.maxLength": Page(
        what="Counts the characters of the name after normalising, at most 64.",
        why="Longer names are refused.",
        example="A name that is a sentence",
        instead="`name: pdf-tables`",
    ),
    "name.format": Page(
        what="Looks for anything but lowercase letters, digits and single hyphens within.",
        why="The name becomes part of paths, commands and addresses.",
        example="`name: PDF_Tables`",
        instead="`name: pdf-tables`",
    ),
    "name.matchesDirectory": Page(
        what="Compares the name with that of the directory.",
        why="Where both differ some hosts use one and some the other, and a call by name misses.",
        example="`name: pdf` in `pdf-tools/SKILL.md`",
        instead="Rename the directory, or the skill.",
    ),
    "name.ascii": Page(
        what="Looks for letters beyond a to z.",
        why="The official text allows them, several hosts do not.",
        example="`name: größe`",
        instead="`name: groesse`",
    ),
    "description.required": Page(
        what="Looks for a description that is not empty.",
        why="It is all that a model sees before it activates a skill.",
        example="`description:`",
        instead="`description: Extracts tables from PDF files. Use when ...`",
    ),
    "description.type": Page(
        what="Looks whether description is a text.",
        why="A list is printed by some hosts as YAML and by others not at all.",
        example="`description: [tables, PDF]`",
        instead="`description: Tables from PDF.`",
    ),
    "description.maxLength": Page(
        what="Counts the characters, at most 1024.",
        why="Longer ones are cut, or the skill is refused.",
        example="The whole manual as a description",
        instead="What the skill does and when to use it; the rest belongs into the body.",
    ),
    "license.type": Page(
        what="Looks whether license is a text.",
        why="Tools that collect licences expect one line.",
        example="`license: {name: MIT}`",
        instead="`license: MIT`",
    ),
    "compatibility.type": Page(
        what="Looks whether compatibility is a text.",
        why="It is shown to people and models as it is.",
        example="`compatibility: [python]`",
        instead="`compatibility: Requires Python 3.11`",
    ),
    "compatibility.empty": Page(
        what="Looks for the key without a value.",
        why="It promises a requirement and names none.",
        example="`compatibility:`",
        instead="Remove the line, or say what is needed.",
    ),
    "compatibility.maxLength": Page(
        what="Counts the characters, at most 500.",
        why="Longer ones are refused.",
        example="An installation guide",
        instead="`compatibility: Requires git and jq`; the guide belongs into the body.",
    ),
    "metadata.type": Page(
        what="Looks whether metadata is a mapping.",
        why="A text or a list has no keys to look up.",
        example="`metadata: v1`",
        instead='`metadata:` and below it `version: "1"`',
    ),
    "metadata.keyType": Page(
        what="Looks whether each key is a text.",
        why="A list as a key cannot be looked up by most programs.",
        example="`? [a, b]`",
        instead="`a-b: ...`",
    ),
    "metadata.valueType": Page(
        what=(
            "Looks whether each value is a text, in the profile `skillscraft` written so that every reader "
            "takes it for one."
        ),
        why=(
            "`1.0` is a number to one reader and a text to the next, and a nested value fails the whole skill "
            "in strict hosts."
        ),
        example="`tags: [a, b]`",
        instead='`tags: "a, b"`',
    ),
    "metadata.duplicateKey": Page(
        what="Looks for a key of metadata that is written twice.",
        why="One reader takes the first, another the last.",
        example="Two lines `version:`",
        instead="Keep one.",
    ),
    "allowed-tools.type": Page(
        what="Looks whether allowed-tools is a text, or a list where the profile permits one.",
        why="In other forms some hosts ignore it, and nothing is restricted.",
        example="`allowed-tools: [Read, Bash]`",
        instead="`allowed-tools: Read Bash`",
    ),
    "allowed-tools.syntax": Page(
        what="Reads the value as a row of `Name` or `Name(pattern)`.",
        why="A pattern that is misread permits too much or nothing.",
        example="`Bash(git add`",
        instead="`Bash(git add *)`",
    ),
    "allowed-tools.separator": Page(
        what="Looks for commas between the tokens.",
        why="The specification separates by blanks; some hosts do not know commas.",
        example="`Read, Grep`",
        instead="`Read Grep`",
    ),
}
