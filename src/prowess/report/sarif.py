"""Findings as SARIF 2.1.0, which code hosts show beside the code and editors import; fixes included.

Places count code points, as the tools that read SARIF are told by `columnKind`. A path stays relative where it was
given so, and is then seen from the root of the repository.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import quote

from prowess.diagnostics import Severity
from prowess.report.json_report import as_unicode, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.diagnostics import Diagnostic, Fix
    from prowess.format.document import SkillDocument
    from prowess.format.rules.meta import RuleMeta
    from prowess.report.checked import CheckedSkill

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}

Json = dict[str, object]


def sarif_document(skills: Sequence[CheckedSkill], rules: Mapping[str, RuleMeta]) -> Json:
    """Return the log as plain data: one run, the rules that found something, and a result for each finding.

    `rules` declare them, by id.
    """
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
    if found.fix is not None:
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
