"""Keys that are close to a known field: what a finding asks, what its fix does, and what is read as a restriction."""

from __future__ import annotations

import pytest

from prowess.diagnostics import FixSafety
from prowess.format import parse_document, validate_skill
from prowess.format.fields.near_fields import field_meant, tool_field, tool_fields
from prowess.format.profiles import PROFILES
from prowess.format.skill import frontmatter_of
from tests.fix.test_fix_document import fixed

_RULE = "frontmatter.unknownField"


def _document(fields: str) -> str:
    return f"---\nname: demo\ndescription: Does things.\n{fields}---\nBody.\n"


def _fixed(text: str, *, unsafe: bool = False) -> str:
    return fixed(text, unsafe=unsafe, directory="demo").data.decode()


@pytest.mark.proves("format.fields.case", "format.fields.unknown-fix")
@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("licence", "license"), ("License", "license"), ("LICENSE", "license"), ("licenses", "license"),
        ("compatability", "compatibility"), ("meta-data", "metadata"), ("metdata", "metadata"),
        ("meta_data", "metadata"),
        ("descripton", "description"), ("Name", "name"), ("names", "name"),
        ("allowedTools", "allowed-tools"), ("disallowed_tools", "disallowed-tools"),
        ("argumentHint", "argument-hint"), ("user_invocable", "user-invocable"), ("when-to-use", "when_to_use"),
        ("disableModelInvocation", "disable-model-invocation"), ("hook", "hooks"), ("path", "paths"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "skills-ref"])
def test_a_finding_asks_whether_the_close_field_was_meant(key: str, meant: str, profile: str) -> None:
    found = [
        one for one in validate_skill(parse_document(_document(f"{key}: x\n")), profile=profile) if one.rule == _RULE
    ]
    assert len(found) == 1
    assert f"did you mean {meant}?" in found[0].message
    assert found[0].fix is None or found[0].fix.title == f"write {meant}"
    if meant in {"license", "compatibility", "metadata"}:
        assert found[0].fix is not None
        assert found[0].fix.safety is FixSafety.SAFE


@pytest.mark.parametrize(
    "key",
    [
        "version",
        "author",
        "category",
        "content",
        "mode",
        "tools",
        "triggers",
        "type",
        "source",
        "keywords",
        "skills",
        "title",
        "dependencies",
        "license-url",
        "allowed-skills",
    ],
)
def test_a_key_of_its_own_is_close_to_nothing(key: str) -> None:
    assert field_meant(key) is None
    assert tool_field(key) is None
    (found,) = [one for one in validate_skill(parse_document(_document(f"{key}: x\n"))) if one.rule == _RULE]
    assert "did you mean" not in found.message


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("allow-tools", "allowed-tools"), ("allowtools", "allowed-tools"), ("Allowed Tools", "allowed-tools"),
        ("disallow-tools", "disallowed-tools"), ("disallowed-tool-names", None),
        # What is not allowed is never read as what is.
        ("unallowed-tools", "disallowed-tools"), ("not-allowed-tools", "disallowed-tools"),
        ("nonAllowedTools", "disallowed-tools"), ("no_allowed_tools", "disallowed-tools"),
    ],
)  # fmt: skip
def test_a_key_close_to_a_field_of_tools_is_read_as_it(key: str, field: str | None) -> None:
    assert tool_field(key) == field


def test_a_field_that_is_missing_may_be_less_close() -> None:
    text = "---\nnmae: demo\ndescription: Does things.\n---\nBody.\n"
    assert any("did you mean name?" in one.message for one in validate_skill(parse_document(text)))
    assert field_meant("nmae") is None


@pytest.mark.parametrize("field", ["license", "allowed-tools", "user-invocable"])
def test_a_known_field_is_meant_for_nothing_else(field: str) -> None:
    assert field_meant(field) is None


@pytest.mark.proves("format.fields.unknown-fix")
def test_the_fix_renames_the_key_and_never_moves_it_under_metadata() -> None:
    renamed = _fixed(_document("licence: MIT\nmetadata:\n  a: b\n"))
    assert "license: MIT" in renamed
    assert "licence" not in renamed
    moved = _fixed(_document("version: 1.0.0\n"))
    assert "metadata:\n  version: 1.0.0" in moved


@pytest.mark.parametrize("fields", ["license: MIT\nlicence: BSD\n", "license: MIT\nLicense: BSD\n"])
def test_a_key_is_not_renamed_to_a_field_that_is_there(fields: str) -> None:
    text = _document(fields)
    assert _fixed(text, unsafe=True) == text


def test_of_two_keys_that_mean_one_field_the_first_is_renamed() -> None:
    renamed = _fixed(_document("licence: MIT\nLicense: BSD\n"))
    assert renamed.count("license: ") == 1


@pytest.mark.parametrize("key", ["allowed_tools", "disallowedTools", "user_invocable", "disable_model_invocation"])
def test_what_a_host_obeys_begins_to_hold_only_if_somebody_asks_for_it(key: str) -> None:
    text = _document(f"{key}: Read\n")
    assert _fixed(text) == text
    assert f"{field_meant(key)}: Read" in _fixed(text, unsafe=True)


@pytest.mark.proves("runtime.restrict.near-miss")
def test_the_properties_give_every_list_that_holds() -> None:
    fields = tool_fields(
        {"allowed_tools": "A", "name": "x", "allowed-tools": "B", "disallowedTools": ["C"], "Disallowed-Tools": "D"}
    )
    assert (fields.allowed, fields.disallowed) == (("B", "A"), (["C"], "D"))
    assert dict(fields.misspelt) == {
        "allowed_tools": "allowed-tools",
        "disallowedTools": "disallowed-tools",
        "Disallowed-Tools": "disallowed-tools",
    }
    assert tool_fields({"name": "x", "version": "1"}) == tool_fields({})


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ("allowed_tools: Read Bash\n", ["Read", "Bash"]),
        ("allowed-tools: Read Bash\nallowedTools: [Bash, Write]\n", ["Bash"]),
        ("allowed-tools: Read\nallowedTools: 'Bash('\n", []),
        ("disallowed-tools: Read\n", None),
    ],
)
def test_the_loaded_fields_hold_what_every_list_permits(fields: str, tokens: list[str] | None) -> None:
    found = frontmatter_of(parse_document(_document(fields))).allowed_tools
    assert (None if found is None else [str(token) for token in found]) == tokens


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("Bash(git push", {"disallowed-tools.syntax"}),
        ("[Read, 'Bash(']", {"disallowed-tools.syntax"}),
        ("{a: b}", {"disallowed-tools.syntax"}),
        ("[[Read]]", {"disallowed-tools.syntax"}),
        ("Bash(git push:*), Read", set()),
        ("[Read, Write]", set()),
        ("", set()),
    ],
)
def test_what_will_refuse_everything_is_a_finding(value: str, rules: set[str]) -> None:
    document = parse_document(_document(f"disallowed-tools: {value}\n"))
    for profile in ("claude-code", "lenient"):
        found = {one.rule for one in validate_skill(document, profile=profile)}
        assert found & {"disallowed-tools.syntax"} == rules
