"""Pages of the rules on the file as a whole: its encoding, its fences, its body and its links."""

from __future__ import annotations

from prowess.format.rule_pages.page import Page

PAGES = {
    "file.missing": Page(
        what="Looks for a file SKILL.md in the directory.",
        why="Without it the directory is no skill, and no agent offers it.",
        example="`pdf/README.md` alone",
        instead="Add `pdf/SKILL.md` with a name and a description.",
    ),
    "file.name": Page(
        what="Compares the name of the file on disk with SKILL.md, letter for letter.",
        why="`skill.md` is found on macOS and Windows, and not on Linux.",
        example="`pdf/skill.md`",
        instead="`pdf/SKILL.md`",
    ),
    "file.notRegular": Page(
        what="Looks whether SKILL.md is a regular file.",
        why="A link can lead to any file of the machine, and a pipe blocks whoever reads it.",
        example="SKILL.md as a symbolic link",
        instead="Put the file itself into the directory.",
    ),
    "file.unreadable": Page(
        what="Opens the file.",
        why="A skill that its user cannot read is not offered.",
        example="A SKILL.md with the mode 000",
        instead="`chmod 644 SKILL.md`",
    ),
    "file.size": Page(
        what="Reads at most 2 MiB.",
        why="A longer file fits into no model's context, and was made by mistake or in bad faith.",
        example="A log that was appended to SKILL.md",
        instead="Move it into a file of its own.",
    ),
    "encoding.bom": Page(
        what="Looks for a byte-order mark at the start.",
        why="Some readers do not see the first fence behind it, and drop the skill.",
        example="A file saved as UTF-8 with BOM",
        instead="Save it as UTF-8.",
    ),
    "encoding.invalid": Page(
        what="Decodes the file as UTF-8.",
        why="Every other encoding depends on the machine, and some text would be wrong.",
        example="A file saved as Latin-1",
        instead="Save it as UTF-8.",
    ),
    "encoding.nul": Page(
        what="Looks for NUL characters.",
        why="They end a text for many programs, so that what follows is seen by some and not by others.",
        example="`description: Reads PDF\\0 files`",
        instead="Remove the character.",
    ),
    "frontmatter.missing": Page(
        what="Looks for a line of three hyphens at the start.",
        why="Name and description stand between two such lines; without them nobody knows what the skill is for.",
        example="`# PDF`",
        instead="Begin with `---`, `name: pdf`, `description: ...`, `---`.",
    ),
    "frontmatter.notFirst": Page(
        what="Looks whether blank lines or comments stand before the opening fence.",
        why="Most readers want the fence in the first line and drop the skill.",
        example="A licence comment above `---`",
        instead="Put `---` into the first line and the comment below the closing fence.",
    ),
    "frontmatter.unclosed": Page(
        what="Looks for a second line of three hyphens at the start of a line.",
        why="Without it the whole file counts as fields.",
        example="`---`, `name: pdf`, and then the text",
        instead="Close the fields with `---`.",
    ),
    "frontmatter.size": Page(
        what="Counts the bytes between the fences, at most 64 KiB.",
        why="Agents read the fields of every skill when they start.",
        example="A changelog under metadata",
        instead="Move it into a file of its own.",
    ),
    "frontmatter.syntax": Page(
        what=(
            "Reads the fields as YAML without anchors, aliases, tags, merge keys and second documents, at most "
            "20 levels deep."
        ),
        why=(
            "What YAML refuses is dropped in silence by many agents; what is refused here reads differently "
            "from one reader to the next, or explodes."
        ),
        example="`description: Checks invoices. Triggers: VAT`",
        instead='`description: "Checks invoices. Triggers: VAT"`',
    ),
    "frontmatter.notMapping": Page(
        what="Looks whether the fields are keys with values.",
        why="A list or a single text has no name and no description.",
        example="`- name: pdf`",
        instead="`name: pdf`",
    ),
    "frontmatter.duplicateKey": Page(
        what="Looks for a field that is written twice.",
        why="One reader takes the first, another the last.",
        example="Two lines that begin with `description:`",
        instead="Keep one of them.",
    ),
    "frontmatter.unknownField": Page(
        what="Compares each key with those that the profile knows.",
        why="Some hosts refuse a skill for one key too many. `metadata` is the place for everything else.",
        example="`version: 1.0.0`",
        instead=(
            '`metadata:` and below it `version: "1.0.0"`. A field of a host, such as `argument-hint`, does nothing '
            "there: a skill for that host is checked with its profile."
        ),
    ),
    "suppression.unused": Page(
        what="Looks for comments that suppress a rule which finds nothing there.",
        why="A comment that outlived its reason hides the next fault.",
        example="A comment that suppresses `body.maxLines` in a body of 40 lines",
        instead="Remove it.",
    ),
    "catalog.budget": Page(
        what=(
            "Adds up the names and descriptions of all skills in a folder, and compares them with 8000 "
            "characters, which is what Codex lists."
        ),
        why="What a host cuts from its list is never found by a model.",
        example="Forty skills with descriptions of 600 characters",
        instead="Shorten the longest descriptions, or offer fewer skills at once.",
    ),
    "body.maxLines": Page(
        what="Counts the lines of the body, at most 500.",
        why="The whole body enters the context when the skill is activated.",
        example="A body of 900 lines",
        instead="Keep the quick start; move guides into `references/` and code into `scripts/`.",
    ),
    "reference.escape": Page(
        what="Looks for links whose path leaves the skill.",
        why="The file is not there on another machine, and on this one it was not meant to be read.",
        example="`[users](../../etc/passwd)`",
        instead="Put the file into the skill. Where another skill is meant, write its name, not a link.",
    ),
    "reference.absolute": Page(
        what="Looks for links that begin at a root, a drive or a home; `/plugin:skill`, a command, is no file.",
        why="The path holds on one machine alone.",
        example="`[hosts](/etc/hosts)`",
        instead="`[hosts](references/hosts.md)`; a page of a website by its whole address",
    ),
}
