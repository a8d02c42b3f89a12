"""The two corpora of the benchmarks: public skills, and generated ones with the statistics of the public ones.

The public skills are not part of the project: `python -m tools.public_skills build .cache/public-skills` fetches them
(PROWESS_PUBLIC_SKILLS names another folder). The generated skills are the same on every machine. Their lengths, fields,
forms of values, links, code blocks and other files follow `benchmarks/public-statistics.json`, which
`tools.corpus_statistics` measures; a test compares them. Two things differ on purpose: every generated skill has front
matter with a name and a description, and its fields are drawn independently of each other.
"""

# ruff: noqa: S311 -- draws are meant to be repeatable

from __future__ import annotations

import functools
import itertools
import os
import random
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess import Severity, validate_skill
from prowess.format.limits import FIELDS
from tools.corpus_statistics import PERCENTS, read_statistics
from tools.public_skills import pinned

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
_TABLE_HEAD = 2  # lines

_TEXT = """
before the first step read every line that was given and keep its order then write what changed and why with one
example for each case so that a reader can repeat it without asking when two values differ prefer the later one
unless a person decided otherwise name the file and the section check that tests pass use `--dry-run` in doubt
validate the schema run the command again review commit deploy query index cache token request response error
return a short summary of findings list open questions avoid secrets in logs confirm with the user
"""
_WORDS = _TEXT.split()
_DOES = ("sorts", "checks", "drafts", "merges", "splits", "renames", "counts", "archives", "cleans", "plots", "exports")
_THINGS = ("receipts", "surveys", "tickets", "commits", "tables", "photos", "logs", "budgets", "contracts", "notes")
_SUFFIXES = {"references": "md", "scripts": "py", "assets": "json", "": "md"}
_VALUES = {
    "allowed-tools": ("Read", "Read Grep Glob", "Bash(git:*) Read", "Bash(jq:*) Bash(python3:*) Write"),
    "license": ("Apache-2.0", "MIT", "Proprietary. LICENSE.txt has complete terms"),
    "compatibility": ("Requires git and Python 3.11 or later",),
    "argument-hint": ("<file> [--all]",),
    "model": ("sonnet", "opus"),
    "tags": ("[sorting, checking, reports]",),
    "triggers": ("\n  - sort this\n  - check that",),
    "user-invocable": ("true", "false"),
    "disable-model-invocation": ("true",),
    "version": ("1.0.0", "0.3.1"),
    "author": ("somebody",),
}


class Corpus(Struct, frozen=True, kw_only=True):
    """A folder of skills, a folder with ten of them, and one of the ten.

    The ten are without errors, and their SKILL.md are as long as the median one of the corpus, or nearly so.
    """

    name: Literal["public", "generated"]
    root: str
    ten: str
    skill: str


class CorpusMissingError(Exception):
    """The public skills are not on this machine; the text tells how to get them."""


def built(place: str, count: int) -> list[Corpus]:
    """Make the corpora below `place`: the public one where the public skills are on this machine, and the generated."""
    found = []
    for name, make in _CORPORA.items():
        root, ten = os.path.join(place, name), os.path.join(place, f"{name}-ten")
        try:
            make(root, count)
        except CorpusMissingError as fault:
            print(f"skipped  the corpus of public skills: {fault}")
            continue
        chosen = _of_median_length(root)
        for skill in chosen:
            shutil.copytree(skill, os.path.join(ten, os.path.basename(skill)), symlinks=True)
        found.append(Corpus(name=name, root=root, ten=ten, skill=os.path.join(ten, os.path.basename(chosen[0]))))
    return found


def _of_median_length(root: str) -> list[str]:
    sizes = sorted((os.path.getsize(path), str(path.parent)) for path in Path(root).glob("*/SKILL.md"))
    middle = len(sizes) // 2
    near = [skill for _, skill in sorted(sizes, key=lambda one: abs(one[0] - sizes[middle][0]))]
    valid = (skill for skill in near if not any(fault.severity is Severity.ERROR for fault in validate_skill(skill)))
    return list(itertools.islice(valid, 10))


def public_skills() -> Path:
    """The folder of the public skills, which may not exist."""
    return Path(os.environ.get("PROWESS_PUBLIC_SKILLS") or ROOT / ".cache" / "public-skills")


def public_corpus(directory: str, count: int, folder: Path | None = None, *, after: int = 0) -> int:
    """Copy `count` public skills below `directory`, each in a folder with its own name, and return how many there are.

    They are those whose digests sort first among skills with different folder names; `after` so many are left out.

    Raises:
        CorpusMissingError: the folder of public skills does not exist.
    """
    folder = folder or public_skills()
    if not folder.is_dir():
        message = f"no public skills: run python -m tools.public_skills build {folder}"
        raise CorpusMissingError(message)
    chosen: dict[str, Path] = {}
    skills = [(digest, source, path) for source in pinned() for path, digest in source.skills.items()]
    for _, source, path in sorted(skills, key=lambda skill: skill[0]):
        place = folder / source.folder / path
        name = (source.folder if path == "." else path).rpartition("/")[2]
        if len(chosen) < after + count and place.is_dir():
            chosen.setdefault(name, place)
    copied = list(chosen.items())[after:]
    for name, place in copied:
        shutil.copytree(place, os.path.join(directory, name), symlinks=True)
    return len(copied)


