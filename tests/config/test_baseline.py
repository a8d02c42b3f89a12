from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.config.baseline import Baseline
from prowess.errors import ConfigurationError
from prowess.format import parse_document, validate_skill
from prowess.format.reading import read_document

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.format import SkillDocument


def skill(root: Path, text: str) -> SkillDocument:
    directory = root / "skills" / "a"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SKILL.md").write_text(text, encoding="utf-8")
    return read_document(str(directory))


def test_what_is_known_is_not_new_though_its_lines_move(tmp_path: Path) -> None:
    file = str(tmp_path / "baseline.json")
    text = "---\nname: A\ndescription: d\nown: x\n---\n[a](/b)\n[c](/b)\n"
    document = skill(tmp_path, text)
    found = validate_skill(document)
    baseline = Baseline.at(file)
    assert baseline.write([(document, found)]) == len(found) == 5
    known = Baseline.read(file)
    assert known.new(document, found) == ()
    moved = skill(tmp_path, text.replace("name", "# c\n\nname").replace("---\n[", "---\nText\n\n["))
    assert known.new(moved, validate_skill(moved)) == ()
    more = skill(tmp_path, text + "[c](/b)\n")
    assert [one.location.line for one in known.new(more, validate_skill(more))] == [8]
    fewer = skill(tmp_path, text.replace("own: x\n", ""))
    assert known.gone([(fewer, validate_skill(fewer))]) == 1
    assert known.gone([]) == 0
    apart = parse_document(text, path="<stdin>")
    assert len(known.new(apart, validate_skill(apart))) == 4


def test_the_file_is_the_same_whoever_writes_it(tmp_path: Path) -> None:
    document = skill(tmp_path, "---\nname: A\n---\n")
    baseline = Baseline.at(str(tmp_path / "b.json"))
    findings = validate_skill(document)
    baseline.write([(document, findings)])
    before = (tmp_path / "b.json").read_bytes()
    baseline.write([(document, findings[::-1])])
    assert (tmp_path / "b.json").read_bytes() == before
    assert list(json.loads(before)["skills"]) == ["skills/a"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "skills": []}',
        '{"version": 1, "skills": {"a": {"b": 1}}}',
        "[" * 9000,
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "b.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="write it again with --write-baseline"):
        Baseline.read(str(file))


def test_a_baseline_is_there_and_outside_of_skills(tmp_path: Path) -> None:
    skill(tmp_path, "---\nname: a\n---\n")
    with pytest.raises(ConfigurationError, match="--write-baseline"):
        Baseline.read(str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Baseline.read(str(tmp_path))
    with pytest.raises(ConfigurationError, match="is inside the skill"):
        Baseline.at(str(tmp_path / "skills" / "a" / "b.json"))
