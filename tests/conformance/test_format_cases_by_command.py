"""The conformance cases through the command line: what a host in another language would get."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli.dispatch import run
from tests.conformance.format_cases import PROFILES, lay_out, parameters

if TYPE_CHECKING:
    from pathlib import Path

_KEYS = ("name", "description", "license", "allowed_tools", "metadata", "metadata_raw")


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", parameters())
def test_check_judges_a_case_as_it_states_in_every_profile(
    case: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = str(lay_out(case, tmp_path))
    for profile in PROFILES:
        expected = case[profile]
        code = run(["check", "--isolated", "--json", "--profile", profile, "--", skill])
        document = json.loads(capfd.readouterr().out)
        assert code == (0 if expected["valid"] else 1), profile
        judged = document["skills"][0]  # a case may hold skills that the search finds too
        own = {judged["path"], f"{judged['path']}/evals", ""}
        found = [one for one in document["diagnostics"] if one["path"].rpartition("/")[0] in own]
        errors = {one["rule"] for one in found if one["severity"] == "error"}
        notes = {one["rule"] for one in found if one["severity"] != "error"}
        assert judged["valid"] is expected["valid"], profile
        assert errors == set(expected.get("rules", ())), profile
        assert set(expected.get("notes", ())) <= notes, profile


@pytest.mark.unmeasured
@pytest.mark.parametrize("case", parameters())
def test_the_properties_of_a_case_are_those_it_states_in_every_profile(
    case: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = str(lay_out(case, tmp_path))
    for profile in PROFILES:
        expected = case[profile]
        loads = expected.get("loads", expected["valid"])
        code = run(["read-properties", "--profile", profile, "--json-full", "--", skill])
        read = json.loads(capfd.readouterr().out)
        assert code == (0 if loads else 1), profile
        if not loads:
            assert read["loads"] is False, profile
            assert any(found["severity"] == "error" for found in read["diagnostics"]), profile
            continue
        for key in _KEYS:
            if key in expected:
                assert read[key] == expected[key], (profile, key)
        if "body" in expected:
            assert read["body"].strip() == expected["body"], profile