def write_corpus(directory: str, count: int, *, seed: int = 7, files: bool = True, plain: bool = False) -> None:
    """Write `count` generated skills below `directory`; without `files` each has a SKILL.md alone.

    With `plain`, front matter has only fields of the specification, in forms that cause no warning.
    """
    for number in range(count):
        chance = random.Random(seed * 1_000_003 + number)
        name = f"{chance.choice(_DOES)}-{chance.choice(_THINGS)}-{number:06d}"
        rank = chance.random()
        others = _other_files(chance, rank)
        text = skill_text(chance, name, list(others), rank, plain=plain)
        _write(os.path.join(directory, name, "SKILL.md"), text)
        for path, size in others.items() if files else ():
            _write(os.path.join(directory, name, path), _file_text(chance, path, size))


def skill_text(
    chance: random.Random, name: str, others: list[str] | None = None, rank: float = 0.0, *, plain: bool = False
) -> str:
    """One SKILL.md; `rank` is that of its count of other files, and of the links and mentions that go with them."""
    return f"---\n{_front_matter(chance, name, plain=plain)}\n---\n\n{_body(chance, name, others or [], rank)}\n"


_statistics = functools.cache(read_statistics)


def _has(chance: random.Random, feature: str, *, of: float = 100.0) -> bool:
    """Draw whether a skill has the feature, as often as the public ones have it."""
    return chance.random() * of < _statistics().shares.get(feature, 0.0)


def _count(name: str, rank: float) -> int:
    """The value of a count at a rank between 0 and 1, by the quantiles of the public skills."""
    values, at = _statistics().quantiles[name], rank * 100
    upper = next((number for number, percent in enumerate(PERCENTS) if percent > at), None)
    if upper is None:
        return values[-1]
    low, high = PERCENTS[upper - 1], PERCENTS[upper]
    return round(values[upper - 1] + (values[upper] - values[upper - 1]) * (at - low) / (high - low))


def _sentence(chance: random.Random, least: int = 5, most: int = 14) -> str:
    return chance.choice(_sentences(least, most))


@functools.cache
def _sentences(least: int, most: int) -> list[str]:
    """Sentences to draw from; drawing each word of 10 000 skills would take a minute."""
    chance = random.Random(least)
    return [f"{' '.join(chance.choices(_WORDS, k=chance.randint(least, most))).capitalize()}." for _ in range(3000)]


def _text(chance: random.Random, length: int) -> str:
    text = ""
    while len(text) < length:
        text += f" {_sentence(chance)}"
    return text[1 : length + 1].strip()


def _front_matter(chance: random.Random, name: str, *, plain: bool) -> str:
    lines = [f"name: {name}", _description(chance)]
    shares = _statistics().shares
    for field, values in _VALUES.items():
        if (plain and field not in FIELDS) or not _has(chance, f"field {field}"):
            continue
        value = chance.choice(values)
        if field == "allowed-tools" and not plain and _has(chance, "flow list", of=shares["field allowed-tools"]):
            value = "[Read, Grep, Glob]"
        lines.append(f"{field}:{'' if value.startswith(chr(10)) else ' '}{value}")
    if _has(chance, "field metadata"):
        lines += ["metadata:", f"  author: {chance.choice(_THINGS)}-team", f'  version: "{chance.randint(0, 9)}.0"']
        if _has(chance, "comment in front matter", of=shares["field metadata"]):
            lines.append("  # reviewed twice a year")
        if not plain and _has(chance, "metadata nested", of=shares["field metadata"]):
            lines += ["  host:", "    homepage: https://example.org", "    requires:", "      - git"]
        else:
            lines.append(f"  category: {chance.choice(_THINGS)}")
    return "\n".join(lines)


def _description(chance: random.Random) -> str:
    text = _text(chance, max(30, _count("description characters", chance.random()))).replace("`", "")
    forms = [name for name in _statistics().shares if name.startswith("description ")]
    form = chance.choices(forms, [_statistics().shares[form] for form in forms])[0].removeprefix("description ")
    match form:
        case "double-quoted":
            return f'description: "{text[:-2]}: \\"so\\""'
        case "single-quoted":
            return f"description: '{text[:-5]}: it''s'"
        case "literal" | "folded":
            mark = "|" if form == "literal" else chance.choice((">", ">-"))
            return f"description: {mark}\n{textwrap.indent(textwrap.fill(text, 76), '  ')}"
        case "plain on several lines":
            return f"description: {textwrap.fill(text, 76, subsequent_indent='  ')}"
        case _:
            return f"description: {text}"


