"""Comparison of the plain reader of front matter with the full parser."""

from __future__ import annotations

from prowess.format.parsing import parse_source
from prowess.format.reading import validate_skill
from prowess.format.skill import frontmatter_of
from prowess.format.source.plain_front_matter import plain_description, plain_properties, read_plain_skill

HEAD = 4096


def agree(data: bytes, name: str = "a") -> bool:
    """Fail if the readers differ about a SKILL.md in a directory called `name`. Return whether the plain one answered.

    They must agree on every field, on the order of the fields, and on whether there are findings. A plain reading
    stands for a skill that is loaded, so none of the findings may be an error.
    """
    plain = read_plain_skill(data[:HEAD], name, complete=len(data) <= HEAD)
    if plain is None:
        return False
    document = parse_source(data, path=f"/x/{name}/SKILL.md", directory=f"/x/{name}")
    frontmatter = frontmatter_of(document)
    fields = plain_properties(plain.source)
    assert fields is not None
    description = plain_description(plain.source).strip()
    assert description == str(fields["description"]).strip()
    others = {key: value for key, value in fields.items() if key not in {"name", "description"}}
    assert frontmatter.name == plain.name
    assert frontmatter.description == description
    expected = [("name", plain.name), ("description", description), *others.items()]
    assert list(frontmatter.properties().items()) == expected
    findings = validate_skill(document, profile="lenient", references=False)
    assert bool(findings) == plain.has_findings
    assert {found.severity for found in findings} <= {"warning"}
    return True
