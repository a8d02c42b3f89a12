"""What a new skill begins with: whole examples to change, not blanks to fill in.

Each template passes every profile without a finding as it is written; a test holds them to that. `files_of` gives the
texts by path, and writes nothing.
"""

from __future__ import annotations

from typing import Literal, get_args

from prowess.format.writing import document_text

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
- What could not be found out is said, with the reason.
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


def default_description(name: str) -> str:
    """Return a description that says what and when, made from the words of the name."""
    words = name.replace("-", " ")
    return f"Carries out {words} step by step. Use when the user asks for {words}."


def files_of(template: Template, name: str, description: str) -> dict[str, str]:
    """Return the files of a new skill by relative path; `description` is one line."""
    with_script, with_guide = template in {"scripts", "full"}, template in {"references", "full"}
    steps = ["Read what the user wants, and name the file or text that it is about."]
    if with_script:
        steps.append("Run `scripts/measure.py FILE` for the figures; it prints JSON.")
    if with_guide:
        steps.append("Before you write the answer, read [how a good answer is made](references/guide.md).")
    if template == "full":
        steps.append("Fill in [the form of the report](assets/report.md).")
    steps.append("Check the answer against what was asked, and correct it where they differ.")
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
