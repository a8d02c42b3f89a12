#!/usr/bin/env python3
"""Summarise a CSV file as Markdown tables and draw one SVG chart.

Reads FILE from the working directory, prints the report to standard output and writes the chart to $OUT where that
is set, else to the working directory. Standard library only; nothing is asked and nothing is fetched.

Exit codes: 0 complete, 1 the file cannot be read or has no data rows, 2 wrong command line, 3 a named column is
missing or is not a number.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import io
import os
import re
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from chart import Bar, columns, horizontal_bars

MISSING = {"", "-", "n/a", "na", "null", "none", "nan"}
MAX_GROUPS = 12
MAX_DAYS, MAX_WEEK_DAYS = 45, 280  # a span up to which days, then weeks, are drawn
MAX_BYTES = 64 * 1024 * 1024
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?\Z")
MEASURES = {"sum": sum, "mean": statistics.fmean, "median": statistics.median, "count": len}


class ReportError(Exception):
    """A reason to stop, with the exit code that says which."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Column:
    """One column: its cells as written, and as numbers or dates where all filled cells are that."""

    name: str
    cells: list[str]
    kind: str  # number, date, text
    values: list[float | dt.date | str | None]

    @property
    def filled(self) -> list[float | dt.date | str]:
        """The cells that are not missing."""
        return [value for value in self.values if value is not None]


def main() -> int:
    """Run the command line; return the exit code."""
    options = _arguments().parse_args()
    try:
        return _report(options)
    except ReportError as fault:
        sys.stderr.write(f"report.py: {fault}\n")
        return fault.code


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Summarise a CSV file and draw one SVG chart.",
        epilog="Example: report.py march.csv --value revenue --by region",
    )
    parser.add_argument("file", help="CSV or TSV file with a header row, or - for standard input")
    parser.add_argument("--value", metavar="COLUMN", help="numeric column to measure (default: the last one)")
    parser.add_argument(
        "--by", metavar="COLUMN", help="column to split by (default: a text column with few values, else a date)"
    )
    parser.add_argument(
        "--measure", choices=list(MEASURES), default="sum", help="how to combine the values of a group (default: sum)"
    )
    parser.add_argument(
        "--period", choices=["day", "week", "month"], help="step of a date split (default: by the length of the data)"
    )
    parser.add_argument(
        "--decimal", choices=["auto", "point", "comma"], default="auto", help="spelling of numbers (default: auto)"
    )
    parser.add_argument("--encoding", default="utf-8-sig", help="encoding of the file (default: utf-8)")
    parser.add_argument(
        "--chart", metavar="NAME", default="chart.svg", help="file name of the chart (default: chart.svg)"
    )
    parser.add_argument("--no-chart", action="store_true", help="print the tables alone")
    parser.add_argument("--why", metavar="COLUMN", help="show why a column was not taken for numbers, and stop")
    return parser


def _report(options: argparse.Namespace) -> int:
    if Path(options.chart).name != options.chart:
        message = f"--chart takes a file name, not a path: {options.chart}"
        raise ReportError(message, 2)
    header, rows, delimiter, left_out = _read(options.file, options.encoding)
    comma = options.decimal == "comma" or (options.decimal == "auto" and delimiter == ";")
    table = {
        name: _column(name, [row[index].strip() for row in rows], comma=comma) for index, name in enumerate(header)
    }
    if options.why:
        _explain(_find(table, options.why), comma=comma)
        return 0
    print(f"# {Path(options.file).name}: {len(rows)} rows, {len(header)} columns\n")
    print(_columns_table(table))
    notes = [f"{left_out} rows have another number of cells than the header and were left out."] if left_out else []
    value = _value_column(table, options.value)
    by = _split_column(table, options.by, value)
    if value is not None and by is not None:
        _breakdown(options, value, by, notes)
    elif value is None:
        notes.append("No numeric column was found; --why COLUMN shows what does not fit.")
    else:
        notes.append("No column to split by was found; name one with --by.")
    for note in notes:
        print(f"Note: {note}")
    return 0


def _read(name: str, encoding: str) -> tuple[list[str], list[list[str]], str, int]:
    """Return header, rows of the header's length, the delimiter, and how many rows were left out."""
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if name == "-" else Path(name).read_bytes()
        text = data.decode(encoding)
    except (OSError, UnicodeDecodeError, LookupError) as fault:
        message = (
            f"cannot read {name}: {fault}. Files are looked for in {Path.cwd()}; --encoding names another encoding."
        )
        raise ReportError(message, 1) from fault
    if len(data) > MAX_BYTES:
        message = f"{name} is larger than {MAX_BYTES} bytes; cut it into parts first"
        raise ReportError(message, 1)
    first_line = text.partition("\n")[0]
    delimiter = max(",;\t|", key=lambda sign: (first_line.count(sign), sign == ","))
    try:
        lines = [
            row
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
            if any(cell.strip() for cell in row)
        ]
    except csv.Error as fault:
        message = f"{name} is not a CSV file: {fault}"
        raise ReportError(message, 1) from fault
    if len(lines) <= 1:
        message = f"{name} has no data rows below a header"
        raise ReportError(message, 1)
    header = [cell.strip() or f"column {number}" for number, cell in enumerate(lines[0], 1)]
    if doubled := sorted({cell for cell in header if header.count(cell) > 1}):
        message = f"{name} has the column {doubled[0]!r} twice; rename one"
        raise ReportError(message, 1)
    rows = [row for row in lines[1:] if len(row) == len(header)]
    if not rows:
        message = f"no row of {name} has the {len(header)} cells of the header"
        raise ReportError(message, 1)
    return header, rows, delimiter, len(lines) - 1 - len(rows)


