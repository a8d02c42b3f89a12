"""`skill.manifest.yaml`: what it says, what is wrong with it, and that it changes nothing for a skill without it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.diagnostics import Severity
from prowess.errors import SkillParseError
from prowess.format import read_document, read_skill, validate_skill
from prowess.format.manifest.manifest import KEYS, MAX_BYTES, Capability, Composition, SkillDependency
from prowess.format.manifest.manifest_reader import parse_sidecar, read_sidecar
from prowess.format.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prowess.format import Skill, SkillDocument

FULL = """\
security:
  capabilities:
    - capability: file:read
      reason: reads the invoices
    - {capability: "shell:execute", reason: runs git, optional: true}
  requiresNetwork: false
  modifiesFiles: true
  executesCommands: true
  fileSystemScope: workspace
tests:
  - name: totals
    description: Sums are right.
    cases:
      - name: one invoice
        input: What do I owe?
        expectedBehavior: It names the sum.
        assertions:
          - {type: contains, value: "12.50", description: the sum}
          - {type: file-created, value: out/sum.txt}
tools:
  dependencies:
    - {tool: "Bash(git:*)", required: true, purpose: history, minVersion: "2.9"}
composition:
  dependencies:
    - {skillName: ledger, reason: has the accounts}
    - {skillName: mail, reason: sends it, optional: true}
  conflicts: [old-invoices]
  executionOrder: after
