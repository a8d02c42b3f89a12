"""`prowess eval stats`: its JSON, its text, and files that are none of outcomes."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.statistics.outcome_files import OutcomeFileError, read_outcomes
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path


def stats(folder: Path, text: str, *options: str) -> tuple[int, str, str]:
    (folder / "outcomes.json").write_text(text)
    ran = subprocess.run(
        [prowess(), "eval", "stats", "outcomes.json", *options],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


ROWS = {"rows": [{"id": "one", "a": [1, 0, None], "b": [1, 1, 1]}, {"id": 2, "a": [0, 0], "b": [True, False]}]}


def test_rows_give_the_documented_document_twice_the_same(tmp_path: Path) -> None:
    code, text, _ = stats(tmp_path, json.dumps({**ROWS, "seed": 4}), "--json")
    found: dict[str, Any] = json.loads(text)
    assert code == 0
    assert list(found) == ["units", "a", "b", "delta", "mcnemar", "sign", "pass_at", "pass_all", "flaky"]
    assert list(found["a"]) == ["runs", "passed", "rate", "low", "high", "errors"]
    assert (found["a"]["runs"], found["a"]["errors"], found["units"], found["flaky"]) == (4, 1, 2, [2])
    assert list(found["delta"]) == ["mean", "low", "high"]
    assert list(found["mcnemar"]) == ["better", "worse", "p"]
    assert list(found["sign"]) == ["better", "worse", "equal", "p"]
    assert found["pass_at"] == {"1": 0.75, "2": 1.0, "3": 1.0}
    assert stats(tmp_path, json.dumps({**ROWS, "seed": 4}), "--json")[1] == text


def test_the_text_has_the_same_facts(tmp_path: Path) -> None:
    code, text, _ = stats(tmp_path, json.dumps(ROWS))
    assert code == 0
    assert "a: 0.250 (0.046 to 0.699), 1 of 4 runs passed, 1 error apart\n" in text
    assert "difference: +0.500 (+0.500 to +0.500, too narrow with so few) over 2 evals\n" in text
    assert "flaky in b: 2\n" in text
    assert "no graded run" in stats(tmp_path, '{"rows": [{"id": 1, "a": [], "b": [null]}]}')[1]


def test_sequences_give_decisions(tmp_path: Path) -> None:
    data = {"sequences": [[1] * 20, [0] * 60, [1, -1], []], "alpha": 0.05, "detect": 0.15}
    code, text, _ = stats(tmp_path, json.dumps(data), "--json")
    assert code == 0
    assert json.loads(text) == {
        "decisions": [
            {"decision": "better", "at": 8},
            {"decision": "futile", "at": 20},
            {"decision": "open", "at": 2},
            {"decision": "open", "at": 0},
        ]
    }
    assert stats(tmp_path, json.dumps(data))[1].splitlines()[0] == "1: better after 8 pairs"


def test_a_bad_file_is_one_sentence_and_a_usage_error(tmp_path: Path) -> None:
    code, text, errors = stats(tmp_path, '{"rows": [{"id": 1, "a": [2], "b": []}]}', "--json")
    assert (code, text, errors) == (2, "", "error: outcomes.json: rows[0].a[0] must be 1, 0 or null\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON"),
        ("[]", "the file must be an object"),
        ("{}", "either a list `rows` or a list `sequences`"),
        ('{"rows": [], "sequences": []}', "either a list `rows` or a list `sequences`"),
        ('{"rows": []}', "rows is empty"),
        ('{"rows": {}}', "rows must be a list"),
        ('{"rows": [1]}', r"rows\[0\] must be an object"),
        ('{"rows": [{"a": [], "b": []}]}', r"rows\[0\].id must be"),
        ('{"rows": [{"id": true, "a": [], "b": []}]}', r"rows\[0\].id must be"),
        ('{"rows": [{"id": 1, "a": []}]}', r"rows\[0\].b must be a list"),
        ('{"rows": [{"id": 1, "a": [NaN], "b": []}]}', "NaN is not a JSON number"),
        ('{"rows": [{"id": 1, "a": [1e999], "b": []}]}', "is not JSON"),
        ('{"rows": [{"id": 1, "a": [0.5], "b": []}]}', "must be 1, 0 or null"),
        ('{"rows": [{"id": 1, "a": ["1"], "b": []}]}', "must be 1, 0 or null"),
        ('{"rows": [{"id": 1, "a": [], "b": []}, {"id": 1, "a": [], "b": []}]}', r"rows\[1\].id is 1 again"),
        ('{"rows": [{"id": 1, "a": [], "b": []}], "seed": 1.5}', "seed must be a whole number"),
        ('{"rows": [{"id": 1, "a": [], "b": []}], "sead": 1}', "the member 'sead' is not known"),
        ('{"sequences": []}', "sequences is empty"),
        ('{"sequences": [1]}', r"sequences\[0\] must be a list"),
        ('{"sequences": [[2]]}', r"sequences\[0\]\[0\] must be 1, 0 or -1"),
        ('{"sequences": [[null]]}', r"sequences\[0\]\[0\] must be 1, 0 or -1"),
        ('{"sequences": [[1]], "alpha": 0}', "alpha must be a number between 0 and 1"),
        ('{"sequences": [[1]], "alpha": "0.05"}', "alpha must be a number between 0 and 1"),
        ('{"sequences": [[1]], "detect": 1}', "detect must be a number between 0 and 1"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_every_fault_has_its_place(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "outcomes.json"
    path.write_text(text)
    with pytest.raises(OutcomeFileError, match=reason) as caught:
        read_outcomes(str(path))
    assert "\n" not in str(caught.value)


def test_a_path_that_is_no_file_is_named(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "directory"), (tmp_path / "none", "No such file"), ("a\0b", "NUL")):
        with pytest.raises(OutcomeFileError, match=reason):
            read_outcomes(str(path))


@pytest.mark.unmeasured
def test_many_rows_and_long_rows_take_seconds_at_most(tmp_path: Path) -> None:
    many = {"rows": [{"id": n, "a": [n % 2] * 3, "b": [1, n % 3 == 0, None]} for n in range(50_000)]}
    long = {"rows": [{"id": 1, "a": [0, 1] * 100_000, "b": [1, 1, 0] * 100_000}]}
    for data in (many, long, {"sequences": [[1, -1] * 200_000], "detect": 0.01}):
        code, text, errors = stats(tmp_path, json.dumps(data), "--json")
        assert (code, errors) == (0, "")
        assert json.loads(text)
