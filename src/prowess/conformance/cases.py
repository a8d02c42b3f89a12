"""The test cases as values, writing a case to files, and the JSON Schema of all cases.

A case is a skill's directory with its files, files around it, and the expected outcome for each profile. `cases.json`
is generated from the test files of Prowess. It does not depend on this library, except for the ids of its rules.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping  # noqa: TC003 -- msgspec needs it to decode cases
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.json import decode

from prowess._internal.globs import fits_text
from prowess.errors import InvalidArgumentsError
from prowess.format.fields.frontmatter_schema import DIALECT

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = "agent-skills-conformance"
VERSION = 1

Outcome = Literal["accept", "reject"]
Schema = dict[str, object]

_TEXT: Schema = {"type": "string", "minLength": 1}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_RULES: Schema = {"type": "array", "items": _TEXT, "uniqueItems": True}


class Expectation(Struct, frozen=True, kw_only=True):
    """The expected result in one profile. `rules` are the ids of errors, `notes` those of lower severities."""

    outcome: Outcome
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Case(Struct, frozen=True, kw_only=True):
    """One input and its expected outcomes.

    `directory` is the skill's directory, relative to the folder of the case. `files` are relative to the skill's
    directory, `around` to the folder of the case. A content is `{"text": ...}`, `{"base64": ...}` or `{"link":
    target}`. `sources` names the sections of the format that the case tests, then the profiles that differ from it.
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
        """Create `folder` with the files of the case. Return the path of the skill's directory.

        Raises:
            OSError: a file cannot be written, for example because the file system has no links or ignores case.
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
    """All cases of one version. `digest` is the SHA-256 of the shipped file, for citing it."""

    version: int
    digest: str
    profiles: Mapping[str, str]
    topics: Mapping[str, str]
    rules: Mapping[str, str]
    cases: tuple[Case, ...]

    def select(self, terms: Sequence[str]) -> tuple[Case, ...]:
        """Return the cases named by terms: topics, ids, or patterns of ids such as `k4-*`. No terms select all.

        Raises:
            InvalidArgumentsError: a term matches no case.
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
    """Return the shipped cases as JSON text."""
    return files("prowess.conformance").joinpath("cases.json").read_text(encoding="utf-8")


class _Theme(Struct, frozen=True, kw_only=True):
    about: str


class _Document(Struct, frozen=True, kw_only=True):
    """The parts of `cases.json` that this module reads; `cases_schema` describes the whole file."""

    version: int
    profiles: Mapping[str, _Theme]
    topics: Mapping[str, _Theme]
    rules: Mapping[str, str]
    cases: tuple[Case, ...]


@cache
def suite() -> Suite:
    """Return the cases shipped with this version."""
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


def cases_schema() -> Schema:
    """Return the schema of `cases.json`. Every object is closed, so a new key needs a new version."""
    return {
        "$schema": DIALECT,
        "title": "Conformance cases of the Agent Skills format",
        **_object(
            {
                "format": {"const": FORMAT},
                "version": {"const": VERSION},
                "about": _TEXT,
                "profiles": _table(_object({"about": _TEXT, "source": _TEXT})),
                "topics": _table(_object({"about": _TEXT, "source": _TEXT})),
                "rules": {**_table(_TEXT), "description": "The requirement of each rule, by its id."},
                "cases": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/case"}},
            }
        ),
        "$defs": {"case": _case(), "files": _files(), "expectation": _expectation()},
    }


def _case() -> Schema:
    return _object(
        {
            "id": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "topic": {**_TEXT, "description": "A key of `topics`."},
            "reason": {**_TEXT, "description": "What the case is about."},
            "sources": {
                **_TEXTS,
                "minItems": 1,
                "description": "Sections of the format; then the profiles' sources that differ from the specification.",
            },
            "directory": {**_TEXT, "description": "The skill's directory, relative to the folder of the case."},
            "files": {"$ref": "#/$defs/files", "description": "Relative to the skill's directory."},
            "around": {"$ref": "#/$defs/files", "description": "Relative to the folder of the case."},
            "expect": {
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/expectation"},
                "minProperties": 1,
                "description": "By profile, a key of `profiles`.",
            },
            "discovered": {
                **_object({"root": _TEXT, "names": _TEXTS}),
                "description": "The names that a search of `root`, relative to the folder of the case, offers.",
            },
        },
        optional=("around", "discovered"),
    )


def _files() -> Schema:
    content = {
        "oneOf": [
            _object({"text": {"type": "string", "description": "Written unchanged, in UTF-8."}}),
            _object({"base64": {"type": "string", "contentEncoding": "base64"}}),
            _object({"link": {**_TEXT, "description": "The target of a symbolic link."}}),
        ]
    }
    return {"type": "object", "additionalProperties": content}


def _expectation() -> Schema:
    place: Schema = {"type": "integer", "minimum": 1}
    return _object(
        {
            "outcome": {"enum": ["accept", "reject"]},
            "rules": {**_RULES, "description": "The ids of all errors."},
            "notes": {**_RULES, "description": "Ids that are reported below error."},
            "line": {**place, "description": "Of the first error of the first of the rules, 1-based."},
            "column": {**place, "description": "In code points, 1-based."},
            "read": {"type": "object", "description": "Values as they are read, for readers that load the skill."},
        },
        optional=("rules", "notes", "line", "column", "read"),
    )


def _object(properties: dict[str, object], *, optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _table(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values, "minProperties": 1}
