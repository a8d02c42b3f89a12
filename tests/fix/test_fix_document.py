from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import Diagnostic, Edit, Fix, FixSafety, Location, Severity
from prowess.fix import FixedDocument, apply_fixes, fix_document
from prowess.fix.applying import Applied, changes_only_declared
from prowess.format import parse_allowed_tools, parse_document
from prowess.format.parsing import parse_source
from prowess.format.profiles import PROFILES
from prowess.format.reading import judge, raw_findings
from tests.conformance.format_cases import lay_out, parameters

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.format import SkillDocument

SKILL = "my-skill"


def judged(document: SkillDocument, profile: str = "spec") -> list[Diagnostic]:
    found = raw_findings(document, PROFILES[profile])
    return [kept for one in found if (kept := judge(one, PROFILES[profile])) is not None]


def fixed(source: bytes | str, *, unsafe: bool = True, directory: str = SKILL) -> FixedDocument:
    data = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    read = partial(parse_source, path="SKILL.md", directory=f"/x/{directory}")
    return fix_document(data, read, judged, unsafe=unsafe)


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(line=line, column=column, end_line=end_line, end_column=end_column, text=text)


def fix(*edits: Edit, changes: tuple[str, ...] = ()) -> Fix:
    return Fix(safety=FixSafety.SAFE, title="t", edits=edits, changes=changes)


def everything(document: SkillDocument) -> dict[str, object]:
    """All values of a document in one mapping: the fields as they are, and those of metadata one by one."""
    values = document.mapping()
    metadata = values.pop("metadata", None) or {}
    return values | (metadata if isinstance(metadata, dict) else {"metadata": metadata})


# ── applying ──────────────────────────────────────────────────────────────────────────────────────────────


def test_of_two_fixes_that_overlap_the_second_waits() -> None:
    one, other = fix(edit(1, 1, 1, 3, "AB")), fix(edit(1, 2, 1, 4, "X"))
    done = apply_fixes("abcd", [one, other])
    assert done == Applied(text="ABcd", fixes=(one,), refused=(other,))
    touching = fix(edit(1, 3, 1, 5, "Z"))
    assert apply_fixes("abcd", [one, touching]).text == "ABZ"


def test_two_insertions_at_one_place_have_no_order() -> None:
    one, other = fix(edit(1, 2, 1, 2, "1")), fix(edit(1, 2, 1, 2, "2"))
    assert apply_fixes("ab", [one, other]) == Applied(text="a1b", fixes=(one,), refused=(other,))


def test_a_fix_whose_own_edits_overlap_is_refused_whole() -> None:
    broken = fix(edit(1, 1, 1, 3, "x"), edit(1, 2, 1, 4, "y"))
    assert apply_fixes("abcd", [broken, fix()]) == Applied(text="abcd", fixes=(), refused=(broken, fix()))


def test_two_fixes_of_one_field_do_not_go_together() -> None:
    one, other = fix(edit(1, 1, 1, 2, "A"), changes=("name",)), fix(edit(1, 3, 1, 4, "C"), changes=("name",))
    assert apply_fixes("abcd", [one, other]).fixes == (one,)


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_line_breaks_stay_as_the_author_has_them(line_break: str) -> None:
    text = f"a{line_break}b{line_break}c"
    assert apply_fixes(text, [fix(edit(2, 1, 2, 2, "B\nD"))]).text == f"a{line_break}B{line_break}D{line_break}c"
    assert apply_fixes(text, [fix(edit(2, 1, 9, 1, ""))]).text == f"a{line_break}"
    assert apply_fixes("a", [fix(edit(1, 9, 1, 9, "\n"))]).text == "a\n"


