"""What stands for a document says what the document says."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.corpus import write_corpus
from prowess.format.document import SkillDocument
from prowess.format.limits import MAX_FRONT_MATTER_BYTES
from prowess.format.parsing import parse_source
from prowess.format.plain_document import plain_document
from prowess.format.profiles import PROFILES
from prowess.format.validation import raw_findings
from tests.conformance.format_cases import lay_out, parameters

if TYPE_CHECKING:
    from pathlib import Path

_ATTRIBUTES = [
    name
    for name, _ in inspect.getmembers(SkillDocument)
    if name[0] != "_" and name not in {"text_of", "place_of", "field"}
]


def _agree(data: bytes, directory: str) -> bool:
    """Compare both documents of the same bytes; return whether there are two."""
    path = f"{directory}/SKILL.md"
    real = parse_source(data, path=path, directory=directory)
    plain = plain_document(data, path=path, directory=directory)
    if plain is None:
        return False
    assert raw_findings(real, PROFILES["spec"]) == []
    for name in _ATTRIBUTES:
        one, other = getattr(plain, name), getattr(real, name)
        assert (one() == other()) if callable(one) else one == other, name
    for key in (*real.keys, "hooks", ""):
        assert plain.text_of(key) == real.text_of(key)
        assert plain.place_of(key) == real.place_of(key)
        assert plain.field(key) == real.field(key)
    return True


@pytest.mark.parametrize("case", parameters())
def test_a_case_gives_two_documents_that_are_alike_or_one(case: dict[str, Any], tmp_path: Path) -> None:
    skill = lay_out(case, tmp_path)
    if (skill / "SKILL.md").is_file() and not (skill / "skill.manifest.yaml").exists():
        _agree((skill / "SKILL.md").read_bytes(), str(skill))


def test_ordinary_skills_have_two(tmp_path: Path) -> None:
    write_corpus(str(tmp_path), 60)
    assert all(_agree((one / "SKILL.md").read_bytes(), str(one)) for one in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("name: a\ndescription:   d  \nlicense: 'it''s'", True),
        ("name: a\ndescription: one\n  two\n# why\nlicense: MIT", True),
        ("# first\nname: a\n\ndescription: >-\n  one\n  two\nmetadata:\n  name: b", True),
        ("description: d\nname: a\ncompatibility: 'b: c' \n\nlicense: MIT", True),
        ("name: a\ndescription: d\ncolour: red", False),
        ("name: a\ndescription: [d]", False),
        ("name: a\ndescription: d\nlicense: " + "x" * (MAX_FRONT_MATTER_BYTES - 32), False),
    ],
)
@pytest.mark.parametrize("body", ["\n", "", "\nBody\n", "\n" + "line\n" * 500, "\nünder [a](b.md)"])
def test_both_place_a_field_alike(text: str, body: str, *, plain: bool) -> None:
    assert _agree(f"---\n{text}\n---{body}".encode(), "/skills/a") == plain


@pytest.mark.parametrize("body", ["line\n" * 501, "[a](../b.md)\n", "[a](/b.md)", "a\rb", "a\0b"])
def test_a_body_that_a_rule_remarks_on_is_not_plain(body: str) -> None:
    assert not _agree(f"---\nname: a\ndescription: d\n---\n{body}".encode(), "/skills/a")


def test_what_no_document_has_is_no_attribute() -> None:
    document = plain_document(b"---\nname: a\ndescription: d\n---\n", path="SKILL.md", directory="/skills/a")
    with pytest.raises(AttributeError):
        _ = document.colour  # type: ignore[union-attr]  # that it is missing is the point
    with pytest.raises(AttributeError):
        _ = document._colour  # type: ignore[union-attr]
