from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.examples.conftest import Outcome

MARCH = Path(__file__).resolve().parents[2] / "demo" / "march.csv"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def march(workspace: Path) -> str:
    (workspace / "march.csv").write_bytes(MARCH.read_bytes())
    return "march.csv"


def _rows(text: str, first: str) -> list[list[str]]:
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first}"))
    table = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def test_totals_agree_with_the_file(run: Callable[..., Outcome], march: str) -> None:
    done = run("csv-report", "report.py", march, "--value", "revenue", "--by", "region")
    assert (done.code, done.stderr) == (0, "")
    expected: dict[str, float] = {}
    for line in MARCH.read_text().splitlines()[1:]:
        region, revenue = line.split(",")[1], line.rsplit(",", 1)[1]
        if revenue:
            expected[region] = expected.get(region, 0) + float(revenue)
    table = _rows(done.stdout, "region | rows")
    assert {row[0]: row[2] for row in table} == {key: f"{total:,.2f}" for key, total in expected.items()}
    assert [row[0] for row in table] == sorted(expected, key=lambda key: -expected[key])
    assert "2 rows have no revenue or no region" in done.stdout


def test_the_chart_is_well_formed_and_holds_what_the_table_holds(run: Callable[..., Outcome], march: str) -> None:
    done = run("csv-report", "report.py", march, "--by", "region")
    svg = ET.fromstring(done.files["chart.svg"])  # noqa: S314 -- written by the script under test
    texts = [element.text for element in svg.iter(f"{SVG}text")]
    assert {"Revenue by region", "North", "South", "East", "West", "region", "revenue", "28,229"} <= set(texts)
    assert len(list(svg.iter(f"{SVG}rect"))) == 4
    assert "Chart: " in done.stdout
    assert "chart.svg (revenue by region, 4 bars)" in done.stdout


def test_a_date_column_becomes_a_series_with_its_gaps(run: Callable[..., Outcome], march: str) -> None:
    done = run("csv-report", "report.py", march, "--by", "date", "--chart", "days.svg")
    rows = _rows(done.stdout, "date       | rows")
    assert [row[0] for row in rows] == [f"2026-03-{day:02}" for day in range(2, 32)]
    assert rows[5][:3] == ["2026-03-07", "0", "0"]
    assert len(list(ET.fromstring(done.files["days.svg"]).iter(f"{SVG}rect"))) == 30  # noqa: S314 -- as above


def test_labels_cannot_break_out_of_the_chart(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "a.csv").write_text('k,v\n"</text><script>x</script>",1\n"a|b",2\n')
    done = run("csv-report", "report.py", "a.csv")
    assert b"<script>" not in done.files["chart.svg"]
    assert "a\\|b" in done.stdout


@pytest.mark.parametrize(
    ("cells", "total"),
    [("1,5;2", "3.50"), ("1.234,50;1", "1,235.50"), ("(2,00);€3", "1"), ("40%;n/a", "40")],
)
def test_numbers_are_read_as_the_reference_says(
    run: Callable[..., Outcome], workspace: Path, cells: str, total: str
) -> None:
    first, second = cells.split(";")
    (workspace / "n.csv").write_text(f"key;amount\na;{first}\nb;{second}\n", encoding="utf-8")
    done = run("csv-report", "report.py", "n.csv", "--no-chart")
    row = next(row for row in _rows(done.stdout, "column") if row[0] == "amount")
    assert (row[1], row[-1]) == ("number", total)
    assert done.files == {}


@pytest.mark.parametrize(
    ("content", "args", "code", "said"),
    [
        (None, [], 1, "cannot read data.csv"),
        ("a,b\n", [], 1, "no data rows"),
        ("a,a\n1,2\n", [], 1, "the column 'a' twice"),
        ("a,b\n1\n", [], 1, "no row of data.csv has the 2 cells"),
        ('a,b\n"1,2\n', [], 1, "not a CSV file"),
        ("a,b\nx,1\n", ["--value", "c"], 3, "no column 'c'; the columns are a, b"),
        ("a,b\nx,1\n", ["--value", "a"], 3, "column 'a' is text"),
        ("a,b\nx,1\n", ["--chart", "../c.svg"], 2, "file name, not a path"),
        ("a,b\nx,1\n", ["--nonsense"], 2, "unrecognized arguments"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(  # noqa: PLR0917 -- pytest passes by name
    run: Callable[..., Outcome], workspace: Path, content: str | None, args: list[str], code: int, said: str
) -> None:
    if content is not None:
        (workspace / "data.csv").write_text(content)
    done = run("csv-report", "report.py", "data.csv", *args)
    assert (done.code, done.files) == (code, {})
    assert said in done.stderr


def test_rows_of_another_length_are_counted_and_left_out(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "a.csv").write_text("k,v\nx,1\ny,2,3\nz,4\n")
    done = run("csv-report", "report.py", "a.csv")
    assert "1 rows have another number of cells" in done.stdout
    assert done.code == 0


def test_many_groups_are_folded_and_nothing_is_lost(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "a.csv").write_text("k,v\n" + "".join(f"g{number},{number}\n" for number in range(1, 21)))
    done = run("csv-report", "report.py", "a.csv", "--by", "k")
    rows = _rows(done.stdout, "k     | rows")
    assert (len(rows), rows[-1][0]) == (12, "other")
    assert sum(int(row[2]) for row in rows) == sum(range(1, 21))


def test_why_names_the_cells_that_do_not_fit(run: Callable[..., Outcome], workspace: Path) -> None:
    (workspace / "a.csv").write_text("k,v\nx,1\ny,two\n")
    done = run("csv-report", "report.py", "a.csv", "--why", "v")
    assert done.stdout == "v: taken for text; 1 of 2 cells are not numbers\n  row 3: 'two'\n"


def test_standard_input_is_a_file_too(run: Callable[..., Outcome]) -> None:
    done = run("csv-report", "report.py", "-", "--no-chart", stdin="k\tv\nx\t1\ny\t3\n")
    assert _rows(done.stdout, "k   | rows") == [["y", "1", "3", "75.0%"], ["x", "1", "1", "25.0%"]]
