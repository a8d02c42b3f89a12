"""The page that compares linters states what the list of judged infos holds."""

from __future__ import annotations

import json
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_the_page_states_what_the_list_of_judged_infos_holds() -> None:
    listed = json.loads((_ROOT / "tests" / "compat" / "host-infos.json").read_text(encoding="utf-8"))
    worth = [info["worth"] for info in listed["infos"]]
    page = (_ROOT / "docs" / "reference" / "compared.md").read_text(encoding="utf-8")
    total, useful = len(worth), sum(worth)
    drawn = f"One reader rated {total} infos, which were drawn at random from all {listed['drawn_from']} infos."
    assert f"{drawn} {useful} of the {total} are useful" in page
    assert sum(worth) >= 55
    assert all(info["worth"] or info["why"] for info in listed["infos"])
