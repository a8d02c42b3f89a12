"""The schema of a profile accepts what the profile accepts; where it cannot, the case is named with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from prowess.format import PROFILES, parse_document, read_document, validate_skill
from prowess.format.fields.frontmatter_schema import frontmatter_schema
from tests.conformance.format_cases import CASES, lay_out

_SCHEMAS = {name: frontmatter_schema(profile) for name, profile in PROFILES.items()}
_VALIDATORS = {name: Draft202012Validator(schema) for name, schema in _SCHEMAS.items()}
_PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "schemas"

# Faults that are not in the values: a schema sees neither the file nor its name, nor how a value is written.
_BEYOND_VALUES = frozenset(
    {
        *(
            "allowed-tools.syntax",
            "body.maxLines",
            "encoding.bom",
            "encoding.invalid",
            "encoding.nul",
            "frontmatter.duplicateKey",
        ),
        *("frontmatter.notFirst", "frontmatter.syntax", "metadata.duplicateKey", "metadata.keyType"),
        *("name.matchesDirectory", "reference.absolute", "reference.depth", "reference.escape"),
    }
)
# A text and a value without quotes are one to a reader that types nothing.
_TYPING = {"metadata-typed", "metadata-untyped", "null-text", "duplicate-metadata-key"}
# A normal form may be longer or shorter than what was written, and its letters others.
_NORMALISING = {"nfkc-expands": "shorter as written", "k15-fullwidth": "ASCII in its normal form"}
_OTHER_SCRIPTS = {"k15-combining": "letters of other scripts are not counted up in a pattern"}
_EXCEPTIONS = _NORMALISING | _OTHER_SCRIPTS


def _parsed(case: dict[str, Any], root: Path) -> dict[str, object] | None:
    """The fields as Prowess reads them, None where there are none."""
    document = read_document(lay_out(case, root))
    return document.mapping() if document.complete else None


def _is_unreadable(expected: dict[str, Any], profile: str) -> bool:
    """The reference tool says nothing of the fields once its YAML refuses how they are written."""
    unread = {"frontmatter.syntax", "frontmatter.notFirst", "encoding.bom", "encoding.invalid", "encoding.nul"}
    return profile == "skills-ref" and not unread.isdisjoint(expected.get("rules", ()))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_schema_accepts_the_cases_that_its_profile_accepts_and_no_others(profile: str, tmp_path: Path) -> None:
    surprising = {}
    for number, case in enumerate(CASES):
        fields = _parsed(case, tmp_path / str(number))
        if fields is None or case["id"] in _EXCEPTIONS or _is_unreadable(case[profile], profile):
            continue
        rules = set(case[profile].get("rules", ())) - _BEYOND_VALUES
        if case["id"] in _TYPING:
            rules.discard("metadata.valueType")
        if _VALIDATORS[profile].is_valid(fields) is bool(rules):
            surprising[case["id"]] = (rules, [error.message for error in _VALIDATORS[profile].iter_errors(fields)])
    assert surprising == {}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_schema_accepts_valid_cases_as_a_reader_with_types_gives_them(profile: str, tmp_path: Path) -> None:
    surprising = {}
    for number, case in enumerate(CASES):
        document = read_document(lay_out(case, tmp_path / str(number)))
        if not case[profile]["valid"] or case["id"] in _EXCEPTIONS or not document.front_matter:
            continue
        try:
            typed = yaml.safe_load(document.front_matter)
        except yaml.YAMLError:
            continue  # the profile mends it, or reads line breaks that YAML 1.1 does not
        fields = json.loads(json.dumps(typed, default=str))
        if not _VALIDATORS[profile].is_valid(fields):
            surprising[case["id"]] = [error.message for error in _VALIDATORS[profile].iter_errors(fields)]
    assert surprising == {}


@pytest.mark.parametrize("case_id", sorted(_EXCEPTIONS))
def test_an_exception_is_still_one(case_id: str, tmp_path: Path) -> None:
    (case,) = [case for case in CASES if case["id"] == case_id]
    fields = _parsed(case, tmp_path)
    differs = [
        name
        for name, validator in _VALIDATORS.items()
        if validator.is_valid(fields) is bool(set(case[name].get("rules", ())) - _BEYOND_VALUES)
    ]
    assert differs


@pytest.mark.parametrize("profile", PROFILES)
def test_a_schema_is_one_and_is_published(profile: str) -> None:
    Draft202012Validator.check_schema(_SCHEMAS[profile])
    file = _PUBLISHED / f"frontmatter.{profile}.schema.json"
    assert json.loads(file.read_text(encoding="utf-8")) == _SCHEMAS[profile]


@pytest.mark.parametrize(
    ("text", "typed"),
    [("metadata: {a: 1.0}", 1.0), ("metadata: {a: yes}", True), ("metadata: {a: }", None), ('metadata: {a: "1"}', "1")],
)
def test_only_skillscraft_wants_values_of_metadata_written_as_texts(text: str, typed: object) -> None:
    fields = {"name": "a", "description": "d", "metadata": {"a": typed}}
    document = parse_document(f"---\nname: a\ndescription: d\n{text}\n---\n")
    for profile in ("spec", "skillscraft", "boxxy"):
        rules = {found.rule for found in validate_skill(document, profile=profile) if found.severity == "error"}
        assert _VALIDATORS[profile].is_valid(fields) is (not rules), profile
