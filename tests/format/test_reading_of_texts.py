"""The promises about reading one document, each by the texts it is about."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.catalog import Catalog
from prowess.cli.dispatch import run
from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import InvalidSkillError, SkillError, SkillParseError
from prowess.fix.formatting import format_source
from prowess.format import (
    PROFILES,
    SkillDocument,
    parse_document,
    read_skill,
    require_valid,
    validate_skill,
)
from prowess.format.skill import frontmatter_of
from prowess.runtime import Session

_HEAD = "---\nname: a\ndescription: d\n"
_GOOD = f"{_HEAD}---\nBody\n"
_SOURCE = Path(__file__).parents[2] / "src" / "prowess"


def places(text: str, profile: str = "spec") -> dict[str, tuple[str, int, int]]:
    """rule -> severity, line and column of its first finding."""
    found: dict[str, tuple[str, int, int]] = {}
    for one in validate_skill(parse_document(text), profile=profile):
        found.setdefault(one.rule, (str(one.severity), one.location.line, one.location.column))
    return found


def skill_of(root: Path, text: str, name: str = "a") -> Path:
    directory = root / name
    directory.mkdir(exist_ok=True)
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return directory


def tools_of(text: str) -> list[str] | None:
    tools = frontmatter_of(parse_document(text)).allowed_tools
    return None if tools is None else [str(token) for token in tools]


@pytest.mark.proves("format.frontmatter.required", "format.frontmatter.fence-open", "format.frontmatter.four-dashes")
@pytest.mark.parametrize(
    ("first", "opens"),
    [
        ("---", True),
        ("--- \t ", True),
        ("----", False),
        ("---x", False),
        ("--- # c", False),
        (" ---", False),
        ("--", False),
    ],
)
def test_the_first_line_is_a_fence_exactly_when_it_is_three_hyphens(first: str, *, opens: bool) -> None:
    found = places(f"{first}\nname: a\ndescription: d\n---\n")
    known = {"frontmatter.fence": ("warning", 1, 4)} if first != "---" else {}
    assert found == (known if opens else {"frontmatter.missing": ("error", 1, 1)})
    assert places("Just text\n") == {"frontmatter.missing": ("error", 1, 1)}


@pytest.mark.proves("format.frontmatter.fence-close", "format.frontmatter.glued-close", "format.frontmatter.unclosed")
@pytest.mark.parametrize(
    ("line", "closes"),
    [
        ("---", True),
        ("---  ", True),
        ("---x", False),
        ("----", False),
        (" ---", False),
        ("...", False),
        ("--- # c", False),
    ],
)
def test_the_next_line_of_three_hyphens_at_the_first_column_closes(line: str, *, closes: bool) -> None:
    document = parse_document(f"{_HEAD}{line}\nBody\n")
    found = {one.rule: (one.severity, one.location.line) for one in validate_skill(document)}
    known = {"frontmatter.fence": (Severity.WARNING, 4)} if line != "---" else {}
    assert found == (known if closes else {"frontmatter.unclosed": (Severity.ERROR, 1)})
    if closes:
        assert document.body == "Body\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("--- \nname: t\ndescription: D. Use when x.\n---\nBody\n", (1, 4)),
        ("---\nname: t\ndescription: D. Use when x.\n---\t \nBody\n", (4, 4)),
        ("---\r\nname: t\r\ndescription: D. Use when x.\r\n--- \r\nBody\r\n", (4, 4)),
        ("---\nname: t\ndescription: D. Use when x.\n---\rBody\n", (4, 4)),
        ("---\rname: t\ndescription: D. Use when x.\n---\nBody\n", (1, 4)),
        ("---\nname: t\ndescription: D. Use when x.\r---\nBody\n---\n", (3, 28)),
        ("---\nname: t\ndescription: D. Use when x.\u2028---\n---\nBody\n", (3, 28)),
        ("---\nname: t\ndescription: D. Use when x.\x85---\n---\nBody\n", (3, 28)),
        ("---\nname: t\ndescription: D. Use when x.\n---\nBody\rmore \n--- \n", None),
        ("---\r\nname: t\r\ndescription: D. Use when x.\r\n---\r\nBody\rmore\r\n", None),
        ("---\nname: t\ndescription: D.\u2028Use when x.\n---\nBody\n", None),
    ],
)
def test_a_fence_that_other_readers_see_elsewhere_is_a_warning_and_the_file_stays_valid(
    text: str, place: tuple[int, int] | None
) -> None:
    found = validate_skill(parse_document(text.encode()))
    doubtful = [one for one in found if one.rule == "frontmatter.fence"]
    assert [(one.location.line, one.location.column) for one in doubtful] == ([] if place is None else [place])
    assert [one for one in found if one.severity == "error"] == []
    assert places(text, "skills-ref").get("frontmatter.fence") is None


@pytest.mark.proves("format.frontmatter.empty", "format.fields.required")
@pytest.mark.parametrize("between", ["", "\n", "   \n", "# a comment\n"])
def test_nothing_between_the_fences_lacks_both_required_fields(between: str) -> None:
    text = f"---\n{between}---\n"
    assert set(places(text)) == {"name.required", "description.required"}
    assert set(places(text, "skills-ref")) == {"frontmatter.notMapping"}
    for profile in PROFILES:
        assert not validate_skill(parse_document(_GOOD), profile=profile)


@pytest.mark.proves("format.frontmatter.final-newline")
def test_a_closing_fence_at_the_end_of_the_file_needs_no_line_break() -> None:
    document = parse_document(f"{_HEAD}---")
    assert (validate_skill(document), document.body) == ([], "")


@pytest.mark.proves("format.frontmatter.syntax", "format.frontmatter.mapping", "format.frontmatter.duplicate-key")
@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        ("---\nname: a\ndescription: x: y\n---\n", "frontmatter.syntax", 3, 14),
        ("---\nname: a\ndescription: [x\n---\n", "frontmatter.syntax", 3, 14),
        ("---\njust a text\n---\n", "frontmatter.notMapping", 2, 1),
        ("---\n- a\n- b\n---\n", "frontmatter.notMapping", 2, 1),
        (f"{_HEAD}name: b\n---\n", "frontmatter.duplicateKey", 4, 1),
    ],
)
def test_what_is_no_mapping_of_keys_has_its_place(text: str, rule: str, line: int, column: int) -> None:
    assert places(text).get(rule) == ("error", line, column)


@pytest.mark.proves("format.frontmatter.yaml-dialect")
def test_every_profile_but_one_takes_whole_yaml() -> None:
    text = f"{_HEAD}# a comment\nmetadata: {{a: \"x\", 'b': 'y'}}\nlicense: >-\n  one\n  two\n---\n"
    for profile in PROFILES:
        refused = validate_skill(parse_document(text), profile=profile)
        assert [one.rule for one in refused] == (["frontmatter.syntax"] if profile == "skills-ref" else [])


@pytest.mark.proves("format.frontmatter.source-text")
def test_no_scalar_becomes_anything_but_the_text_that_was_written() -> None:
    written = [
        "1.0",
        "1.10",
        "007",
        "1_000",
        "0x1F",
        "yes",
        "No",
        "on",
        "true",
        "null",
        "~",
        "2026-01-02",
        "12:30:45",
        ".inf",
    ]
    front = "".join(f"k{number}: {text}\n" for number, text in enumerate(written))
    assert list(parse_document(f"---\n{front}---\n").mapping().values()) == written
    nested = parse_document(f"---\nmetadata: {{{', '.join(f'k{n}: {t}' for n, t in enumerate(written))}}}\n---\n")
    assert nested.mapping() == {"metadata": {f"k{number}": text for number, text in enumerate(written)}}


@pytest.mark.proves("format.frontmatter.block-scalars")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (">\n  one\n  two\n\n", "one two\n"),
        (">-\n  one\n  two\n\n", "one two"),
        (">+\n  one\n  two\n\n", "one two\n\n"),
        ("|\n  one\n  two\n\n", "one\ntwo\n"),
        ("|-\n  one\n  two\n\n", "one\ntwo"),
        ("|+\n  one\n  two\n\n", "one\ntwo\n\n"),
        (">\n  one\n\n  two\n    more\n  end\n", "one\ntwo\n  more\nend\n"),
        ("|2\n   one\n  two\n", " one\ntwo\n"),
        ("one\n  two\n\n  three\n", "one two\nthree"),
        ("'one\n  two'\n", "one two"),
    ],
)
def test_a_text_over_several_lines_is_what_yaml_defines(value: str, text: str) -> None:
    document = parse_document(f"---\nname: a\ndescription: {value}license: MIT\n---\n")
    assert (document.text_of("description"), document.text_of("license")) == (text, "MIT")


@pytest.mark.proves("format.frontmatter.hazards")
@pytest.mark.parametrize(
    ("front", "construct"),
    [
        ("license: &x MIT\n", "anchor"),
        ("license: &x MIT\ncompatibility: *x\n", "alias"),
        ("metadata:\n  <<: {a: b}\n", "merge key"),
        ("license: !!str MIT\n", "tag"),
        ("license: !own MIT\n", "tag"),
        ("metadata: " + "{k: " * 25 + "v" + "}" * 25 + "\n", "depth"),
    ],
)
def test_what_yaml_would_expand_is_an_error_that_names_it_in_every_profile(front: str, construct: str) -> None:
    document = parse_document(f"{_HEAD}{front}---\n")
    assert construct in {one.detail for one in document.diagnostics}
    assert {(one.rule, one.severity) for one in document.diagnostics} == {("frontmatter.syntax", Severity.ERROR)}
    assert document.text_of("compatibility") != "MIT"
    for profile in PROFILES:
        assert "error" in {severity for severity, _, _ in places(f"{_HEAD}{front}---\n", profile).values()}, profile


@pytest.mark.proves("format.encoding.utf8")
@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_reading_and_printing_are_in_utf_8_whatever_the_locale(locale: str, tmp_path: Path) -> None:
    skill = skill_of(tmp_path, "---\nname: données\ndescription: Größe und 語\n---\nBody ü\n", "données")
    environment = {**os.environ, "LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    for words, shown in (("to-prompt", "Größe und 語"), ("show", "Body ü"), ("check", "données")):
        done = subprocess.run(
            [sys.executable, "-X", "utf8=0", "-m", "prowess", words, str(skill)],
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert shown in done.stdout.decode("utf-8", "replace"), (words, done.stderr)


@pytest.mark.proves("format.file.regular")
def test_what_is_called_skill_md_and_is_no_file_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "SKILL.md").symlink_to(tmp_path / "a")
    for name in ("a", "b"):
        assert [one.rule for one in validate_skill(tmp_path / name)] == ["file.notRegular"]
        with pytest.raises(SkillParseError):
            read_skill(tmp_path / name)


@pytest.mark.proves("format.skill.optional-directories")
def test_the_three_directories_are_never_missed(tmp_path: Path) -> None:
    for profile in PROFILES:
        assert validate_skill(skill_of(tmp_path, _GOOD), profile=profile) == []
    for name in ("scripts", "references", "assets"):
        (tmp_path / "a" / name).mkdir()
    assert validate_skill(tmp_path / "a") == []


@pytest.mark.proves("format.fields.whitelist", "format.fields.sample-indentation")
def test_six_fields_are_known_and_what_is_indented_belongs_to_the_one_above() -> None:
    six = (
        f"{_HEAD}license: MIT\ncompatibility: any\nmetadata:\n  author: x\n  version: 1.0.0\nallowed-tools: Read\n---\n"
    )
    assert places(six) == {}
    flat = f"{_HEAD}metadata:\nauthor: x\nversion: 1.0.0\n---\n"
    rules = [(one.rule, one.location.line) for one in validate_skill(parse_document(flat))]
    assert rules == [("frontmatter.unknownField", 5), ("frontmatter.unknownField", 6)]


@pytest.mark.proves(
    "format.name.required", "format.name.type", "format.description.required", "format.description.type"
)
@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("description: d", "name.required"),
        ("name:\ndescription: d", "name.required"),
        ("name: '  '\ndescription: d", "name.required"),
        ("name: [a]\ndescription: d", "name.type"),
        ("name: {a: b}\ndescription: d", "name.type"),
        ("name: a", "description.required"),
        ("name: a\ndescription:", "description.required"),
        ("name: a\ndescription: ' \t '", "description.required"),
        ("name: a\ndescription: [d]", "description.type"),
        ("name: a\ndescription: {d: e}", "description.type"),
    ],
)
def test_name_and_description_are_texts_that_say_something(fields: str, rule: str) -> None:
    assert [(one, severity) for one, (severity, _, _) in places(f"---\n{fields}\n---\n").items()] == [(rule, "error")]


@pytest.mark.proves(
    "format.name.leading-hyphen", "format.name.trailing-hyphen", "format.name.double-hyphen", "format.name.underscore"
)
@pytest.mark.parametrize(
    ("name", "column"), [("-ab", 7), ("ab-", 9), ("a--b", 8), ("a_b", 8), ("a---b", 8), ("_", 7), ("a-b", None)]
)
def test_hyphens_stand_alone_inside_and_underscores_nowhere(name: str, column: int | None) -> None:
    found = places(f"---\nname: {name}\ndescription: d\n---\n")
    assert found == ({} if column is None else {"name.format": ("error", 2, column)})


@pytest.mark.proves("format.description.length")
@pytest.mark.parametrize(("count", "valid"), [(1, True), (1024, True), (1025, False)])
@pytest.mark.parametrize("letter", ["x", "\N{EM DASH}", "\N{GRINNING FACE}"])
def test_a_description_has_1024_code_points_after_trimming(letter: str, count: int, *, valid: bool) -> None:
    found = places(f"---\nname: a\ndescription: |\n  {letter * count}\n\n---\n")
    assert found == ({} if valid else {"description.maxLength": ("error", 3, 14)})
    kept = set(places(f"---\nname: a\ndescription: |\n  {letter * 1024}\n---\n", "skills-ref"))
    assert kept == {"description.maxLength"}  # the line break of the block counts there


@pytest.mark.proves("format.description.markup")
def test_markup_in_a_description_is_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "---\nname: a\ndescription: Port </description></skill> to <service> & back\n---\n"
    for profile in PROFILES:
        assert validate_skill(parse_document(text), profile=profile) == []
    assert parse_document(text).text_of("description") == "Port </description></skill> to <service> & back"
    skill = skill_of(tmp_path, text)
    shown = "Port &lt;/description&gt;&lt;/skill&gt; to &lt;service&gt; &amp; back"
    for form in ("skills-ref", "xml", "attributes"):
        assert run(["to-prompt", "--form", form, str(skill)]) == 0
        assert shown in capfd.readouterr().out, form
    assert f"<description>{shown}</description>" in Session(Catalog(tmp_path)).instructions()


@pytest.mark.proves(
    "format.license.optional", "format.license.values", "format.compatibility.optional", "format.compatibility.values"
)
def test_license_and_compatibility_are_optional_texts() -> None:
    right = {
        "license": ["MIT", "Apache-2.0", "Proprietary. LICENSE.txt has full terms", "x" * 5000],
        "compatibility": ["Designed for Claude Code", "Requires Python 3.11+ and uv", "git, docker and the internet"],
    }
    for field, values in right.items():
        for value in values:
            assert places(f"{_HEAD}{field}: {value}\n---\n") == {}
        for value in ("[x]", "{x: y}"):
            assert places(f"{_HEAD}{field}: {value}\n---\n") == {f"{field}.type": ("error", 4, len(field) + 3)}
    assert places(_GOOD) == {}


@pytest.mark.proves("format.compatibility.max-length", "format.compatibility.empty")
def test_compatibility_has_1_to_500_characters() -> None:
    assert places(f"{_HEAD}compatibility: {'x' * 500}\n---\n") == {}
    assert set(places(f"{_HEAD}compatibility: {'x' * 501}\n---\n")) == {"compatibility.maxLength"}
    assert set(places(f"{_HEAD}compatibility:\n---\n")) == {"compatibility.empty"}
    assert set(places(f"{_HEAD}compatibility: ''\n---\n")) == {"compatibility.empty"}


@pytest.mark.proves(
    "format.metadata.type", "format.metadata.keys", "format.metadata.values", "format.metadata.duplicate-key"
)
@pytest.mark.parametrize(
    ("metadata", "rule", "line", "column"),
    [
        ("metadata: text", "metadata.type", 4, 11),
        ("metadata: [a]", "metadata.type", 4, 11),
        ("metadata:\n  ? [a]\n  : b", "metadata.keyType", 5, 5),
        ("metadata:\n  a: [b]", "metadata.valueType", 5, 6),
        ("metadata:\n  a:\n    b: c", "metadata.valueType", 6, 5),
        ("metadata:\n  a: b\n  a: c", "metadata.duplicateKey", 6, 3),
    ],
)
def test_metadata_is_a_mapping_of_texts_to_texts(metadata: str, rule: str, line: int, column: int) -> None:
    assert places(f"{_HEAD}{metadata}\n---\n") == {rule: ("error", line, column)}


@pytest.mark.proves("format.metadata.keys")
@pytest.mark.parametrize(
    ("key", "column"),
    [("[a]", 3), ("{a: b}", 3), ("? [a, b]\n  ", 5), ("? {a: b}\n  ", 5), ("? - a\n    - b\n  ", 5), ("?\n  ", 4)],
)
def test_a_key_of_metadata_that_is_no_text_is_an_error_at_the_key(key: str, column: int) -> None:
    text = f"{_HEAD}metadata:\n  first: x\n  {key}: b\n  last: y\n---\n"
    assert places(text) == {"metadata.keyType": ("error", 6, column)}
    assert set(places(text, "lenient")) == {"metadata.keyType"}
    assert {severity for severity, *_ in places(text, "lenient").values()} == {"warning"}


@pytest.mark.proves("format.metadata.keys", "format.metadata.untyped-values")
@pytest.mark.parametrize(
    "key",
    [
        "1",
        "1.10",
        "0x1F",
        "1e3",
        ".inf",
        "yes",
        "on",
        "true",
        "null",
        "~",
        "2024-01-01",
        "12:30:00",
        "2024-01-01T10:00:00Z",
    ],
)
def test_a_key_that_other_readers_give_a_type_is_a_text_as_written(tmp_path: Path, key: str) -> None:
    text = f"{_HEAD}metadata:\n  {key}: b\n---\n"
    for profile in ("spec", "boxxy", "skillscraft", "claude-code", "lenient"):
        assert "metadata.keyType" not in places(text, profile)
    assert dict(read_skill(skill_of(tmp_path, text)).frontmatter.metadata) == {key: "b"}
    quoted = parse_document(text.replace(f"  {key}:", f'  "{key}":'))
    assert quoted.mapping() == parse_document(text).mapping()
    again = parse_document(text.replace(": b", f': b\n  "{key}": c'))
    assert "metadata.duplicateKey" in {found.rule for found in validate_skill(again)}


@pytest.mark.proves("format.metadata.lossless", "format.metadata.open")
def test_what_metadata_holds_is_kept_as_written_and_as_text(tmp_path: Path) -> None:
    text = f"{_HEAD}metadata:\n  x-own: 1.10\n  nested:\n    tags: [a, 'b']\n---\n"
    front = read_skill(skill_of(tmp_path, text)).frontmatter
    assert dict(front.metadata_raw) == {"x-own": "1.10", "nested": {"tags": ["a", "b"]}}
    assert dict(front.metadata) == {"x-own": "1.10", "nested": "tags: [a, 'b']"}
    assert front.properties()["metadata"] == {"x-own": "1.10", "nested": {"tags": ["a", "b"]}}
    laid_out = format_source(text.encode())
    assert laid_out.reason is None
    assert parse_document(laid_out.data).mapping()["metadata"] == front.metadata_raw
    (entry,) = Catalog(tmp_path).entries()
    assert entry.properties["metadata"] == front.metadata_raw


@pytest.mark.proves(
    "format.allowed-tools.separator", "format.allowed-tools.example-quoted", "format.allowed-tools.empty"
)
def test_tools_are_read_with_commas_in_quotes_and_as_none_at_all() -> None:
    assert tools_of(f"{_HEAD}allowed-tools: Read, Grep,Bash(a, b)\n---\n") == ["Read", "Grep", "Bash(a, b)"]
    assert places(f"{_HEAD}allowed-tools: Read, Grep\n---\n") == {"allowed-tools.separator": ("warning", 4, 16)}
    assert tools_of(f'{_HEAD}allowed-tools: "Bash(python:*) Read"\n---\n') == ["Bash(python:*)", "Read"]
    assert tools_of(f"{_HEAD}allowed-tools:\n---\n") == []
    assert tools_of(f"{_HEAD}---\n") is None


@pytest.mark.proves("format.reference.absolute", "format.reference.escape")
@pytest.mark.parametrize(
    ("target", "rule"),
    [
        ("/etc/passwd", "reference.absolute"),
        ("C:/x.md", "reference.absolute"),
        ("~/x.md", "reference.absolute"),
        ("@~/x.md", "reference.absolute"),
        ("/docs/guides/pages", "reference.absolute"),
        ("/plugin:skill", None),
        ("../../etc/passwd", "reference.escape"),
        ("references/../../x.md", "reference.escape"),
        ("references/../x.md", None),
    ],
)
def test_a_reference_leads_into_the_skill(target: str, rule: str | None) -> None:
    text = f"{_HEAD}---\n[x]({target})\n"
    for profile in ("spec", "boxxy", "skillscraft"):
        assert places(text, profile) == ({} if rule is None else {rule: ("error", 5, 5)})
    assert places(text, "lenient") == ({} if rule is None else {rule: ("warning", 5, 5)})


def test_a_page_of_a_website_in_a_quoted_example_is_no_link_of_the_skill() -> None:
    assert places(f'{_HEAD}---\nWrite "more on [prices](/prices)" below it.\n') == {}
    assert "reference.absolute" in places(f'{_HEAD}---\nWrite "more" on [prices](/prices) "below" it.\n')
    assert "reference.absolute" in places(f'{_HEAD}---\nWrite "more on [hosts](/etc/hosts)" below it.\n')


@pytest.mark.parametrize(
    ("target", "advice"),
    [
        ("../../notes.md", "put the file into the skill"),
        ("../other/SKILL.md#usage", "write its name instead of a link"),
        ("/home/ada/notes.md", "link to files relative to the skill's directory"),
        ("/var/log", "link to files relative to the skill's directory"),
        ("/drive/guides/search", "and to web pages by their full URL"),
    ],
)
def test_a_link_out_of_the_skill_comes_with_advice_for_what_it_means(target: str, advice: str) -> None:
    (found,) = validate_skill(parse_document(f"{_HEAD}---\n[x]({target})\n"))
    assert found.message.endswith(advice)


@pytest.mark.proves("format.rules.errors-fail")
def test_only_errors_make_a_skill_invalid(tmp_path: Path) -> None:
    noted = skill_of(tmp_path, "\ufeff---\nname: é\ndescription: d\nallowed-tools: a, b\n---\n", "é")
    assert {one.severity for one in validate_skill(noted)} == {Severity.WARNING, Severity.INFO}
    try:
        require_valid(noted)
        assert read_skill(noted, profile="spec").name == "é"
    except SkillError as refused:
        pytest.fail(f"refused without an error: {refused}")
    wrong = skill_of(tmp_path, "---\nname: é\ndescription: d\nown: x\n---\n", "é")
    with pytest.raises(InvalidSkillError):
        require_valid(wrong)


@pytest.mark.proves("format.example.minimal", "format.example.full", "format.example.optional-fields")
@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("hello", "description: A simple greeting skill for testing agent integration.\n"),
        (
            "data-validation",
            (
                "description: >\n  Validate CSV and JSON data files against schemas.\n"
                "  Use when the user asks to check data quality.\nlicense: Apache-2.0\n"
                "compatibility: Requires Python 3.11+ and uv\nmetadata:\n  author: skillscraft\n"
                '  version: "1.0"\n  category: data\nallowed-tools: Bash Read\n'
            ),
        ),
        (
            "pdf-processing",
            (
                "description: Extrai texto e tabelas de arquivos PDF, preenche formulários, mescla documentos.\n"
                'license: Apache-2.0\nmetadata:\n  author: example-org\n  version: "1.0"\n'
            ),
        ),
    ],
)
def test_the_examples_of_the_texts_are_valid_in_every_profile(name: str, rest: str, tmp_path: Path) -> None:
    skill = skill_of(tmp_path, f"---\nname: {name}\n{rest}---\n# A heading\n", name)
    for profile in PROFILES:
        assert validate_skill(skill, profile=profile) == [], profile


@pytest.mark.proves("runtime.edge.colon", "format.repair.strict-first")
def test_an_unquoted_colon_loads_whole_with_a_warning_and_strict_profiles_say_what_to_quote(tmp_path: Path) -> None:
    skill = skill_of(tmp_path, "---\nname: a\ndescription: Ship notes. Triggers: release, tag\n---\n")
    loaded = read_skill(skill)
    assert loaded.description == "Ship notes. Triggers: release, tag"
    (warned,) = loaded.diagnostics
    assert (warned.rule, warned.severity, warned.location.line) == ("frontmatter.syntax", Severity.WARNING, 3)
    for profile in ("spec", "skillscraft", "boxxy", "claude-code"):
        (strict,) = validate_skill(skill, profile=profile)
        assert (strict.rule, strict.severity) == ("frontmatter.syntax", Severity.ERROR)
        assert _written(strict) == '"Ship notes. Triggers: release, tag"'
        with pytest.raises(SkillParseError):
            read_skill(skill, profile=profile)
    twice = parse_document(f"{_HEAD}name: b\n---\n")
    for profile in PROFILES:
        assert _rules(twice, profile) == ["frontmatter.duplicateKey"]


def _written(found: Diagnostic) -> str:
    assert found.fix is not None
    (edit,) = found.fix.edits
    return edit.text


def _rules(document: SkillDocument, profile: str) -> list[str]:
    return [one.rule for one in validate_skill(document, profile=profile)]


@pytest.mark.proves(
    "client.parse.mismatched-name",
    "client.parse.long-name",
    "client.parse.missing-name",
    "client.parse.missing-description",
)
def test_the_lenient_profile_loads_what_a_client_should_and_skips_what_it_should(tmp_path: Path) -> None:
    warns = {
        f"---\nname: other\n{_HEAD[12:]}---\n": "name.matchesDirectory",
        f"---\nname: {'x' * 65}\n{_HEAD[12:]}---\n": "name.maxLength",
        f"---\n{_HEAD[12:]}---\n": "name.required",
    }
    for text, rule in warns.items():
        directory = skill_of(tmp_path, text)
        found = validate_skill(directory, profile="lenient")
        assert rule in [one.rule for one in found]
        assert {one.severity for one in found} == {Severity.WARNING}
        skill = read_skill(directory)
        assert list(skill.diagnostics) == found
    assert skill.name == "a"
    with pytest.raises(SkillParseError) as refusal:
        read_skill(skill_of(tmp_path, "---\nname: a\n---\n"))
    assert [one.rule for one in refusal.value.diagnostics] == ["description.required"]


@pytest.mark.proves("client.parse.unreadable")
@pytest.mark.parametrize(
    "front",
    [
        "description: d\n- a\n: [\n",
        "description: d\nwords: [\n  a\nb\n",
        "description: &x d\n",
        "description: d\nlicense: *x\n",
        "description: d\n---x\nmore\n",
        "description: d\nx: |\n  a\n b\n",
    ],
)
def test_a_skill_whose_yaml_cannot_be_mended_is_skipped_with_an_error(front: str, tmp_path: Path) -> None:
    skill_of(tmp_path, "---\nname: mended\ndescription: Use when: asked\n---\n", "mended")
    broken = skill_of(tmp_path, f"---\nname: broken\n{front}---\nBody\n", "broken")
    catalog = Catalog(tmp_path)
    assert [entry.name for entry in catalog.entries()] == ["mended"]
    errors = [one for one in catalog.diagnostics if one.severity is Severity.ERROR]
    assert {(one.rule, one.location.path) for one in errors} == {("frontmatter.syntax", str(broken / "SKILL.md"))}
    with pytest.raises(SkillParseError):
        read_skill(broken)


@pytest.mark.proves("runtime.registry.package.optional-dirs")
def test_a_file_alone_is_a_skill_and_any_folder_may_come_with_it(tmp_path: Path) -> None:
    alone = skill_of(tmp_path, _GOOD)
    for profile in PROFILES:
        assert validate_skill(alone, profile=profile) == []
        assert read_skill(alone, profile=profile).resources == ()
    assert [entry.name for entry in Catalog(tmp_path).entries()] == ["a"]
    folders = ("assets", "docs", "examples", "references", "scripts")
    for count in range(1, len(folders) + 1):
        (alone / folders[count - 1]).mkdir()
        (alone / folders[count - 1] / "x.txt").write_text("x", encoding="utf-8")
        assert validate_skill(alone) == []
        assert [one.path for one in read_skill(alone).resources] == [f"{name}/x.txt" for name in folders[:count]]


@pytest.mark.unmeasured
@pytest.mark.proves("format.parse.single-parser")
def test_one_module_reads_yaml_and_one_finds_fences() -> None:
    readers, splitters = set(), set()
    for path in _SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = path.relative_to(_SOURCE).as_posix()
        for node in ast.walk(tree):
            imports = isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "yaml" for alias in node.names)
            if imports or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "yaml"):
                readers.add(name)
            if isinstance(node, ast.Call) and re.search(r"\bfind_fences$", ast.unparse(node.func)):
                splitters.add(name)
    assert readers - {"cli/commands/doctor.py"} == {"_internal/yaml_reader.py"}
    assert splitters == {"format/parsing.py"}