def _column(name: str, cells: list[str], *, comma: bool) -> Column:
    filled = [cell for cell in cells if cell.lower() not in MISSING]
    if filled and all(_number(cell, comma=comma) is not None for cell in filled):
        return Column(
            name, cells, "number", [None if cell.lower() in MISSING else _number(cell, comma=comma) for cell in cells]
        )
    if filled and all(_date(cell) is not None for cell in filled):
        return Column(name, cells, "date", [None if cell.lower() in MISSING else _date(cell) for cell in cells])
    return Column(name, cells, "text", [None if cell.lower() in MISSING else cell for cell in cells])


def _number(cell: str, *, comma: bool) -> float | None:
    text = cell.strip("$€£% \u00a0")
    sign = 1.0
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1].strip("$€£ "), -1.0
    if comma and DECIMAL_COMMA.match(text):
        return sign * float(text.replace(".", "").replace(",", "."))
    if THOUSANDS.match(text):
        return sign * float(text.replace(",", ""))
    return sign * float(text) if PLAIN.match(text) else None


def _date(cell: str) -> dt.date | None:
    for pattern in (r"(\d{4})-(\d\d)-(\d\d)([T ].*)?\Z", r"(\d{4})/(\d\d)/(\d\d)\Z"):
        if found := re.match(pattern, cell):
            return _real_date(*found.group(1, 2, 3))
    if found := re.match(r"(\d\d)\.(\d\d)\.(\d{4})\Z", cell):
        return _real_date(*found.group(3, 2, 1))
    return None


def _real_date(year: str, month: str, day: str) -> dt.date | None:
    try:
        return dt.date(int(year), int(month), int(day))
    except ValueError:
        return None


def _find(table: dict[str, Column], name: str) -> Column:
    for column in table.values():
        if column.name.lower() == name.lower():
            return column
    message = f"there is no column {name!r}; the columns are {', '.join(table)}"
    raise ReportError(message, 3)


def _value_column(table: dict[str, Column], name: str | None) -> Column | None:
    if name is None:
        numbers = [column for column in table.values() if column.kind == "number"]
        return numbers[-1] if numbers else None
    column = _find(table, name)
    if column.kind != "number":
        message = (
            f"column {column.name!r} is {column.kind}, not a number; --why {column.name!r} shows what does not fit"
        )
        raise ReportError(message, 3)
    return column


def _split_column(table: dict[str, Column], name: str | None, value: Column | None) -> Column | None:
    if name is not None:
        return _find(table, name)
    few = [column for column in table.values() if column.kind == "text" and 1 < len(set(column.filled)) <= MAX_GROUPS]
    dates = [column for column in table.values() if column.kind == "date"]
    return (few or dates or ([value] if value else [None]))[0]


def _columns_table(table: dict[str, Column]) -> str:
    rows = [["column", "kind", "filled", "missing", "smallest", "median", "largest", "sum"]]
    for column in table.values():
        filled = column.filled
        row = [column.name, column.kind, str(len(filled)), str(len(column.cells) - len(filled))]
        if column.kind == "number":
            row += [_amount(figure) for figure in (min(filled), statistics.median(filled), max(filled), sum(filled))]
        elif column.kind == "date":
            row += [str(min(filled)), "", str(max(filled)), ""]
        else:
            row += [f"{len(set(filled))} different", "", "", ""]
        rows.append(row)
    return _markdown(rows, left=2)