# ── rounds ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("source", "result"),
    [
        (
            "\ufeff---\r\nname: my-skill\r\ndescription: d\r\n---\r\nB\r\n",
            "---\r\nname: my-skill\r\ndescription: d\r\n---\r\nB\r\n",
        ),
        ("\n\n---\nname: my-skill\ndescription: d\n---\n", "---\nname: my-skill\ndescription: d\n---\n"),
        ("---\nname: my-skill\ndescription: Do: it\n---\n", '---\nname: my-skill\ndescription: "Do: it"\n---\n'),
        ("---\nname: my-skill\ndescription: d\nname: my-skill #\n---\n", "---\nname: my-skill\ndescription: d\n---\n"),
        (
            "---\nname: my-skill\ndescription: d\nallowed-tools: Read, Bash(git a, b)\n---\n",
            "---\nname: my-skill\ndescription: d\nallowed-tools: Read Bash(git a, b)\n---\n",
        ),
        (
            "---\nname: my-skill\nversion: 1.0 # v\nauthor: me\ndescription: d\n---\n",
            "---\nname: my-skill\nmetadata:\n  version: 1.0 # v\n  author: me\ndescription: d\n---\n",
        ),
        ("---\r\ndescription: d\r\n---\r\n", "---\r\nname: my-skill\r\ndescription: d\r\n---\r\n"),
    ],
)  # fmt: skip
def test_safe_fixes_mend_what_is_obvious(source: str, result: str) -> None:
    done = fixed(source, unsafe=False)
    assert done.data.decode() == result
    assert done.fixed
    assert [found.rule for found in done.findings] == []


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("name: other\ndescription: d\n", "name: my-skill\ndescription: d\n"),
        ("name: my-skill\ndescription: d\ndescription: e\n", "name: my-skill\ndescription: d\n"),
        ("name: my-skill\ndescription: d\nmodel: x\n", "name: my-skill\ndescription: d\nmetadata:\n  model: x\n"),
        ("name: my-skill\ndescription: d\nallowed_tools: R\n", "name: my-skill\ndescription: d\nallowed-tools: R\n"),
    ],
)
def test_what_may_change_the_meaning_waits_to_be_asked_for(source: str, result: str) -> None:
    text = f"---\n{source}---\n"
    assert fixed(text, unsafe=False).data.decode() == text
    assert fixed(text).data.decode() == f"---\n{result}---\n"


@pytest.mark.parametrize(
    "source",
    [
        b"---\nname: a\xff\nversion: 1\n---\n",
        "---\nname: a\nversion: 1\n",
        "---\n- a\n---\n",
        "---\nname: my-skill\n? [a\nversion: 1\n---\n",
        "---\nname: my-skill\ndescription: d\nb: &a 1\nc: *a\n---\n",
    ],
)
def test_what_cannot_be_read_as_a_whole_is_left_alone(source: bytes | str) -> None:
    done = fixed(source)
    if b"&a" not in done.data:
        assert done.fixed == ()
    assert done.data == (source if isinstance(source, bytes) else source.encode()) or b"&a" in done.data


def test_a_fix_that_breaks_its_word_is_left_out() -> None:
    """A rule with a fault of its own must not cost the author a value."""
    text = "---\nname: my-skill\ndescription: d\nlicense: MIT\n---\nBody\n"
    liar = fix(edit(3, 14, 3, 15, "changed"))
    body = fix(edit(4, 10, 4, 13, "[MIT"))
    honest = fix(edit(4, 10, 4, 13, "'MIT'"))

    def check(document: SkillDocument) -> list[Diagnostic]:
        found = [liar, body, honest] if "'MIT'" not in document.text else [liar]
        place = Location(path=document.path)
        return [
            Diagnostic(rule="x", family="lint", severity=Severity.INFO, message="m", location=place, fix=one)
            for one in found
        ]

    done = fix_document(text.encode(), partial(parse_document, path="SKILL.md"), check)
    assert done.data.decode() == text.replace("MIT", "'MIT'")
    assert [found.fix for found in done.fixed] == [honest]
    elsewhere = fix_document(
        text.encode(), partial(parse_document, path="other.md"), lambda _: check(parse_document(text))
    )
    assert elsewhere.fixed == ()


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        (edit(5, 1, 5, 5, "Text"), True),  # the first line of the body
        (edit(6, 1, 6, 5, "Text"), True),
        (edit(4, 4, 5, 1, "\n\n"), True),  # from the fence into the body
        (edit(4, 4, 4, 4, "\nText"), False),  # the fence alone: what it puts into the body was not announced
        (edit(3, 15, 3, 15, "\n---\nText"), False),
    ],
)
def test_a_fix_may_change_the_body_if_one_of_its_edits_lies_in_it(changed: Edit, kept: bool) -> None:  # noqa: FBT001 -- a parameter
    text = "---\nname: my-skill\ndescription: d\n---\nBody\nMore\n"
    one = fix(changed)
    before, after = parse_document(text), parse_document(apply_fixes(text, [one]).text)
    assert before.body_line == 5
    assert before.body != after.body
    assert changes_only_declared(before, after, [one]) is kept


