"""Every case of permission-cases.json, and of our own suite of the same shape, judged in an empty directory."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from prowess.policy.decision import Allow, Deny
from prowess.policy.restriction import Restriction, decide

_HERE = Path(__file__).parent
_SUITES = {
    name: json.loads((_HERE / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    for name in ("permission-cases", "permission-cases-more")
}


def _label(value: object) -> str | None:
    return f"{value['tool']}-{value['why']}"[:90] if isinstance(value, dict) else None


@pytest.mark.proves(
    "runtime.restrict.bash-scope",
    "runtime.restrict.bash-multiword",
    "client.safety.pattern",
    "client.safety.allowed-tools",
    "runtime.restrict.absent",
)
@pytest.mark.parametrize("case", [case for cases in _SUITES.values() for case in cases], ids=_label)
def test_a_call_is_permitted_or_refused_as_the_suite_says(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fields = {"allowed-tools": case["allowed_tools"], "disallowed-tools": case.get("disallowed_tools")}
    restriction = Restriction.of_properties("s", {key: value for key, value in fields.items() if value is not None})
    decision = decide(case["tool"], case["arguments"], [restriction], str(tmp_path))
    assert isinstance(decision, Allow) is case["allowed"], (case, decision)


@pytest.mark.parametrize("item", [3, 0, 1.5, True, None, [], [3], {"Read": "docs"}], ids=repr)
def test_one_item_that_is_no_text_spoils_the_list(item: object) -> None:
    """Front matter gives a number in a list as text, so no suite in JSON and YAML can hold this case."""
    for listed in (["Bash", item], [item, "Bash"], ("Bash", item)):
        decision = decide("Bash", {"command": "git a"}, [Restriction.of_field("s", listed)], None)
        assert isinstance(decision, Deny), listed
        assert decision.rule == "allowed-tools:unreadable"


def test_our_own_suite_is_large_and_says_why() -> None:
    ours = _SUITES["permission-cases-more"]
    assert len(ours) >= 300
    assert all(case["why"] for case in ours)
    counts = Counter(json.dumps({**case, "why": None}, sort_keys=True) for case in ours)
    assert [case for case, count in counts.items() if count > 1] == []
    # Both answers are well represented, or one that is always given would do.
    assert min(sum(case["allowed"] for case in ours), sum(not case["allowed"] for case in ours)) > len(ours) // 4