def _breakdown(options: argparse.Namespace, value: Column, by: Column, notes: list[str]) -> None:
    measure = MEASURES[options.measure]
    label = value.name if options.measure == "sum" else f"{options.measure} of {value.name}"
    pairs = [
        (key, number)
        for key, number in zip(by.values, value.values, strict=True)
        if key is not None and number is not None
    ]
    if len(pairs) < len(value.values):
        missing = " or no ".join(dict.fromkeys([value.name, by.name]))
        notes.append(f"{len(value.values) - len(pairs)} rows have no {missing} and are not in the breakdown.")
    if by is value or by.kind == "number":
        bars, title = _histogram([key for key, _ in pairs]), f"rows by {by.name}"
        label, draw = "rows", columns
    elif by.kind == "date":
        period = options.period or _period([key for key, _ in pairs])
        bars, title, draw = _by_period(pairs, period, measure), f"{label} by {period}", columns
    else:
        bars, title, draw = (
            _by_text(pairs, measure, notes, adds_up=options.measure in ("sum", "count")),
            f"{label} by {by.name}",
            horizontal_bars,
        )
    whole = sum(bar.amount for bar in bars)
    shares = options.measure in ("sum", "count") and whole > 0 and all(bar.amount >= 0 for bar in bars)
    head = [by.name, "rows", label] if label != "rows" else [by.name, "rows"]
    table = [head + (["share"] if shares else [])]
    for bar in bars:
        row = [bar.label, str(bar.rows)] + ([_amount(bar.amount)] if label != "rows" else [])
        table.append(row + ([f"{bar.amount / whole:.1%}"] if shares else []))
    print(_markdown(table, left=1))
    if not options.no_chart:
        svg = draw(
            bars,
            title=title[0].upper() + title[1:],
            subtitle=f"{len(pairs)} rows of {Path(options.file).name}",
            value_label=label,
            group_label=by.name,
        )
        print(f"Chart: {_write(options.chart, svg)} ({title}, {len(bars)} bars)")


def _by_text(pairs: list[tuple[str, float]], measure: object, notes: list[str], *, adds_up: bool) -> list[Bar]:
    groups: dict[str, list[float]] = defaultdict(list)
    for key, number in pairs:
        groups[key].append(number)
    bars = [Bar(key, measure(numbers), len(numbers)) for key, numbers in groups.items()]
    bars.sort(key=lambda bar: (-bar.amount, bar.label))
    if len(bars) <= MAX_GROUPS:
        return bars
    kept, folded = bars[: MAX_GROUPS - 1], bars[MAX_GROUPS - 1 :]
    if not adds_up:
        notes.append(f"{len(bars) - MAX_GROUPS} groups beyond the first {MAX_GROUPS} are not shown.")
        return bars[:MAX_GROUPS]
    notes.append(f"The {len(folded)} smallest groups are folded into 'other'.")
    return [*kept, Bar("other", sum(bar.amount for bar in folded), sum(bar.rows for bar in folded))]


def _period(days: list[dt.date]) -> str:
    span = (max(days) - min(days)).days
    return "day" if span <= MAX_DAYS else "week" if span <= MAX_WEEK_DAYS else "month"


def _by_period(pairs: list[tuple[dt.date, float]], period: str, measure: object) -> list[Bar]:
    groups: dict[dt.date, list[float]] = defaultdict(list)
    for day, number in pairs:
        groups[_start(day, period)].append(number)
    bars, at, last = [], min(groups), max(groups)
    while at <= last:
        numbers = groups.get(at, [])
        name = at.strftime("%Y-%m") if period == "month" else at.isoformat()
        bars.append(Bar(name, measure(numbers) if numbers else 0.0, len(numbers)))
        at = _start(at + dt.timedelta(days={"day": 1, "week": 7, "month": 32}[period]), period)
    return bars


def _start(day: dt.date, period: str) -> dt.date:
    if period == "month":
        return day.replace(day=1)
    return day - dt.timedelta(days=day.weekday()) if period == "week" else day


def _histogram(numbers: list[float]) -> list[Bar]:
    low, high = min(numbers), max(numbers)
    steps = max(1, min(MAX_GROUPS, round(len(numbers) ** 0.5))) if high > low else 1
    width = (high - low) / steps or 1.0
    counts = [0] * steps
    for number in numbers:
        counts[min(int((number - low) / width), steps - 1)] += 1
    return [
        Bar(f"{_amount(low + index * width)} to {_amount(low + (index + 1) * width)}", float(count), count)
        for index, count in enumerate(counts)
    ]


def _explain(column: Column, *, comma: bool) -> None:
    odd = [
        (row, cell)
        for row, cell in enumerate(column.cells, 2)
        if cell.lower() not in MISSING and _number(cell, comma=comma) is None
    ]
    print(f"{column.name}: taken for {column.kind}; {len(odd)} of {len(column.cells)} cells are not numbers")
    for row, cell in odd[:5]:
        print(f"  row {row}: {cell!r}")


def _markdown(rows: list[list[str]], *, left: int) -> str:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    widths = [max(3, *(len(row[index]) for row in cells)) for index in range(len(cells[0]))]
    lines = [
        "| "
        + " | ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    rule = (
        "|"
        + "|".join("-" * (width + 2) if index < left else "-" * (width + 1) + ":" for index, width in enumerate(widths))
        + "|"
    )
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def _amount(figure: float) -> str:
    return f"{figure:,.0f}" if float(figure).is_integer() else f"{figure:,.2f}"


def _write(name: str, text: str) -> Path:
    target = Path(os.environ.get("OUT") or ".").resolve() / name
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as fault:
        message = f"cannot write the chart: {fault}; set OUT to a directory that can be written, or use --no-chart"
        raise ReportError(message, 1) from fault
    return target


if __name__ == "__main__":
    sys.exit(main())
