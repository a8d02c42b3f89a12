"""The cases of the format as values, and how one becomes files.

A case is a skill's directory with its files, what lies around it, and for each profile whether a reader accepts it.
`cases.json` is written from our own tests' files and holds nothing of this library but the ids of its rules.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping  # noqa: TC003 -- msgspec reads it when cases are decoded
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.json import decode

from prowess._internal.globs import fits_text
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = "agent-skills-conformance"
VERSION = 1

Outcome = Literal["accept", "reject"]


class Expectation(Struct, frozen=True, kw_only=True):
    """What a profile makes of a case. `rules`: the ids of its errors; `notes`: ids that are reported below error."""

    outcome: Outcome
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Case(Struct, frozen=True, kw_only=True):
    """One input and its outcomes.

    `directory` is the skill's, relative to the case's folder; `files` are relative to the skill's directory, `around`
    to the case's folder. A content is `{"text": ...}`, `{"base64": ...}` or `{"link": target}`. `sources` says where
    the format speaks of it, then whose readings differ from the specification's.
    """

    id: str
    topic: str
    reason: str
    sources: tuple[str, ...]
    directory: str
    files: Mapping[str, Mapping[str, str]]
    expect: Mapping[str, Expectation]
    around: Mapping[str, Mapping[str, str]] = {}

    def lay_out(self, folder: str) -> str:
        """Write the files below `folder`, which is made, and return the path of the skill's directory.

        Raises:
            OSError: a file cannot be written, for example a link where there are none, or two names that this file
                system takes for one.
        """
        skill = os.path.join(folder, self.directory)
        os.makedirs(skill)
        for base, contents in ((skill, self.files), (folder, self.around)):
            for name, content in contents.items():
                path = os.path.join(base, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if "link" in content:
                    os.symlink(content["link"], path)
                    continue
                with open(path, "xb") as file:
                    file.write(base64.b64decode(content["base64"]) if "base64" in content else content["text"].encode())
        return skill


class Suite(Struct, frozen=True, kw_only=True):
    """All cases of one version. `digest` is the SHA-256 of the file as it is shipped, for whoever cites it."""

    version: int
    digest: str
    profiles: Mapping[str, str]
    topics: Mapping[str, str]
    rules: Mapping[str, str]
    cases: tuple[Case, ...]

    def select(self, terms: Sequence[str]) -> tuple[Case, ...]:
        """Return the cases that a term names: a topic, an id, or a pattern of ids such as `k4-*`. No term means all.

        Raises:
            InvalidArgumentsError: a term names nothing.
        """
        if not terms:
            return self.cases
        chosen: set[str] = set()
        for term in terms:
            found = {case.id for case in self.cases if case.topic == term or fits_text(case.id, term)}
            if not found:
                known = ", ".join(self.topics)
                raise InvalidArgumentsError(
                    (f"no case or topic is called {term!r}; topics: {known}; ids: prowess conformance --cases",)
                )
            chosen |= found
        return tuple(case for case in self.cases if case.id in chosen)


def suite_text() -> str:
    """Return the data as it is shipped, one JSON document."""
    return files("prowess.conformance").joinpath("cases.json").read_text(encoding="utf-8")


class _Theme(Struct, frozen=True, kw_only=True):
    about: str


class _Document(Struct, frozen=True, kw_only=True):
    """`cases.json`, as far as it is read here; `cases_schema` describes all of it."""

    version: int
    profiles: Mapping[str, _Theme]
    topics: Mapping[str, _Theme]
    rules: Mapping[str, str]
    cases: tuple[Case, ...]


@cache
def suite() -> Suite:
    """Return the cases that are shipped with this version."""
    text = suite_text()
    document = decode(text, type=_Document)
    return Suite(
        version=document.version,
        digest=f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        profiles={name: profile.about for name, profile in document.profiles.items()},
        topics={name: topic.about for name, topic in document.topics.items()},
        rules=document.rules,
        cases=document.cases,
    )
