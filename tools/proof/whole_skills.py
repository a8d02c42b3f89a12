"""Whole frontmatters and whole skills, as the profile `boxxy` judges them.

A skill is drawn as values, with a fault in few of its fields. The model is asked about the values; our code is given
the text of a SKILL.md that says the same.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from prowess._internal.files import contained
from prowess.diagnostics import Severity
from prowess.errors import UnsafePathError
from prowess.format import parsing, reading
from prowess.format.source import plain_front_matter
from tools.proof.questions import absent_or, escaped, items
from tools.proof.subjects import SEED

if TYPE_CHECKING:
    from collections.abc import Iterator

_T = TypeVar("_T")
_HARMLESS = 0.7
_NAMES = ("pdf", "pdf-processing", "a" * 64, "a" * 65, "-pdf", "pdf-", "a--b", "Pdf", "pdf_x", "caf\u00e9", "0")
_DESCRIPTIONS = ("d", "what and when", "d" * 1024, "d" * 1025, "\u6570" * 1024, "")
_LICENSES = (None, "MIT", "Proprietary. LICENSE.txt has full terms")
_COMPATIBILITIES = (None, "Python 3.9", "c" * 500, "c" * 501, "\U0001d41a" * 500)
_METADATA = ((), ("author",), ("author", "version"), ("author", "version", "author"), ("",))
_UNKNOWN = ((), (), (), ("model",), ("Name",), ("tags",))
_TOOLS = ("", "Read", "Bash(git *) Read", "Bash(git", "Bash ()", "Read, Write", ",Read")
_BODIES = ("", "text\n", "a\n" * 500, "a\n" * 501, "a\n" * 499 + "a", "a\n" * 500 + "a")
_RESOURCES = ("scripts/run.py", "references/a..b.md", "./a//b", "../x", "/etc/passwd", "a/../b", "C:x", "", "a\\b")
_FILES = (("SKILL.md",), ("skill.md", "README.md"), ("SKILL.md", "skill.md"))


class _Skill(NamedTuple):
    name: str
    description: str
    license: str | None
    compatibility: str | None
    metadata: tuple[str, ...]
    unknown: tuple[str, ...]
    tools: str
    body: str
    resources: tuple[str, ...]
    directory: str
    files: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields as they stand in the frontmatter."""
        optional = (
            ("license", self.license), ("compatibility", self.compatibility), ("metadata", self.metadata or None),
            ("allowed-tools", self.tools or None),
        )  # fmt: skip
        return ("name", "description", *(key for key, value in optional if value is not None), *self.unknown)

    def front(self) -> str:
        """The arguments of the question about the frontmatter."""
        fields = (
            items(self.keys), escaped(self.name), escaped(self.description), absent_or(self.license),
            absent_or(self.compatibility), items(self.metadata), escaped(self.tools),
        )  # fmt: skip
        return "\t".join(fields)

    def text(self, body: str) -> str:
        """The SKILL.md that says the same."""
        values = {"license": self.license, "compatibility": self.compatibility, "allowed-tools": self.tools}
        lines = ["---", f"name: '{self.name}'", f"description: '{self.description}'"]
        for key in self.keys[2:]:
            if key == "metadata":
                lines += ["metadata:", *(f"  {entry}: x" for entry in self.metadata)]
            else:
                lines.append(f"{key}: '{values.get(key, 'x')}'")
        return "\n".join([*lines, "---", body])


def fronts() -> Iterator[tuple[str, str]]:
    """Frontmatter alone.

    A catalog asks a reader of plain frontmatter first. If that reader answers without findings, it takes the skill
    as faultless, so the model has to accept the frontmatter.
    """
    for skill in _drawn(6000):
        question, text = f"front\t{skill.front()}", skill.text("")
        yield question, _bit(_accepted(text, None))
        plain = plain_front_matter.read_plain_skill(text.encode(), skill.name, complete=True)
        if plain is not None and not plain.has_findings:
            yield question, "1"


def skills() -> Iterator[tuple[str, str]]:
    """Frontmatter, directory, body and resources."""
    for skill in _drawn(4000):
        accepted = _accepted(skill.text(skill.body), skill.directory) and all(map(_stays_inside, skill.resources))
        where = (escaped(skill.directory), items(skill.files), escaped(skill.body), items(skill.resources))
        yield "\t".join(("skill", skill.front(), *where)), _bit(accepted)


def _drawn(count: int) -> Iterator[_Skill]:
    draw = random.Random(SEED)  # noqa: S311 -- the same skills on every run are wanted

    def mostly(values: tuple[_T, ...]) -> _T:
        # Were every field drawn evenly, hardly a skill would be valid.
        return values[0] if draw.random() < _HARMLESS else draw.choice(values)

    for _ in range(count):
        name = mostly(_NAMES)
        yield _Skill(
            name=name,
            description=mostly(_DESCRIPTIONS),
            license=mostly(_LICENSES),
            compatibility=mostly(_COMPATIBILITIES),
            metadata=mostly(_METADATA),
            unknown=mostly(_UNKNOWN),
            tools=mostly(_TOOLS),
            body=mostly(_BODIES),
            resources=tuple(mostly(_RESOURCES) for _ in range(draw.randint(0, 2))),
            directory=mostly((name, "another")),
            files=mostly(_FILES),
        )


def _accepted(text: str, directory: str | None) -> bool:
    document = parsing.parse_source(text, directory=None if directory is None else f"/skills/{directory}")
    findings = reading.validate_skill(document, profile="boxxy")
    return not any(found.severity is Severity.ERROR for found in findings)


def _stays_inside(path: str) -> bool:
    try:
        contained.check_relative(path)
    except UnsafePathError:
        return False
    return True


def _bit(value: bool) -> str:  # noqa: FBT001 -- it is the value
    return "1" if value else "0"