def test_a_huge_file_gets_a_few_rounds_alone() -> None:
    fields = "".join(f"k{number}: v\n" for number in range(20))
    text = f"---\nname: my-skill\ndescription: d\n{fields}---\n{'x' * 2_000_000}"
    assert len(fixed(text, unsafe=False).fixed) == 8
    assert len(fixed(text.replace("xx", ""), unsafe=False).fixed) == 20


# ── the promise ───────────────────────────────────────────────────────────────────────────────────────────

_WORDS = st.sampled_from(
    [
        "name",
        "description",
        "license",
        "compatibility",
        "metadata",
        "allowed-tools",
        "Allowed_Tools",
        "version",
        "model",
    ]
)
_VALUES = st.sampled_from(
    [
        "x", "my-skill", "Other", "a: b", "'q'", '"d: e"', "Read, Bash(git a, b)", "[Read, Write]", "|\n  a\n   b\n",
        ">-\n  f\n  g", "\n  k: v\n  k: w", "\n  k: v # c", "{a: 1}", "1.0 # c", "", "'it''s'", "a\n  b", '\\d "e"',
        "\u2028x", "é", "\n\t a: 1", "[", "&a 1", "- a", "x: y: z", '"\\d"',
    ]
)  # fmt: skip
_ENTRIES = st.lists(st.tuples(_WORDS, _VALUES), max_size=7)
_DOCUMENTS = st.builds(
    lambda lead, entries, body, line_break: (
        lead + "---\n" + "".join(f"{key}: {value}\n" for key, value in entries) + "---\n" + body
    ).replace("\n", line_break),
    st.sampled_from(["", "\ufeff", "\n\n", "<!-- c -->\n"]),
    _ENTRIES,
    st.sampled_from(["", "Body\n", "---\nname: x\n", "[a](/b)"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


def tokens(value: object) -> list[str]:
    parts = value if isinstance(value, list) else [value]
    return [str(token) for part in parts for token in parse_allowed_tools(str(part)).tokens]


def promise_is_kept(data: bytes, *, unsafe: bool) -> None:
    before = parse_document(data)
    done = fixed(data, unsafe=unsafe)
    if done.data == data:
        return
    assert (
        changes_only_declared(before, done.document, [found.fix for found in done.fixed if found.fix is not None])
        or unsafe
    )
    old, new = everything(before), everything(done.document)
    announced = {field for found in done.fixed if found.fix is not None for field in found.fix.changes}
    for key, value in old.items():
        if key in {"name", "allowed-tools"} & announced or key not in new:
            assert key in announced
        else:
            assert new[key] == value
    if "allowed-tools" in old and "allowed-tools" in new:
        assert tokens(new["allowed-tools"]) == tokens(old["allowed-tools"])
    again = fixed(done.data, unsafe=unsafe)
    assert (again.data, again.fixed) == (done.data, ())
    if b"\n" not in data.replace(b"\r\n", b""):
        assert b"\n" not in done.data.replace(b"\r\n", b"")


@given(_DOCUMENTS, st.booleans())
@pytest.mark.proves("tooling.cli.check-fix")
def test_a_fix_changes_no_value_but_what_it_says_and_a_second_run_nothing(text: str, unsafe: bool) -> None:  # noqa: FBT001 -- drawn
    promise_is_kept(text.encode(), unsafe=unsafe)


@pytest.mark.parametrize("case", parameters("files"))
@pytest.mark.parametrize("unsafe", [False, True])
def test_the_promise_is_kept_on_the_cases_of_conformance(case: dict[str, Any], tmp_path: Path, unsafe: bool) -> None:  # noqa: FBT001 -- a parameter
    for path in lay_out(case, tmp_path).glob("[Ss][Kk][Ii][Ll][Ll].md"):
        if path.is_file() and not path.is_symlink():
            promise_is_kept(path.read_bytes(), unsafe=unsafe)