"""


def written(tmp_path: Path, manifest: str | bytes | None) -> Path:
    directory = tmp_path / "invoices"
    directory.mkdir()
    (directory / "SKILL.md").write_text(
        "---\nname: invoices\ndescription: Sums invoices. Use when one comes in.\n---\nSum.\n"
    )
    if manifest is not None:
        data = manifest if isinstance(manifest, bytes) else manifest.encode()
        (directory / "skill.manifest.yaml").write_bytes(data)
    return directory


@pytest.mark.parametrize("form", ["directory", "file", "document", "skill"])
@pytest.mark.proves("format.manifest.place")
def test_a_faulty_manifest_is_found_beside_a_skill_without_any_other_fault(tmp_path: Path, form: str) -> None:
    directory = written(tmp_path, "composition: 5\n")
    targets: dict[str, Callable[[], Path | SkillDocument | Skill]] = {
        "directory": lambda: directory,
        "file": lambda: directory / "SKILL.md",
        "document": lambda: read_document(directory),
        "skill": lambda: read_skill(directory),
    }
    [found] = validate_skill(targets[form]())
    assert found.rule == "composition.type"
    assert (found.location.path or "").endswith("skill.manifest.yaml")
    assert found.location.line == 1
    (directory / "skill.manifest.yaml").unlink()
    assert validate_skill(targets[form]()) == []


@pytest.mark.proves("format.manifest.place", "format.manifest.field-names", "format.manifest.security.capability")
def test_a_manifest_is_read_from_the_file_beside_the_skill(tmp_path: Path) -> None:
    skill = read_skill(written(tmp_path, FULL))

    sidecar = skill.sidecar
    assert sidecar.faults == ()
    assert sidecar.security is not None
    assert sidecar.security.capabilities[0] == Capability(capability="file:read", reason="reads the invoices")
    assert sidecar.composition == Composition(
        dependencies=(
            SkillDependency(skill_name="ledger", reason="has the accounts"),
            SkillDependency(skill_name="mail", reason="sends it", optional=True),
        ),
        conflicts=("old-invoices",),
        execution_order="after",
    )
    data = json.loads(json.dumps(sidecar.as_dict()))
    assert list(data) == list(KEYS)
    assert data["security"]["fileSystemScope"] == "workspace"
    assert data["tests"][0]["cases"][0]["expectedBehavior"] == "It names the sum."
    assert data["tools"]["dependencies"][0] == {
        "tool": "Bash(git:*)",
        "required": True,
        "purpose": "history",
        "minVersion": "2.9",
    }


@pytest.mark.proves(
    "format.manifest.security.optional",
    "format.manifest.security.requires-network",
    "format.manifest.security.modifies-files",
    "format.manifest.security.executes-commands",
)
def test_what_a_security_manifest_does_not_say_is_not_known() -> None:
    said = parse_sidecar(FULL.encode()).security
    silent = parse_sidecar(b"security: {capabilities: []}").security
    assert said is not None
    assert silent is not None
    assert (said.requires_network, said.modifies_files, said.executes_commands) == (False, True, True)
    assert (silent.requires_network, silent.modifies_files, silent.executes_commands) == (None, None, None)
    assert [one.optional for one in said.capabilities] == [False, True]
    for flag in ("requiresNetwork", "modifiesFiles", "executesCommands"):
        (fault,) = parse_sidecar(f"security: {{capabilities: [], {flag}: yes}}".encode()).faults
        assert (fault.rule, fault.location.line) == ("security.type", 1)
        assert fault.message == f"security.{flag} is 'yes', it must be true or false"


@pytest.mark.proves("format.manifest.place", "format.manifest.backward-compatible")
@pytest.mark.parametrize("manifest", [None, FULL])
def test_keys_of_a_manifest_are_no_fields_of_a_skill(tmp_path: Path, manifest: str | None) -> None:
    directory = written(tmp_path, manifest)
    assert validate_skill(directory) == []

    text = (directory / "SKILL.md").read_text()
    (directory / "SKILL.md").write_text(text.replace("---\nSum", "security:\n  capabilities: []\n---\nSum"))
    assert [found.rule for found in validate_skill(directory)] == ["frontmatter.unknownField"]
    assert (read_skill(directory).sidecar.security is None) == (manifest is None)


@pytest.mark.proves("format.manifest.backward-compatible")
@pytest.mark.parametrize(
    "manifest", ["security: 1\ntests: {}\ntools: []\ncomposition: x\n", "a: [", "- a\n", b"\xff\n"]
)
def test_a_wrong_manifest_makes_a_skill_invalid_only_where_manifests_are_demanded(
    tmp_path: Path, manifest: str | bytes
) -> None:
    directory = written(tmp_path, manifest)
    for profile in PROFILES:
        errors = [found for found in validate_skill(directory, profile=profile) if found.severity is Severity.ERROR]
        assert bool(errors) == (profile == "skillscraft"), profile
    assert read_skill(directory).name == "invoices"
    with pytest.raises(SkillParseError):
        read_skill(directory, profile="skillscraft")


@pytest.mark.proves(
    "format.manifest.field-names",
    "format.manifest.security.capabilities",
    "format.manifest.security.capability",
    "format.manifest.security.reason",
    "format.manifest.security.scope",
)
@pytest.mark.parametrize(
    ("manifest", "rule", "place"),
    [
        ("security: no\n", "security.type", (1, 11)),
        ("security: {}\n", "security.capabilities.type", (1, 11)),
        ("security:\n  capabilities: file:read\n", "security.capabilities.type", (2, 17)),
        ("security:\n  capabilities:\n  - file:read\n", "security.capabilities.itemType", (3, 5)),
        ("security:\n  capabilities:\n  - {capability: read, reason: r}\n", "security.capabilities.itemType", (3, 18)),
        ("security:\n  capabilities:\n  - reason: r\n", "security.capabilities.itemType", (3, 5)),
        ("security:\n  capabilities:\n  - capability: a:b\n", "security.capabilities.itemType", (3, 5)),
        ("security:\n  capabilities:\n  - {capability: a:b, reason: ''}\n", "security.capabilities.itemType", (3, 31)),
        ("security:\n  capabilities: []\n  fileSystemScope: home\n", "security.fileSystemScope", (3, 20)),
        ("security:\n  capabilities: []\n  requires_network: true\n", "manifest.unknownField", (3, 3)),
    ],
)
def test_a_fault_of_a_security_manifest_has_a_rule_and_a_place(
    manifest: str, rule: str, place: tuple[int, int]
) -> None:
    sidecar = parse_sidecar(manifest.encode(), path="a/skill.manifest.yaml")
    (fault,) = sidecar.faults
    assert (fault.rule, (fault.location.line, fault.location.column)) == (rule, place)
    assert fault.location.path == "a/skill.manifest.yaml"
    assert (sidecar.security is None) == (rule != "manifest.unknownField")


@pytest.mark.proves("format.manifest.composition.dependencies", "format.manifest.composition.optional")
@pytest.mark.parametrize(
    ("manifest", "rule"),
    [
        ("composition: [a]", "composition.type"),
        ("composition: {conflicts: [a]}", "composition.dependencies.type"),
        ("composition: {dependencies: [a]}", "composition.dependencies.itemType"),
        ("composition: {dependencies: [{skillName: A, reason: r}]}", "composition.dependencies.itemType"),
        ("composition: {dependencies: [{skillName: a}]}", "composition.dependencies.itemType"),
        ("composition: {dependencies: [{reason: r}]}", "composition.dependencies.itemType"),
        (
            "composition: {dependencies: [{skillName: a, reason: r, optional: maybe}]}",
            "composition.dependencies.itemType",
        ),
        ("composition: {dependencies: [], conflicts: a}", "composition.conflicts.type"),
        ("composition: {dependencies: [], conflicts: [a b]}", "composition.conflicts.type"),
        ("tools: x", "tools.type"),
        ("tools: {dependencies: x}", "tools.dependencies.type"),
        ("tools: {dependencies: [x]}", "tools.dependencies.itemType"),
        ("tests: x", "testing.type"),
        ("tests: [{name: n, description: d}]", "testing.scenarios.type"),
        ("tests: [x]", "testing.scenarios.itemType"),
        ("tests: [{description: d, cases: []}]", "testing.scenarios.name"),
        (
            "tests: [{name: n, description: d, cases: [{name: c, input: i, assertions: [], expectedBehavior: []}]}]",
            "testing.scenarios.expectedOutput",
        ),
        (
            "tests: [{name: n, description: d, cases: [{name: c, input: i, assertions: [{type: is, value: v}]}]}]",
            "testing.scenarios.itemType",
        ),
        ("composition: {dependencies: []}\ncomposition: {dependencies: []}", "manifest.duplicateKey"),
        ("- a", "manifest.notMapping"),
        ("a: &x 1\n", "manifest.syntax"),
        ("a: [", "manifest.syntax"),
        ("extra: 1", "manifest.unknownField"),
    ],
)
def test_each_part_has_rules_of_its_own(manifest: str, rule: str) -> None:
    assert [fault.rule for fault in parse_sidecar(manifest.encode()).faults] == [rule]


def test_an_unknown_field_costs_nothing_but_itself() -> None:
    text = FULL.replace("reason: reads the invoices", "reason: reads the invoices\n      since: '1'")
    sidecar = parse_sidecar(text.encode())
    assert [fault.rule for fault in sidecar.faults] == ["manifest.unknownField"]
    assert sidecar.security == parse_sidecar(FULL.encode()).security
    assert sidecar.closing_fault is None


def test_what_a_skill_excludes_holds_beside_a_fault() -> None:
    sidecar = parse_sidecar(b"composition: {conflicts: [a], executionOrder: soon}")
    assert sidecar.composition == Composition(conflicts=("a",))


def test_no_link_is_followed_and_no_pipe_is_waited_for(tmp_path: Path) -> None:
    directory = written(tmp_path, None)
    manifest = directory / "skill.manifest.yaml"
    (tmp_path / "elsewhere.yaml").write_text(FULL)
    manifest.symlink_to(tmp_path / "elsewhere.yaml")
    assert [fault.rule for fault in read_sidecar(str(directory)).faults] == ["manifest.file"]
    assert read_skill(directory).sidecar.closing_fault is not None
    manifest.unlink()
    os.mkfifo(manifest)
    assert [fault.rule for fault in read_sidecar(str(directory)).faults] == ["manifest.file"]
    manifest.unlink()
    manifest.mkdir()
    assert [fault.rule for fault in read_sidecar(str(directory)).faults] == ["manifest.file"]


def test_size_and_findings_are_bounded(tmp_path: Path) -> None:
    directory = written(tmp_path, "#" * (MAX_BYTES + 1))
    assert [fault.rule for fault in read_sidecar(str(directory)).faults] == ["manifest.file"]
    many = parse_sidecar("".join(f"k{number}: 1\n" for number in range(4000)).encode() + b"composition: 1\n")
    assert len(many.faults) == 100
    assert many.closing_fault is not None


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_no_bytes_raise(data: str | bytes) -> None:
    parse_sidecar(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")).as_dict()


_WORDS = (*KEYS, "capabilities", "dependencies", "cases", "assertions", "type", "name")
_SHAPES = st.recursive(
    st.sampled_from(["x", "true", "", "a:b", "contains"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4),
    max_leaves=12,
)


@given(_SHAPES)
def test_no_shape_raises(value: object) -> None:
    parse_sidecar(json.dumps(value).encode()).as_dict()
