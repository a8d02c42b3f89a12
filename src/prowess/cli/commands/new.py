"""`prowess new`: creates a skill from a template that is valid in every profile.

A template is a complete example to be changed; it has no blanks to fill in. Tests check that each template passes every
profile without a finding. `files_of` returns the texts by path and writes no file.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from typing import Literal, get_args

import click
from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.catalog.ownership import SKILL_FOLDERS, project_root
from prowess.cli import exit_codes, output
from prowess.cli.options.governance_options import require_role_if_governed
from prowess.format.limits import MAX_DESCRIPTION_LENGTH
from prowess.format.name import name_faults
from prowess.format.writing import document_text

_PLAIN_FOLDER = "skills"  # used by plugins and skill repositories; not searched by the catalog
Template = Literal["minimal", "scripts", "references", "full"]
TEMPLATES: tuple[Template, ...] = get_args(Template)

_SCRIPT = '''\
#!/usr/bin/env python3
"""Count the lines, words and characters of a text file, as JSON."""

import argparse
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="the text file to measure, in UTF-8")
    options = parser.parse_args()
    try:
        text = options.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        print(f"{options.file}: {fault}", file=sys.stderr)
        return 1
    print(json.dumps({"lines": len(text.splitlines()), "words": len(text.split()), "characters": len(text)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
_GUIDE = """\
# How a good answer is made

- The result comes first, in one sentence.
- Each figure has its unit and its source.
- Facts that could not be found are listed, with the reason.
"""
_ASSET = """\
# Report

Result:

Figures:

Open questions:
"""
_MANIFEST = """\
security:
  capabilities:
    - capability: file:read
      reason: The script reads the file that the user names.
  requiresNetwork: false
  modifiesFiles: false
tests:
  - name: measure
    description: The figures of a text are right.
    cases:
      - name: one line
        input: How many words are in notes.txt?
        assertions:
          - type: contains
            value: words