def _body(chance: random.Random, name: str, others: list[str], rank_of_files: float) -> str:
    """Blocks of each kind, as many as public bodies of this length have, and prose for the rest of the length."""
    rank = chance.random()
    wanted = _count("body characters", rank)
    items = [f"- {_sentence(chance)}" for _ in range(_count("list items", rank))]
    rows = ["| key | value |", "|---|---|"]
    rows += [f"| {chance.choice(_WORDS)} | {_sentence(chance, 3, 6)} |" for _ in range(_count("table lines", rank) - 2)]
    blocks = [f"## {_sentence(chance, 2, 5)[:-1]}" for _ in range(_count("headings", rank) - 1)]
    blocks += _groups(items, 5) + (_groups(rows, 12) if len(rows) > _TABLE_HEAD else [])
    blocks += _code_blocks(chance, _count("code blocks", rank), _count("code lines", rank))
    named = chance.sample(others, min(len(others), _count("other files named in the body", rank_of_files)))
    blocks += [f"Read `{path}` when needed." for path in named]
    blocks += _links(chance, others, _count("links", rank_of_files))
    size = sum(len(block) + 2 for block in blocks)
    while size < wanted:
        blocks.append(f"{_sentence(chance)} {_sentence(chance)}"[: max(20, wanted - size)])
        size += len(blocks[-1]) + 2
    chance.shuffle(blocks)
    if _has(chance, "beyond ASCII"):
        blocks.append("Ask first — then act.")
    return "\n\n".join([f"# {name}", *blocks])


def _groups(lines: list[str], size: int) -> list[str]:
    return ["\n".join(lines[at : at + size]) for at in range(0, len(lines), size)]


def _code_blocks(chance: random.Random, blocks: int, lines: int) -> list[str]:
    each = max(1, lines // blocks - 2) if blocks else 0
    code = [f"python3 tool.py --limit {chance.randint(1, 99)} input.json" for _ in range(each)]
    return ["\n".join(("```bash", *code, "```"))] * blocks


def _links(chance: random.Random, others: list[str], count: int) -> list[str]:
    """Links to files, to the web, or to both, as often as public skills have each."""
    shares = _statistics().shares
    to_file = _has(chance, "link to a file", of=shares["link"])
    both = shares["link to a file"] + shares["link to the web"] - shares["link"]
    to_web = not to_file or chance.random() < both / shares["link to a file"]
    web = [f"https://example.org/{thing}" for thing in _THINGS] if to_web or not others else []
    targets = web[:1] + (others if to_file else []) + web[1:]
    return [f"See [{chance.choice(_THINGS)}]({targets[number % len(targets)]}) first." for number in range(count)]


def _other_files(chance: random.Random, rank: float) -> dict[str, int]:
    """The paths and sizes of the files beside SKILL.md."""
    count, size = _count("other files", rank), _count("bytes of other files", rank)
    shares = {"": "files elsewhere", **{name: f"files in {name}/" for name in ("references", "scripts", "assets")}}
    folders = [name for name, share in shares.items() if count and _has(chance, share, of=90 * (1 - _none()))]
    folders = folders or ["references"]
    chance.shuffle(folders)
    paths = [f"{folder}/" if folder else "" for folder in folders]
    return {
        f"{paths[number % len(paths)]}{chance.choice(_THINGS)}-{number}.{_SUFFIXES[folders[number % len(paths)]]}": (
            size // count
        )
        for number in range(count)
    }


def _none() -> float:
    """The part of public skills that have no other file."""
    values = _statistics().quantiles["other files"]
    return PERCENTS[sum(value == 0 for value in values) - 1] / 100


def _file_text(chance: random.Random, path: str, size: int) -> str:
    if path.endswith(".py"):
        part = "".join(f"print({_sentence(chance)!r})\n" for _ in range(20))
    elif path.endswith(".json"):
        return '{{"text": "{}"}}\n'.format(("word " * (size // 5 + 1)).strip())
    else:
        part = f"# {path}\n\n" + "\n\n".join(_sentence(chance) for _ in range(20)) + "\n\n"
    return part * (size // len(part)) + part[: size % len(part)].rpartition("\n")[0] + "\n"


def write_skill(root: str, name: str, description: str) -> None:
    """Write a skill with this folder name and a description without double quotes and backslashes."""
    _write(os.path.join(root, name, "SKILL.md"), f'---\nname: {name}\ndescription: "{description}"\n---\n# {name}\n')


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


_CORPORA: dict[Literal["public", "generated"], Callable[[str, int], object]] = {
    "public": public_corpus,
    "generated": write_corpus,
}
