"""Plugins: named by their manifest, with the skills that it declares or that lie in `skills/`, and nothing else."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, Layer
from prowess.catalog.project import plugin_sources
from prowess.catalog.sources.plugin_manifest import MAX_MANIFEST_BYTES
from prowess.errors import SkillNotFoundError
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CLAUDE = ".claude-plugin/plugin.json"
AGENT_PLUGINS = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def write_manifest(plugin: Path, content: object, file: str = CLAUDE) -> Path:
    path = plugin / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return plugin


def catalog_of(*plugins: Path) -> Catalog:
    return Catalog(*plugin_sources([str(plugin) for plugin in plugins]))


def qualified(catalog: Catalog) -> list[str]:
    return [entry.qualified_name for entry in catalog.all_entries()]


# ── how it is called ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("governance.plugin.named")
@pytest.mark.parametrize("directory", ["acme", "1.2.3", "cache/marketplace/acme/1.2.3", "a b", "unknown", "@x"])
def test_a_plugin_has_the_name_in_its_manifest_whatever_its_directory_is_called(tmp_path: Path, directory: str) -> None:
    plugin = write_manifest(tmp_path / directory, {"name": "acme", "version": "1.2.3"})
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin)
    entry = catalog.get("doctor@acme")
    assert (entry.name, entry.source, entry.layer) == ("doctor", "acme", Layer.PLUGIN)
    assert entry.location == str(plugin / "skills" / "doctor" / "SKILL.md")
    assert catalog.skill("doctor@acme").name == "doctor"
    assert catalog.why("doctor@acme").winner is entry
    assert catalog.diagnostics == ()


@pytest.mark.proves("governance.plugin.named")
@pytest.mark.parametrize("given", [".", "skills", "skills/", "./skills/../"])
def test_a_plugin_is_the_same_by_its_directory_and_by_its_skills(tmp_path: Path, given: str) -> None:
    plugin = write_manifest(tmp_path / "1.2.3", {"name": "acme"})
    write_skill(plugin / "skills" / "doctor")
    write_skill(plugin / "tests" / "fixtures" / "broken")
    catalog = Catalog(*plugin_sources([f"{plugin}/{given}"]))
    assert qualified(catalog) == ["doctor@acme"]
    assert catalog.entries()[0].root_dir == str(plugin / "skills" / "doctor")


@pytest.mark.proves("governance.plugin.named")
@pytest.mark.parametrize(
    ("file", "content"),
    [
        (CLAUDE, {"name": "acme"}),
        ("plugin.json", {"$schema": AGENT_PLUGINS, "name": "acme"}),
        (".codex-plugin/plugin.json", {"name": "acme"}),
        (".cursor-plugin/plugin.json", {"name": "acme"}),
        (CLAUDE, "\ufeff" + '{"name": "acme"}\r\n'),
    ],
)
def test_every_form_of_a_manifest_is_read(tmp_path: Path, file: str, content: object) -> None:
    plugin = write_manifest(tmp_path / "1.2.3", content, file)
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin)
    assert (qualified(catalog), catalog.diagnostics) == (["doctor@acme"], ())


@pytest.mark.parametrize("content", ['{"type": "panel", "name": "other"}', "[", "{}", "7", "[" * 100_000])
def test_a_plugin_json_of_something_else_names_no_plugin(tmp_path: Path, content: str) -> None:
    plugin = write_manifest(tmp_path / "acme", content, "plugin.json")
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin)
    assert (qualified(catalog), catalog.diagnostics) == (["doctor@acme"], ())


def test_the_manifest_of_claude_code_is_read_first(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.2.3", {"name": "acme"})
    write_manifest(plugin, {"name": "other"}, ".codex-plugin/plugin.json")
    write_manifest(plugin, {"$schema": AGENT_PLUGINS, "name": "another"}, "plugin.json")
    write_skill(plugin / "skills" / "doctor")
    assert qualified(catalog_of(plugin)) == ["doctor@acme"]


@pytest.mark.proves("governance.plugin.named")
def test_two_plugins_of_one_name_are_a_warning_that_names_both(tmp_path: Path) -> None:
    plugins = [write_manifest(tmp_path / directory, {"name": "acme"}) for directory in ("one/1.0", "two/1.0", "three")]
    for plugin in plugins:
        write_skill(plugin / "skills" / "doctor", description=str(plugin))
    catalog = catalog_of(*plugins)
    assert catalog.get("doctor").description == str(plugins[-1])
    for label, plugin in zip(("acme-3", "acme-2", "acme"), plugins, strict=True):
        assert catalog.get(f"doctor@{label}").description == str(plugin)
    warnings = [found for found in catalog.diagnostics if found.rule == "catalog.plugin"]
    assert [found.severity for found in warnings] == ["warning", "warning"]
    assert str(plugins[1]) in warnings[0].message
    assert str(plugins[2]) in warnings[0].message
    assert "acme-2" in warnings[0].message


def test_a_plugin_that_is_given_twice_is_one(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin, plugin)
    assert (qualified(catalog), rules(catalog)) == (["doctor@acme"], [])


def test_a_manifest_that_is_edited_counts_at_the_next_look(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    for name in ("doctor", "nurse"):
        write_skill(plugin / "skills" / name)
    catalog = catalog_of(plugin)
    write_manifest(plugin, {"name": "globex", "skills": "skills/nurse"})
    catalog.refresh()
    assert qualified(catalog) == ["nurse@globex"]
    (plugin / CLAUDE).unlink()
    catalog.refresh()
    assert qualified(catalog) == ["1.0/doctor", "1.0/nurse"]  # `doctor@1.0` would ask for a version


# ── which skills it has ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("governance.plugin.skills")
@pytest.mark.parametrize("manifest", [{"name": "acme"}, None])
def test_without_a_declaration_the_skills_are_the_children_of_skills(tmp_path: Path, manifest: object) -> None:
    plugin = tmp_path / "acme"
    if manifest:
        write_manifest(plugin, manifest)
    for path in ("skills/doctor", "skills/nurse", "tests/fixtures/broken", "docs/sample", "fixtures/x", "extra"):
        write_skill(plugin / path)
    (plugin / "tests" / "fixtures" / "broken" / "SKILL.md").write_text("no front matter")
    catalog = catalog_of(plugin)
    assert (qualified(catalog), catalog.diagnostics) == (["doctor@acme", "nurse@acme"], ())
    with pytest.raises(SkillNotFoundError):
        catalog.get("sample")


def test_a_manifest_that_is_too_large_is_one_warning_whatever_makes_it_so(tmp_path: Path) -> None:
    text = json.dumps({"name": "stolen"})
    plugin = write_manifest(tmp_path / "acme", text + " " * (MAX_MANIFEST_BYTES + 1 - len(text)))
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin)
    assert qualified(catalog) == ["doctor@acme"]
    assert f"larger than {MAX_MANIFEST_BYTES} bytes" in finding(catalog, "catalog.plugin").message
    write_manifest(plugin, text + " " * (MAX_MANIFEST_BYTES - len(text)))
    assert qualified(catalog_of(plugin)) == ["doctor@stolen"]


@pytest.mark.proves("governance.plugin.skills")
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("./skills/doctor", ["doctor"]),
        ("skills/doctor/", ["doctor"]),
        ("skills/doctor/SKILL.md", ["doctor"]),
        ("./skills/", ["doctor", "nurse"]),
        (["./skills/"], ["doctor", "nurse"]),
        (["skills/nurse", "./skills//nurse", "./other/./surgeon"], ["nurse", "surgeon"]),
        (["skills", "other/surgeon"], ["doctor", "nurse", "surgeon"]),
        ("${CLAUDE_PLUGIN_ROOT}/other", ["surgeon"]),
        ("${CLAUDE_PLUGIN_ROOT}//other/surgeon", ["surgeon"]),
        ([], []),
    ],
)
def test_what_the_manifest_declares_are_the_skills(tmp_path: Path, declared: object, expected: list[str]) -> None:
    plugin = write_manifest(tmp_path / "1.2.3", {"name": "acme", "skills": declared})
    for path in ("skills/doctor", "skills/nurse", "other/surgeon", "tests/broken"):
        write_skill(plugin / path)
    catalog = catalog_of(plugin)
    assert (names(catalog.entries()), catalog.diagnostics) == (expected, ())


@pytest.mark.proves("governance.plugin.skills")
@pytest.mark.parametrize(
    "content", [{"name": "acme"}, {"name": "acme", "skills": "./"}, {"name": "acme", "skills": ["."]}]
)
def test_a_plugin_may_be_one_skill(tmp_path: Path, content: object) -> None:
    plugin = write_manifest(write_skill(tmp_path / "doctor"), content)
    write_skill(plugin / "tests" / "broken")
    catalog = catalog_of(plugin)
    assert (qualified(catalog), catalog.diagnostics) == (["doctor@acme"], ())
    assert catalog.skill("doctor@acme").root_dir == str(plugin)


@pytest.mark.proves("governance.plugin.skills")
def test_a_skill_file_above_the_skills_is_reported_and_hides_none(tmp_path: Path) -> None:
    plugin = write_manifest(write_skill(tmp_path / "acme"), {"name": "acme"})
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin)
    assert qualified(catalog) == ["doctor@acme"]
    assert finding(catalog, "catalog.loose").location.path == str(plugin / "SKILL.md")


def test_a_skill_file_in_skills_itself_is_reported_and_hides_none(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    write_skill(plugin / "skills")
    write_skill(plugin / "skills" / "doctor")
    catalog = catalog_of(plugin)
    assert qualified(catalog) == ["doctor@acme"]
    assert finding(catalog, "catalog.loose").location.path == str(plugin / "skills" / "SKILL.md")


@pytest.mark.proves("governance.plugin.skills")
def test_a_directory_with_neither_is_searched_as_any_other(tmp_path: Path) -> None:
    for path in ("doctor", "group/deep/nurse", "tests/surgeon"):
        write_skill(tmp_path / "acme" / path)
    catalog = catalog_of(tmp_path / "acme")
    assert (qualified(catalog), catalog.diagnostics) == (["doctor@acme", "nurse@acme", "surgeon@acme"], ())


def test_a_manifest_without_skills_in_a_plugin_without_any_is_searched_too(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    write_skill(plugin / "doctor")
    assert qualified(catalog_of(plugin)) == ["doctor@acme"]


@pytest.mark.parametrize("spelling", ["skill.md", "Skill.md"])
def test_a_skill_in_another_spelling_is_found_or_reported(tmp_path: Path, spelling: str) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    skill = write_skill(plugin / "skills" / "doctor")
    (skill / "SKILL.md").rename(skill / spelling)
    catalog = catalog_of(plugin)
    assert (qualified(catalog), rules(catalog)) == (
        (["doctor@acme"], ["file.name"]) if spelling == "skill.md" else ([], ["catalog.spelling"])
    )


# ── what is hidden ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("governance.plugin.skills")
def test_what_a_skill_hides_is_reported(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    skill = write_skill(plugin / "skills" / "doctor")
    for path in ("sub/nurse", "surgeon", "assets/template", "tests/x", "examples/y", "node_modules/z"):
        write_skill(skill / path)
    catalog = catalog_of(plugin)
    found = finding(catalog, "catalog.hidden")
    assert qualified(catalog) == ["doctor@acme"]
    assert (found.location.path, found.severity) == (str(skill), "warning")
    assert found.message.startswith(
        "2 skills are not listed: sub/nurse, surgeon; directories below a SKILL.md are not searched"
    )


@pytest.mark.proves("governance.plugin.skills")
def test_skills_in_groups_are_reported_and_a_manifest_that_declares_them_lists_them(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    write_skill(plugin / "skills" / "doctor")
    for number in range(7):
        write_skill(plugin / "skills" / "group" / f"n{number}")
    catalog = catalog_of(plugin)
    assert qualified(catalog) == ["doctor@acme"]
    assert "7 skills are not listed: n0, n1, n2, n3, n4 and 2 more" in finding(catalog, "catalog.hidden").message
    write_manifest(plugin, {"name": "acme", "skills": ["skills/", "skills/group"]})
    catalog.refresh()
    assert (len(catalog.entries()), catalog.diagnostics) == (8, ())


@pytest.mark.parametrize("given", ["plugin", "root"])
def test_a_root_that_is_a_skill_names_the_skills_that_it_hides(tmp_path: Path, given: str) -> None:
    write_skill(tmp_path / "pack")
    for name in ("browse", "careful"):
        write_skill(tmp_path / "pack" / name)
    catalog = catalog_of(tmp_path / "pack") if given == "plugin" else Catalog(tmp_path / "pack")
    assert names(catalog.entries()) == ["pack"]
    assert "2 skills are not listed: browse, careful" in finding(catalog, "catalog.hidden").message


def test_the_look_for_hidden_skills_is_bounded_and_follows_no_link(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "pack")
    write_skill(tmp_path / "aside" / "linked")
    (skill / "link").symlink_to(tmp_path / "aside")
    (skill / "loop").symlink_to(skill)
    write_skill(skill.joinpath(*"abcdefgh") / "deep")
    assert Catalog(skill).diagnostics == ()


# ── manifests that cannot be used ─────────────────────────────────────────────────────────────────────────

_BAD_NAMES: tuple[object, ...] = (
    None, 7, "", " ", "..", ".", "-a", "a-", "a/b", "../x", "a@b", "a b", "a\nb", "a\x1b[31m", "a\u202eb", "\ud800",
    "größe", "a" * 65, "enterprise", "Personal", "project", "PLUGIN", "prowess", [], {"a": 1}, True,
)  # fmt: skip


@pytest.mark.proves("governance.plugin.named", "governance.plugin.skills")
@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "7",
        "null",
        '"acme"',
        "\x00",
        "[" * 100_000,
        '{"name": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"name": "acme", "more": "' + "x" * 300_000 + '"}',
        '{"name": "acme", "number": ' + "9" * 5000 + "}",
        *({"name": name} for name in _BAD_NAMES),
        {},
        {"skills": ["skills"]},
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_used_is_one_warning_and_the_directory_names_the_plugin(
    tmp_path: Path, content: object
) -> None:
    plugin = write_manifest(tmp_path / "acme", content)
    write_skill(plugin / "skills" / "doctor")
    other = write_manifest(tmp_path / "1.0", {"name": "globex"})
    write_skill(other / "skills" / "nurse")
    catalog = catalog_of(plugin, other)
    assert qualified(catalog) == ["doctor@acme", "nurse@globex"]
    (found,) = catalog.diagnostics
    assert (found.rule, found.severity, found.location.path) == ("catalog.plugin", "warning", str(plugin / CLAUDE))
    assert len(found.message) < 500
    found.message.encode()
    assert not set("\n\x1b\u202e\x00") & set(found.message)


@pytest.mark.parametrize("kind", ["link", "directory", "pipe", "directory link", "unreadable name"])
def test_a_manifest_that_is_no_file_of_the_plugin_is_one_warning(tmp_path: Path, kind: str) -> None:
    plugin = tmp_path / "acme"
    write_skill(plugin / "skills" / "doctor")
    aside = write_manifest(tmp_path / "aside", {"name": "stolen"})
    if kind == "directory link":
        (plugin / ".claude-plugin").symlink_to(aside / ".claude-plugin")
    else:
        (plugin / ".claude-plugin").mkdir()
    if kind == "link":
        (plugin / CLAUDE).symlink_to(aside / CLAUDE)
    elif kind == "directory":
        (plugin / CLAUDE).mkdir()
    elif kind == "pipe":
        os.mkfifo(plugin / CLAUDE)
    catalog = catalog_of(plugin)
    assert qualified(catalog) == ["doctor@acme"]
    assert rules(catalog) == ([] if kind == "unreadable name" else ["catalog.plugin"])


@pytest.mark.proves("governance.plugin.skills")
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("../aside/stolen", []),
        ("skills/../../aside/stolen", []),
        ("/etc", []),
        ("{outside}/stolen", []),
        ("~/skills", []),
        ("$HOME", []),
        ("C:\\skills", []),
        ("skills\\doctor", []),
        ("skills/doctor\u0000", []),
        ("", []),
        ("gone", []),
        (["gone", "skills/doctor", 7, None, ["skills"], "skills/empty"], ["doctor"]),
        ("out", []),
        ("out/stolen", []),
        ("skills/way-out", []),
        ("${CLAUDE_PLUGIN_ROOT}/../aside/stolen", []),
        ("${CLAUDE_PLUGIN_ROOT}x", []),
        (7, ["doctor"]),
        (None, ["doctor"]),
        ({"a": "skills/doctor"}, ["doctor"]),
        (["skills/doctor"] * 1001, ["doctor"]),
    ],
)
def test_a_declaration_that_cannot_be_used_is_one_warning_and_leads_nowhere(
    tmp_path: Path, declared: object, expected: Sequence[str]
) -> None:
    write_skill(tmp_path / "aside" / "stolen")
    text = json.dumps({"name": "acme", "skills": declared}).replace("{outside}", str(tmp_path / "aside"))
    plugin = write_manifest(tmp_path / "1.0", text)
    write_skill(plugin / "skills" / "doctor")
    (plugin / "skills" / "empty").mkdir()
    (plugin / "out").symlink_to(tmp_path / "aside")
    if declared == "skills/way-out":
        (plugin / "skills" / "way-out").symlink_to(tmp_path / "aside" / "stolen")
    catalog = catalog_of(plugin)
    assert names(catalog.entries()) == expected
    (found,) = catalog.diagnostics
    assert (found.rule, found.location.path) == ("catalog.plugin", str(plugin / CLAUDE))


@pytest.mark.proves("governance.plugin.skills")
@pytest.mark.parametrize("declared", [None, "skills"])
def test_a_link_in_skills_may_stay_in_the_plugin_and_not_leave_it(tmp_path: Path, declared: str | None) -> None:
    write_skill(tmp_path / "aside" / "stolen")
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme", **({"skills": declared} if declared else {})})
    write_skill(plugin / "skills" / "doctor")
    write_skill(plugin / "common" / "nurse")
    (plugin / "skills" / "nurse").symlink_to("../common/nurse")
    (plugin / "skills" / "stolen").symlink_to(tmp_path / "aside" / "stolen")
    catalog = catalog_of(plugin)
    assert qualified(catalog) == ["doctor@acme", "nurse@acme"]
    assert finding(catalog, "catalog.plugin").location.path == str(plugin / "skills" / "stolen")


# A neighbour whose path begins with that of the plugin is outside of it.
@pytest.mark.parametrize("outside", ["aside", "1.0-beta", "1.00"])
def test_a_directory_of_skills_that_leads_out_gives_none(tmp_path: Path, outside: str) -> None:
    write_skill(tmp_path / outside / "stolen")
    plugin = write_manifest(tmp_path / "1.0", {"name": "acme"})
    (plugin / "skills").symlink_to(tmp_path / outside)
    catalog = catalog_of(plugin)
    assert (qualified(catalog), rules(catalog)) == ([], ["catalog.plugin"])


def test_a_plugin_may_be_reached_through_a_link(tmp_path: Path) -> None:
    plugin = write_manifest(tmp_path / "cache" / "1.0", {"name": "acme"})
    write_skill(plugin / "skills" / "doctor")
    (tmp_path / "link").symlink_to(plugin)
    catalog = catalog_of(tmp_path / "link")
    (entry,) = catalog.entries()
    assert (entry.qualified_name, entry.root_dir) == ("doctor@acme", str(plugin / "skills" / "doctor"))
    assert entry.aliases == (str(tmp_path / "link" / "skills" / "doctor"),)
    assert catalog.get("doctor", str(tmp_path / "link" / "skills" / "doctor")) is entry


def test_a_plugin_that_is_gone_is_reported(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path / "gone")
    assert (catalog.entries(), rules(catalog)) == ((), ["catalog.root"])