"""

_ABOUT = {
    "minimal": "SKILL.md only",
    "scripts": "with a script",
    "references": "with a reference file",
    "full": "with both, an asset and a manifest",
}


@click.command("new")
@click.argument("name", required=False)
@click.option("--template", type=click.Choice(TEMPLATES), help="Template to start from; defaults to minimal.")
@click.option("--description", metavar="TEXT", help="What the skill does and when to use it.")
@click.option(
    "--into",
    metavar="DIR",
    help="Directory to create the skill in, instead of the project's folder of skills.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the created files as JSON.")
def command(
    *, name: str | None, template: Template | None, description: str | None, into: str | None, as_json: bool
) -> int:
    """Create a skill: a directory NAME with a SKILL.md to edit, valid in every profile.

    It is created in the project's folder of skills (.prowess/skills, .agents/skills, .claude/skills or skills) if there
    is one, else in this directory. On a terminal, missing values are asked for. Existing files are never overwritten.

    Example: prowess new sales-report --template scripts
    """
    require_role_if_governed("create")
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if name is None:
        if not asks:
            raise click.UsageError("give the skill a NAME, such as sales-report")
        name = _asked_name()
    _require_name(name)
    if asks and template is None and description is None:
        for choice, about in _ABOUT.items():
            output.line(f"  {choice:<11} {about}")
        template = click.prompt("Template", default="minimal", type=click.Choice(TEMPLATES), show_choices=False)
        description = click.prompt("What it does, and when to use it", default=default_description(name))
    text = default_description(name) if description is None else description.strip()
    _require_description(text)
    files = files_of(template or "minimal", name, text)
    place = place_of_skills() if into is None else SkillsFolder(directory=into)
    directory = os.path.join(place.directory, name)
    try:
        _write(directory, files)
    except FileExistsError:
        output.error(f"{output.shown_path(directory)} exists already; choose another name, or remove it first")
        return exit_codes.FAILED
    except OSError as fault:
        output.error(f"{output.shown_path(directory)} cannot be written: {fault.strerror}; choose another place")
        return exit_codes.FAILED
    if as_json:
        output.document({"name": name, "path": directory, "template": template or "minimal", "files": list(files)})
    else:
        for path in files:
            output.line(output.shown_path(os.path.join(directory, path)))
        output.note(f"Edit the files, then run: prowess check {printable_line(directory)}")
        for line in _how_to_use(name, directory, place):
            output.note(line)
    return exit_codes.OK


class SkillsFolder(Struct, frozen=True, kw_only=True):
    """The directory to write a skill into.

    `folder` is the name of the project's folder of skills, or None if the directory is not such a folder. `project` is
    the directory that contains the folder.
    """

    directory: str
    folder: str | None = None
    project: str = "."


def place_of_skills() -> SkillsFolder:
    """Return the nearest folder of skills, from this directory up to the project's root, or else this directory.

    In each directory, folders are tried in the order of the catalog, and a plain `skills` last.
    """
    root, here = project_root("."), os.path.realpath(".")
    above = "."
    while True:
        for folder in (*SKILL_FOLDERS, _PLAIN_FOLDER):
            if os.path.isdir(os.path.join(above, folder)):
                return SkillsFolder(
                    directory=os.path.normpath(os.path.join(above, folder)), folder=folder, project=above
                )
        if here == root or os.path.dirname(here) == here:
            return SkillsFolder(directory=".")
        here, above = os.path.dirname(here), os.path.normpath(os.path.join(above, ".."))


def _how_to_use(name: str, directory: str, place: SkillsFolder) -> tuple[str, ...]:
    if place.folder in SKILL_FOLDERS:
        trust = "" if place.project == "." else f" {printable_line(place.project)}"
        return (f"To let agents use the skills of this project, run once: prowess trust{trust}",)
    parent = printable_line(os.path.dirname(directory) or ".")
    return (
        f"Try it: prowess load {printable_line(name)} --root {parent}",
        f"Agents find it without --root in {SKILL_FOLDERS[0]} of a project, or with Catalog({parent!r})",
    )


def _asked_name() -> str:
    while True:
        name: str = click.prompt("Name of the skill").strip()
        faults = name_faults(name, ascii_only=True)
        if not faults:
            return name
        output.note(faults[0].message)


def _require_name(name: str) -> None:
    if not name:
        raise click.UsageError("the NAME of the skill is empty; give one such as sales-report")
    faults = name_faults(name, ascii_only=True)
    if faults:
        near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = f"; try {near}" if near and not name_faults(near, ascii_only=True) else ""
        raise click.UsageError(f"{printable_line(name)!r} cannot be the name of a skill: {faults[0].message}{hint}")


def _require_description(text: str) -> None:
    if not text or len(text) > MAX_DESCRIPTION_LENGTH:
        raise click.UsageError(f"the description must have 1 to {MAX_DESCRIPTION_LENGTH} characters")
    if any(ord(char) < ord(" ") or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in text):  # noqa: PLR2004 -- DEL, C1 controls and surrogates
        raise click.UsageError("the description must be one line without control characters")


def _write(directory: str, files: dict[str, str]) -> None:
    """Write all files or none: the directory must be new, and it is removed if a file cannot be written."""
    os.makedirs(os.path.dirname(directory) or ".", exist_ok=True)
    os.mkdir(directory)  # fails if the path exists, even as a symbolic link
    try:
        for path, text in files.items():
            target = os.path.join(directory, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
            if path.startswith("scripts/"):
                os.chmod(target, 0o755)  # noqa: S103 -- any user who may read a script may run it
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def default_description(name: str) -> str:
    """Return a description of what the skill does and when to use it, made from the words of its name."""
    words = name.replace("-", " ")
    return f"Carries out {words} step by step. Use when the user asks for {words}."


def files_of(template: Template, name: str, description: str) -> dict[str, str]:
    """Return the files of a new skill by relative path. `description` must be one line."""
    with_script, with_guide = template in {"scripts", "full"}, template in {"references", "full"}
    steps = ["Read what the user wants, and name the file or text that it is about."]
    if with_script:
        steps.append("Run `scripts/measure.py FILE` for the figures; it prints JSON.")
    if with_guide:
        steps.append("Before you write the answer, read [how a good answer is made](references/guide.md).")
    if template == "full":
        steps.append("Fill in [the form of the report](assets/report.md).")
    steps.append("Compare the answer with the request, and correct differences.")
    numbered = "".join(f"{number}. {step}\n" for number, step in enumerate(steps, 1))
    title = name.replace("-", " ").capitalize()
    body = (
        f"# {title}\n\n## Steps\n\n{numbered}\n## Example\n\n"
        'Input: "How long is notes.txt?"\n\nOutput: "notes.txt has 12 lines and 80 words."\n\n'
        "## Gotchas\n\n- An empty file has no lines; say so, and stop.\n"
        "- If the file is missing, ask for its path.\n"
    )
    fields = {"name": name, "description": description, "metadata": {"version": "1.0.0"}}
    files = {"SKILL.md": document_text(fields, f"\n{body}")}
    if with_script:
        files["scripts/measure.py"] = _SCRIPT
    if with_guide:
        files["references/guide.md"] = _GUIDE
    if template == "full":
        files |= {"assets/report.md": _ASSET, "skill.manifest.yaml": _MANIFEST}
    return files
