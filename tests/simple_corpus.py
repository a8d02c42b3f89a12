"""Simple skills for tests: a deterministic corpus of any size, without links, lists or nested metadata.

The benchmarks do not use it (`benchmarks.corpora`): real skills are less simple.
"""

from __future__ import annotations

import os
import random
import textwrap

_DOES = ("sorts", "checks", "drafts", "merges", "splits", "renames", "counts", "archives", "cleans", "plots", "exports")
_THINGS = ("receipts", "surveys", "tickets", "commits", "tables", "photos", "logs", "budgets", "contracts", "notes")
_FIELDS = ("accounting", "hiring", "shipping", "teaching", "farming", "publishing", "catering", "mapping", "auditing")
_SENTENCE = (
    "before the first step read every line that was given and keep its order then write what changed and why "
    "with one example for each case so that a reader can repeat it without asking when two values differ prefer "
    "the later one unless a person said otherwise and name the file where it stands"
)
_FILLER = _SENTENCE.split()
_TOOLS = ("Read", "Read Grep Glob", "Bash(git:*) Read", "Bash(jq:*) Bash(python3:*) Write")
_LICENCES = ("Apache-2.0", "MIT", "Proprietary; see LICENSE.txt")


def write_corpus(directory: str, count: int, *, seed: int = 7) -> int:
    """Write `count` skills below `directory` and return the bytes of all their SKILL.md files."""
    total = 0
    for number in range(count):
        chance = random.Random(seed * 1_000_003 + number)
        name = f"{chance.choice(_DOES)}-{chance.choice(_THINGS)}-{number:06d}"
        root = os.path.join(directory, name)
        os.makedirs(root)
        text = skill_text(chance, name)
        total += len(_write(os.path.join(root, "SKILL.md"), text))
        if chance.random() < 0.4:
            _write(os.path.join(root, "references", "guide.md"), f"# Guide\n\n{_sentence(chance)}\n")
        if chance.random() < 0.35:
            _write(os.path.join(root, "scripts", "run.py"), "print('done')\n")
    return total


def skill_text(chance: random.Random, name: str) -> str:
    """Return one SKILL.md."""
    lines = [f"name: {name}", _description(chance)]
    if chance.random() < 0.5:
        lines.append(f"license: {chance.choice(_LICENCES)}")
    if chance.random() < 0.2:
        lines.append("compatibility: Needs git and Python 3.11 or later")
    if chance.random() < 0.35:
        lines.append(f"allowed-tools: {chance.choice(_TOOLS)}")
    if chance.random() < 0.5:
        lines += [
            "metadata:",
            f"  team: {chance.choice(_FIELDS)}",
            f'  version: "{chance.randint(0, 9)}.{chance.randint(0, 20)}"',
        ]
        if chance.random() < 0.2:
            lines += ["  # reviewed twice a year", "  reviewed: yes"]
    return "---\n{}\n---\n\n# {}\n\n{}".format("\n".join(lines), name, _body(chance))


def _description(chance: random.Random) -> str:
    text = f"{chance.choice(_DOES).capitalize()} {chance.choice(_THINGS)} for {chance.choice(_FIELDS)}."
    wanted = chance.randint(150, 600)
    while len(text) < wanted:
        text += f" {_sentence(chance)}"
    form = chance.random()
    if form < 0.4:
        return f"description: {text}"
    if form < 0.6:
        return f'description: "{text} Use it for: {chance.choice(_THINGS)}"'
    if form < 0.7:
        return f"description: '{text} It''s for {chance.choice(_FIELDS)}'"
    sign = ">-" if form < 0.85 else "|" if form < 0.93 else ">"
    return f"description: {sign}\n{textwrap.indent(textwrap.fill(text, 76), '  ')}"


def _sentence(chance: random.Random) -> str:
    start = chance.randrange(len(_FILLER) - 8)
    return f"{' '.join(_FILLER[start : start + chance.randint(5, 14)]).capitalize()}."


def _body(chance: random.Random) -> str:
    wanted = min(10_000, max(1000, int(chance.lognormvariate(8.3, 0.6))))
    parts: list[str] = []
    size = 0
    while size < wanted:
        form = chance.random()
        if form < 0.2:
            part = f"## {_sentence(chance)[:-1]}"
        elif form < 0.6:
            part = " ".join(_sentence(chance) for _ in range(3))
        elif form < 0.85:
            part = "\n".join(f"- {_sentence(chance)}" for _ in range(4))
        else:
            part = "```sh\npython3 scripts/run.py --all\n---\n```"
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts) + "\n"


def _write(path: str, text: str) -> bytes:
    data = text.encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return data
