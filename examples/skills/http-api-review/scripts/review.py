#!/usr/bin/env python3
"""Review an OpenAPI 3 description offline, alone or against an older version.

Reads JSON or plain YAML from the working directory. Standard library only, nothing is called.

Exit codes: 0 no errors, 1 at least one error or breaking change, 2 wrong command line or unreadable file, 3 not an
OpenAPI 3 description.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from breaking import breaking_changes
from plain_yaml import PlainYamlError, parse
from rules import Finding, operations, review

SEVERITIES = ("error", "warning", "advice")


class InputError(Exception):
    """A file that cannot be used; `code` is the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def main() -> int:
    """Run the command line; return the exit code."""
    options = _arguments().parse_args()
    try:
        description = _load(options.file)
        findings = review(description)
        if options.against:
            findings += breaking_changes(_load(options.against), description)
    except InputError as fault:
        sys.stderr.write(f"review.py: {fault}\n")
        return fault.code
    findings.sort(key=lambda one: (SEVERITIES.index(one.severity), one.rule, one.place))
    count = {severity: sum(1 for one in findings if one.severity == severity) for severity in SEVERITIES}
    if options.json:
        print(json.dumps({"counts": count, "findings": [vars(one) for one in findings]}, indent=2))
    else:
        _print(findings, count, len(list(operations(description))))
    return 1 if count["error"] else 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Review an OpenAPI 3 description.",
        epilog="Example: review.py openapi.yaml --against openapi-v1.yaml",
    )
    parser.add_argument("file", help="OpenAPI 3 description, JSON or plain YAML")
    parser.add_argument("--against", metavar="OLD", help="also report what breaks clients of this older version")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _load(name: str) -> dict:
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
        value = json.loads(text) if text.lstrip().startswith("{") else parse(text)
    except (OSError, UnicodeDecodeError) as fault:
        message = f"cannot read {name}: {fault}"
        raise InputError(message, 2) from fault
    except json.JSONDecodeError as fault:
        message = f"{name}:{fault.lineno}:{fault.colno} is not JSON: {fault.msg}"
        raise InputError(message, 2) from fault
    except (PlainYamlError, RecursionError) as fault:
        message = f"{name}: {fault}; convert the file to JSON first"
        raise InputError(message, 2) from fault
    if not isinstance(value, dict) or not str(value.get("openapi", "")).startswith("3."):
        message = f"{name} is not an OpenAPI 3 description: it needs a line such as openapi: 3.1.0"
        raise InputError(message, 3)
    if not isinstance(value.get("paths", {}), dict):
        message = f"{name}: paths must be an object"
        raise InputError(message, 3)
    return value


def _print(findings: list[Finding], count: dict[str, int], size: int) -> None:
    width = max((len(one.rule) for one in findings), default=0)
    for one in findings:
        print(f"{one.severity.ljust(8)} {one.rule.ljust(width)}  {one.place}: {one.message}")
    said = [
        f"{count['error']} error{'s' * (count['error'] != 1)}",
        f"{count['warning']} warning{'s' * (count['warning'] != 1)}",
    ]
    print(f"{', '.join(said)}, {count['advice']} advice in {size} operations")


if __name__ == "__main__":
    sys.exit(main())
