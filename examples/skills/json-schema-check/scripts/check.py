#!/usr/bin/env python3
"""Check JSON documents against a JSON Schema and report every fault with its place.

Standard library only: the keywords are a subset of draft 2020-12 (references/KEYWORDS.md has the list); what lies
outside it is named, never passed over in silence.

Exit codes: 0 all documents valid, 1 at least one is not, 2 wrong command line or unreadable file, 3 broken schema.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from subset import Checker, SchemaError

MAX_SHOWN = 50


class InputError(Exception):
    """A file that cannot be read as JSON."""


def main() -> int:
    """Run the command line; return the exit code."""
    options = _arguments().parse_args()
    try:
        checker = Checker(_load(options.schema), formats=options.formats)
        results = [
            (name, checker.faults(value)) for path in options.documents for name, value in _documents(path, options)
        ]
    except InputError as fault:
        sys.stderr.write(f"check.py: {fault}\n")
        return 2
    except SchemaError as fault:
        sys.stderr.write(f"check.py: the schema {options.schema} is broken: {fault}\n")
        return 3
    if options.json:
        documents = [{"document": name, "valid": not faults, "faults": faults} for name, faults in results]
        print(
            json.dumps(
                {"documents": documents, "not_checked": sorted(checker.not_checked)}, indent=2, ensure_ascii=False
            )
        )
    else:
        _print(results, checker.not_checked)
    return 1 if any(faults for _, faults in results) else 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Check JSON documents against a JSON Schema.",
        epilog="Example: check.py order.schema.json order.json",
    )
    parser.add_argument("schema", help="the JSON Schema")
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT", help="JSON files, or - for standard input")
    parser.add_argument("--lines", action="store_true", help="documents are JSON Lines: one value a line")
    parser.add_argument("--formats", action="store_true", help="check `format` too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _documents(path: str, options: argparse.Namespace) -> list[tuple[str, object]]:
    if not options.lines:
        return [(path, _load(path))]
    lines = enumerate(_text(path).splitlines(), 1)
    return [(f"{path}:{number}", _parse(f"{path}:{number}", line)) for number, line in lines if line.strip()]


def _text(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        message = f"cannot read {path}: {fault}"
        raise InputError(message) from fault


def _load(path: str) -> object:
    return _parse(path, _text(path))


class _Doubled(dict):
    """An object that had a key twice; the first of them is kept by name."""

    doubled = ""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) == len(keys):
        return dict(pairs)
    kept = _Doubled(pairs)
    kept.doubled = next(key for key in keys if keys.count(key) > 1)
    return kept


def _constant(text: str) -> object:
    message = f"{text} is not JSON"
    raise ValueError(message)


def _parse(name: str, text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except RecursionError as fault:
        message = f"{name} is nested too deeply"
        raise InputError(message) from fault
    except json.JSONDecodeError as fault:
        message = f"{name}:{fault.lineno}:{fault.colno} is not JSON: {fault.msg}"
        raise InputError(message) from fault
    except ValueError as fault:
        message = f"{name} cannot be read: {fault}"
        raise InputError(message) from fault


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        message = f"the number {text} is too large"
        raise ValueError(message)
    return number


def _print(results: list[tuple[str, list[dict[str, str]]]], not_checked: set[str]) -> None:
    for name, faults in results:
        if not faults:
            print(f"{name}: valid" + (" as far as checked" if not_checked else ""))
            continue
        print(f"{name}: {len(faults)} fault{'s' if len(faults) > 1 else ''}")
        width = min(40, max(len(fault["at"]) for fault in faults[:MAX_SHOWN]))
        for fault in faults[:MAX_SHOWN]:
            print(f"  {fault['at'].ljust(width)}  {fault['rule']}: {fault['message']}")
        if len(faults) > MAX_SHOWN:
            print(f"  {len(faults) - MAX_SHOWN} more; --json lists all")
    for keyword in sorted(not_checked):
        print(f"not checked: {keyword}")


if __name__ == "__main__":
    sys.exit(main())
