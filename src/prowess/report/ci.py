"""Reports for CI servers: workflow commands of GitHub Actions, JUnit XML, and SARIF 2.1.0.

Code hosts show SARIF beside the code, and editors import SARIF, including its fixes. Columns count code points, as
`columnKind` declares. If a path was given as a relative path, the report has that relative path. Code hosts take that
path as relative to the root of the repository.
"""

from __future__ import annotations

import html
import os
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import quote

from prowess._internal.text.terminal_text import printable_line
from prowess.diagnostics import Severity
from prowess.report.json_report import as_unicode, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.diagnostics import Diagnostic, Fix
    from prowess.format.document import SkillDocument
    from prowess.format.rules.meta import RuleMeta
    from prowess.report.checked import CheckedSkill

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def github_lines(skills: Sequence[CheckedSkill]) -> Iterator[str]:
    """Yield one workflow command for each finding. Texts from files are escaped, so they cannot add commands."""
    for skill in skills:
        for found in skill.diagnostics:
            properties = ",".join(_properties(found))
            yield f"::{_COMMANDS[found.severity]} {properties}::{_data(found.message)}"


def _properties(found: Diagnostic) -> Iterator[str]:
    location = found.location
    if location.path is not None:
        yield f"file={_data(location.path).replace(':', '%3A').replace(',', '%2C')}"
        yield f"line={location.line}"
        if location.end_line in {None, location.line}:  # GitHub refuses columns of a range over several lines
            yield f"col={location.column}"
        if location.end_line is not None:
            yield f"endLine={location.end_line}"
        if location.end_line == location.line and location.end_column is not None:
            # GitHub includes the last column; ours is exclusive
            yield f"endColumn={max(location.end_column - 1, location.column)}"
    yield f"title={found.rule}"


def _data(text: str) -> str:
    return printable_line(text).replace("%", "%25")


def junit_lines(skills: Sequence[CheckedSkill]) -> Iterator[str]:
    """Yield the JUnit document by line: one test case for each skill, errors as `failure`, others in `system-out`."""
    counts = f'tests="{len(skills)}" failures="{sum(not skill.valid for skill in skills)}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="prowess" {counts}>'
    yield f'  <testsuite name="prowess check" {counts} errors="0" skipped="0">'
    for skill in skills:
        head = f'    <testcase classname="{xml_text(skill.path)}" name="{xml_text(skill.name or skill.path)}"'
        errors = [found for found in skill.diagnostics if found.severity is Severity.ERROR]
        others = [found for found in skill.diagnostics if found.severity is not Severity.ERROR]
        if not skill.diagnostics:
            yield f"{head}/>"
            continue
        yield f"{head}>"
        if errors:
            yield f'      <failure type="{xml_text(errors[0].rule)}" message="{xml_text(errors[0].message)}">'
            yield from map(_line, errors)
            yield "      </failure>"
        if others:
            yield "      <system-out>"
            yield from map(_line, others)
            yield "      </system-out>"
        yield "    </testcase>"
    yield "  </testsuite>"
    yield "</testsuites>"


def _line(found: Diagnostic) -> str:
    return xml_text(f"{found.location} {found.severity.value} {found.rule}: {found.message}")


def xml_text(text: str) -> str:
    """Return a text of a file for XML, as one line."""
    # XML cannot contain U+FFFE and U+FFFF; `printable_line` has escaped all other forbidden characters.
    return html.escape(printable_line(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff"))


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = dict[str, object]


def sarif_document(skills: Sequence[CheckedSkill], rules: Mapping[str, RuleMeta]) -> Json:
    """Return the SARIF log as plain data: one run, with findings and their rules. `rules` are declarations by id."""
    fired = {found.rule: found for skill in skills for found in skill.diagnostics}
    release = version("prowess")
    order = {rule: at for at, rule in enumerate(sorted(fired))}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Prowess",
                        "version": release,
                        "semanticVersion": release,
                        "rules": [_rule(fired[rule], rules.get(rule)) for rule in order],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(found, skill.document, order[found.rule]) for skill in skills for found in skill.diagnostics
                ],
            }
        ],
    }


def _rule(found: Diagnostic, declared: RuleMeta | None) -> Json:
    summary = found.rule if declared is None else declared.summary
    level = found.severity if declared is None else declared.severity
    return {
        "id": found.rule,
        "shortDescription": {"text": summary},
        "defaultConfiguration": {"level": _LEVELS[level]},
        "properties": {"tags": [found.family]},
    }


def _result(found: Diagnostic, document: SkillDocument, index: int) -> Json:
    location = found.location
    result: Json = {
        "ruleId": found.rule,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": as_unicode(found.message)},
        "partialFingerprints": {"prowess/v1": fingerprint(found, document)},
    }
    if location.path is None:
        return result
    region = {"startLine": location.line, "startColumn": location.column}
    if location.end_line is not None and location.end_column is not None:
        region |= {"endLine": location.end_line, "endColumn": location.end_column}
    result["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(location.path), "region": region}}]
    if found.fix is not None and found.fix.edits:
        result["fixes"] = [_fix(found.fix, location.path)]
    return result


def _fix(fix: Fix, path: str) -> Json:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": as_unicode(edit.text)},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": as_unicode(fix.title)},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
    }


def _artifact(path: str) -> Json:
    raw = path.replace(os.sep, "/").encode("utf-8", "surrogateescape")
    if os.path.isabs(path):
        return {"uri": f"file://{quote(raw, safe='/')}"}
    return {"uri": quote(raw, safe="/"), "uriBaseId": "%SRCROOT%"}
