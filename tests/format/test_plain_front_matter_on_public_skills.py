"""The plain reader on the pinned public skills, and on mutations of public and generated front matter.

Without the public skills on this machine, only generated front matter is mutated.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks import corpora
from prowess.catalog.scan import HEAD_BYTES
from tests.format.two_readers import HEAD, agree
from tools.public_skills import pinned

pytestmark = pytest.mark.unmeasured

_PIECES = (
    *("", " ", ":", "#", " #", ": ", "'", '"', "''", "\n", "\n\n", "  ", "- ", "-", "\\", "[", "]", ",", "{", "}", "?"),
    *("? ", "!", "&a ", "*a", "|", ">", ">-", "%", "@", "`", "~", "\u2028", "\xa0", "\u3000", "\t", "\r", "<<", "..."),
    *("---", "\n---", ":x", ":,", "[]", " - ", "\n- ", "\n  - ", "\n    ", "null", "=", "\xe9", "1.0", "\0"),
)
_LINES = (
    *("", "  ", "# c", "  # c", "      # c", "- a", "  - a", "x: y", "  x: y", "Hooks: a", "scope: x", "k:", "  k:"),
    *("k: [a, b]", "    z: [a]", "name: b", "allowed-tools: Read", "disallowed_tools: Bash"),
)
_FORMS = (
    *("'{}'", '"{}"', "[{}]", "|\n  {}", ">-\n  {}", "\n  - {}", "\n- {}", "\n  k: {}", "{} # c", "{}\n  {}"),
    *("\n    - {}\n  - x", "\n  k:\n    l: {}\n  m: [a]"),
)
_DRAWN_KEYS = (
    "license",
    "compatibility",
    "allowed-tools",
    "metadata",
    "tags",
    "x",
    "hooks",
    "scope",
    "a.b",
    "1",
    "null",
)
_DRAWN_VALUES = (
    *(
        "a",
        "b c",
        "'q'",
        '"q"',
        "a:b",
        "a: b",
        "a #b",
        "- a",
        "-a",
        "? a",
        ":a",
        "a:",
        "[a]",
        "[a, b]",
        "[ a ,b ]",
        "[]",
    ),
    *(
        "['a', \"b\"]",
        "[a,]",
        "[a:b]",
        "[a: b]",
        "[a:,b]",
        "[a:?b]",
        "['a''b']",
        "[a]]",
        "[a # b]",
        "{a: b}",
        "|",
        ">-",
    ),
    *("''", "~", "[\xe9]", "a'b", "[a'b]", "[-a]", "[a ?b]", "[*a]", "Read, Grep", "[Bash(a:*), Read]", "[a] b", "%a"),
)


def _public() -> list[tuple[str, bytes]]:
    """Return directory name and SKILL.md of every pinned public skill on this machine."""
    folder = corpora.public_skills()
    found = []
    for source in pinned():
        for path in source.skills:
            file = folder / source.folder / path / "SKILL.md"
            if file.is_file():
                found.append(((source.folder if path == "." else path).rpartition("/")[2], file.read_bytes()))
    return found


def _generated() -> list[tuple[str, bytes]]:
    found = []
    for number in range(200):
        name = f"skill-{number}"
        found.append((name, corpora.skill_text(random.Random(number), name).encode()))
    cases = Path(__file__).parents[1] / "conformance" / "format-cases.json"
    for case in json.loads(cases.read_text(encoding="utf-8"))["cases"]:
        contents = [content for content in case["files"].values() if isinstance(content, str)]
        found += [(case["dir"].rpartition("/")[2], content.encode()) for content in contents]
    return found


@pytest.fixture(scope="module")
def public() -> list[tuple[str, bytes]]:
    if not (found := _public()):
        pytest.skip(
            "the public skills are not on this machine: python -m tools.public_skills build .cache/public-skills"
        )
    return found


def test_both_readers_read_the_same_number_of_bytes() -> None:
    assert HEAD == HEAD_BYTES


@pytest.mark.proves("catalog.read.plain")
@pytest.mark.proves("catalog.read.plain")
def test_nine_of_ten_public_skills_are_read_by_the_plain_reader_and_alike(public: list[tuple[str, bytes]]) -> None:
    taken = sum(agree(data, name) for name, data in public)
    assert taken >= 0.9 * len(public)


def test_mutations_of_public_skills_are_read_alike_or_handed_over(public: list[tuple[str, bytes]]) -> None:
    assert _hunt(public, 12_000) > 2000


@pytest.mark.proves("catalog.read.plain")
@pytest.mark.proves("catalog.read.plain")
def test_mutations_of_generated_skills_are_read_alike_or_handed_over() -> None:
    assert _hunt(_generated(), 6000) > 1000


def test_drawn_lists_and_maps_are_read_alike_or_handed_over() -> None:
    taken = 0
    for number in range(20_000):
        chance = random.Random(number)
        lines = ["name: a", "description: d", *(_drawn_line(chance) for _ in range(chance.randint(1, 5)))]
        taken += agree("---\n{}\n---\nB\n".format("\n".join(lines)).encode())
    assert taken > 300


def _drawn_line(chance: random.Random) -> str:
    indent = " " * chance.choice((0, 0, 0, 2, 2, 2, 4, 4, 1, 3, 6))
    kind = chance.random()
    if kind < 0.4:
        return f"{indent}{chance.choice(_DRAWN_KEYS)}: {chance.choice(_DRAWN_VALUES)}"
    if kind < 0.6:
        return f"{indent}{chance.choice(_DRAWN_KEYS)}:"
    if kind < 0.9:
        return f"{indent}-{' ' * chance.choice((1, 1, 1, 2, 0))}{chance.choice(_DRAWN_VALUES)}"
    return chance.choice(("", indent, f"{indent}# c"))


def _hunt(skills: list[tuple[str, bytes]], count: int) -> int:
    """Mutate front matter `count` times and compare the readers; return how often the plain reader answered."""
    taken = 0
    for number in range(count):
        chance = random.Random(number)
        name, data = chance.choice(skills)
        end = data[:HEAD].find(b"\n---", 3)
        if data.startswith(b"---\n") and end > 0:
            taken += agree(_mutated(chance, data[4:end]), name)
    return taken


def _mutated(chance: random.Random, front: bytes) -> bytes:
    front = bytes(front)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        front = _with_other_bytes(chance, front) if chance.random() < 0.55 else _with_other_lines(chance, front)
    return b"---\n" + front + b"\n---\nBody\n"


def _with_other_bytes(chance: random.Random, front: bytes) -> bytes:
    at = chance.randrange(len(front) + 1)
    if chance.random() < 0.2:
        return front[:at] + bytes([chance.randrange(256)]) + front[at + 1 :]
    return front[:at] + chance.choice(_PIECES).encode() + front[at + chance.randint(0, 2) :]


def _with_other_lines(chance: random.Random, front: bytes) -> bytes:
    lines = front.split(b"\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    line = lines[first]
    match chance.randrange(7):
        case 0:
            lines[first], lines[second] = lines[second], line
        case 1 | 2:
            lines[first] = b" " * chance.randint(1, 4) + line
        case 3:
            lines[first] = line[chance.randint(1, 3) :] if line[:1] == b" " else line.rstrip()
        case 4:
            lines[first : first + 1] = chance.choice(([], [line, lines[second]]))
        case 5:
            lines.insert(first, chance.choice(_LINES).encode())
        case _:
            key, colon, value = line.partition(b":")
            form = chance.choice(_FORMS).encode()
            lines[first] = key + colon + b" " + form.replace(b"{}", value.strip())
    return b"\n".join(lines)
