"""Write the conformance kit's data from the cases of the tests.

tests/conformance/format-cases*.json are what our own tests read. The kit states the same without our test's
abbreviations: each file says what it holds, each case its topic, reason and sources, each profile accept or reject.

    python -m tools.conformance_cases            write src/prowess/conformance/cases.json
    python -m tools.conformance_cases --check    exit 1 where it is stale
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prowess.conformance import FORMAT, VERSION
from prowess.format import PROFILES
from prowess.lint.rule_page import rule_page

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[1]
SOURCES = tuple(ROOT / "tests" / "conformance" / f"{name}.json" for name in ("format-cases", "format-cases-more"))
TARGET = ROOT / "src" / "prowess" / "conformance" / "cases.json"

_SPECIFICATION = "Agent Skills specification"
_ABOUT = (
    "Skills as inputs, and what a reader of the Agent Skills format does with each: accept or reject, in six readings "
    "of the format. docs/reference/conformance.md says what each key means. Anybody may use these cases; please name "
    "the version."
)
# A topic, where the format speaks of it, and the rules and the cases without a rule that belong to it.
_TOPICS = {
    "files": (
        "which file is read, and its location",
        f"{_SPECIFICATION}, directory structure",
        r"file|directory",
        r"k18-.*|k19-.*|k2[0-6]-.*|k3[0789]-.*|k31-.*|k41-.*|k42-.*|k21-both|other-entries",
    ),
    "encoding": (
        "bytes, byte-order marks, line breaks, letters beyond ASCII",
        f"{_SPECIFICATION}, SKILL.md format",
        r"encoding",
        r"crlf|k3-.*|k16-.*|ls-.*",
    ),
    "fences": (
        "where the frontmatter begins and ends",
        f"{_SPECIFICATION}, frontmatter",
        r"frontmatter\.(?:missing|notFirst|unclosed|size)",
        r"plain|dashes-.*|rule-in-body|k6-.*|k7-.*|k8-.*|tolerance-only-frontmatter",
    ),
    "yaml": (
        "values in YAML notation, and invalid YAML",
        f"{_SPECIFICATION}, frontmatter",
        r"frontmatter\.(?:syntax|notMapping|duplicateKey)",
        r"literal-keep|empty-.*-in-metadata|wrapped-plain|k4-.*|k5-.*|comment-cuts|merge-quoted|k34-hash|optional-empty|example-.*",
    ),
    "unknown-fields": ("fields that the specification does not list", f"{_SPECIFICATION}, frontmatter",
                       r"frontmatter\.unknownField", r"(?!)"),
    "name": (
        "`name`: letters, length, type, and the directory's name",
        f"{_SPECIFICATION}, name field",
        r"name",
        r"name-64|k15-.*|tolerance-number-name",
    ),
    "description": (
        "`description`: present, a text, of bounded length",
        f"{_SPECIFICATION}, description field",
        r"description",
        r"description-1024|angle-brackets|banner-close-tag|k17-.*|k27-.*",
    ),
    "optional-fields": (
        "`license`, `compatibility` and `metadata`",
        f"{_SPECIFICATION}, license, compatibility and metadata fields",
        r"license|compatibility|metadata",
        r"metadata-quoted",
    ),
    "allowed-tools": (
        "`allowed-tools`: type, separators, patterns in parentheses",
        f"{_SPECIFICATION}, allowed-tools field",
        r"allowed-tools",
        r"tools-empty|k12-.*",
    ),
    "host-fields": (
        "fields of single hosts, and their values",
        "Claude Code documentation, skills",
        r"(?:model|context|agent|hooks|scope|execution|priority|tags|invocation|arguments|argument-hint|paths)\..*",
        r"vendor-.*",
    ),
    "body": ("the instructions after the frontmatter, and their length", f"{_SPECIFICATION}, body content",
             r"body", r"body-.*"),
    "references": (
        "links from the body to files of the skill",
        f"{_SPECIFICATION}, file references",
        r"reference",
        r"k28-.*|k36-.*",
    ),
}  # fmt: skip


def document() -> dict[str, Any]:
    """Return the kit's data: format, version, profiles, topics, rules and cases.

    Raises:
        ValueError: a case belongs to no topic; the text says what to do.
    """
    given = [case for path in SOURCES for case in json.loads(path.read_text(encoding="utf-8"))["cases"]]
    cases = [_case(case) for case in given]
    rules = sorted({rule for case in cases for said in case["expect"].values() for rule in _named(said)})
    return {
        "format": FORMAT,
        "version": VERSION,
        "about": _ABOUT,
        "profiles": {name: {"about": profile.summary, "source": profile.source} for name, profile in PROFILES.items()},
        "topics": {name: {"about": about, "source": source} for name, (about, source, _, _) in _TOPICS.items()},
        "rules": {rule: rule_page(rule).summary for rule in rules},
        "cases": cases,
    }


def text() -> str:
    """Return the document as its file has it: one line for each input and each expectation, so that changes show."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def _case(case: dict[str, Any]) -> dict[str, Any]:
    topic = _topic(case)
    result: dict[str, Any] = {
        "id": case["id"],
        "topic": topic,
        "reason": case["why"],
        "sources": _sources(case, topic),
        "directory": case["dir"],
        "files": _contents(case["files"]),
    }
    if case.get("around"):
        result["around"] = _contents(case["around"])
    result["expect"] = {profile: _expectation(case[profile]) for profile in PROFILES}
    if "discovered" in case:
        result["discovered"] = {"root": case.get("root", "."), "names": case["discovered"]}
    return result


def _topic(case: dict[str, Any]) -> str:
    for name, (_, _, _, ids) in _TOPICS.items():
        if re.fullmatch(ids, case["id"]):
            return name
    # What is wrong decides before what is only remarked on, and the specification before the other readings.
    for key in ("rules", "notes"):
        for profile in PROFILES:
            for rule in case[profile].get(key, ()):
                for name, (_, _, rules, _) in _TOPICS.items():
                    if re.fullmatch(rf"(?:{rules})(?:\..*)?", rule):
                        return name
    raise ValueError(f"case {case['id']} belongs to no topic: add its id to one in tools/conformance_cases.py")


def _sources(case: dict[str, Any], topic: str) -> list[str]:
    other = [PROFILES[name].source for name in PROFILES if case[name]["valid"] is not case["spec"]["valid"]]
    return [_TOPICS[topic][1], *other]


def _contents(files: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"text": content} if isinstance(content, str) else content for name, content in files.items()}


def _expectation(said: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"outcome": "accept" if said["valid"] else "reject"}
    for key in ("rules", "notes"):
        if said.get(key):
            result[key] = sorted(said[key])
    result |= {key: said[key] for key in ("line", "column") if key in said}
    known = {"valid", "loads", "rules", "notes", "line", "column", "only", "messages"}
    read = {key: value for key, value in said.items() if key not in known}
    return result | ({"read": read} if read else {})


def _named(said: Mapping[str, Any]) -> list[str]:
    return [*said.get("rules", ()), *said.get("notes", ())]


def main(arguments: list[str]) -> int:
    """Write the file, or say that it is stale."""
    wanted = text()
    stale = not TARGET.exists() or TARGET.read_text(encoding="utf-8") != wanted
    if "--check" in arguments:
        if stale:
            sys.stderr.write(f"{TARGET.relative_to(ROOT)} is stale: run make docs\n")
        return 1 if stale else 0
    if stale:
        TARGET.write_text(wanted, encoding="utf-8")
        print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
