"""The catalog as a host uses it: list, look up, read in full, look again."""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.catalog import Catalog, DirectorySource, Layer
from prowess.catalog.memo import loaded
from prowess.errors import SkillNotFoundError, UnavailableError
from prowess.format import reading
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prowess._internal.files.tree_digest import TreeReading
    from prowess.format.skill import Skill


@pytest.mark.proves(
    "runtime.registry.index",
    "runtime.registry.record.identity",
    "runtime.registry.record.location",
    "runtime.registry.record.root-dir",
    "client.parse.record",
)
def test_every_skill_is_one_record_with_name_description_location_and_directory(tmp_path: Path) -> None:
    write_skill(tmp_path / "one" / "a", description="Does a.")
    write_skill(tmp_path / "two" / "b", description="'Does: b.'")
    write_skill(tmp_path / "two" / "group" / "c", description="|\n  Does c.\n  Well.")
    write_skill(tmp_path / "two" / "a", description="Another.")
    catalog = Catalog(tmp_path / "one", tmp_path / "two")
    assert [(entry.name, entry.description) for entry in catalog.entries()] == [
        ("a", "Does a."),
        ("b", "Does: b."),
        ("c", "Does c.\nWell."),
    ]
    for entry in catalog.all_entries():
        assert os.path.isabs(entry.location)
        assert entry.location == os.path.join(entry.root_dir, "SKILL.md")
        assert os.path.samefile(os.path.dirname(entry.location), entry.root_dir)
    assert catalog.get("c").root_dir == str(tmp_path / "two" / "group" / "c")
    assert repr(catalog.get("c")) == f"<SkillEntry 'c' project '{tmp_path}/two/group/c/SKILL.md'>"


@pytest.mark.proves("runtime.registry.record.location")
def test_the_location_keeps_the_spelling_of_the_real_directory_entry(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    (skill / "SKILL.md").rename(skill / "skill.md")
    catalog = Catalog(tmp_path)
    assert catalog.get("a").location == str(skill / "skill.md")
    assert catalog.skill("a").location == str(skill / "skill.md")


_FIELDS = (
    "license: MIT\ncompatibility: Needs git\nallowed-tools: Read Bash(git:*)\n"
    'metadata:\n  version: 1.10\n  flag: yes\n  quoted: "a"\n'
)


@pytest.mark.proves("runtime.registry.record.properties")
@pytest.mark.parametrize("extra", [_FIELDS, f"{_FIELDS}version: 2.0\ntags: [a, b]\n"])
def test_properties_hold_the_front_matter_as_text_whichever_reader_took_it(tmp_path: Path, extra: str) -> None:
    write_skill(tmp_path / "a", description="' Does it. '", extra=extra)
    catalog = Catalog(tmp_path)
    properties = catalog.get("a").properties
    expected: dict[str, object] = {
        "name": "a",
        "description": "Does it.",
        "license": "MIT",
        "compatibility": "Needs git",
        "allowed-tools": "Read Bash(git:*)",
        "metadata": {"version": "1.10", "flag": "yes", "quoted": "a"},
    }
    if extra != _FIELDS:
        expected |= {"version": "2.0", "tags": ["a", "b"]}
    assert properties == expected
    assert list(properties) == list(expected)
    assert catalog.skill("a").frontmatter.properties() == expected


@pytest.mark.proves("runtime.registry.record.body", "client.parse.body-freshness")
def test_a_body_is_read_at_the_first_load_once_and_again_after_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = write_skill(tmp_path / "a", body="first\n")
    reads: list[str] = []
    honest = reading.skill_of_files

    def counting(directory: str, files: TreeReading, *, profile: str) -> Skill:
        reads.append(directory)
        return honest(directory, files, profile=profile)

    monkeypatch.setattr(reading, "skill_of_files", counting)
    catalog = Catalog(tmp_path)
    assert reads == []
    assert catalog.skill("a").body == "first\n"
    assert catalog.skill("a") is catalog.skill("a")
    assert len(reads) == 1
    write_skill(skill, body="second\n")
    assert catalog.skill("a").body == "second\n"
    assert catalog.skill("a").document_digest == catalog.get("a").document_digest
    assert len(reads) == 2


def test_an_edited_file_beside_the_document_is_seen_at_the_next_read(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    (skill / "guide.md").write_text("one")
    catalog = Catalog(tmp_path)
    before = catalog.skill("a")
    (skill / "guide.md").write_text("two")
    after = catalog.skill("a")
    assert after.digest != before.digest
    assert after.document_digest == before.document_digest


@pytest.mark.proves("runtime.registry.snapshot")
@pytest.mark.parametrize("settled_ns", [file_mark.SETTLED_NS, -(10**12)], ids=["just written", "left alone for long"])
def test_body_and_files_never_come_from_two_states_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled_ns: int
) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", settled_ns)
    skill = write_skill(tmp_path / "a", description="First.", body="first\n")
    (skill / "guide.md").write_text("first")
    catalog = Catalog(tmp_path)
    honest = reading.skill_of_files
    edits: list[Callable[[], object]] = [
        lambda: write_skill(skill, description="Second.", body="second\n"),
        lambda: (skill / "guide.md").write_text("second"),
    ]

    def interrupted(directory: str, files: TreeReading, *, profile: str) -> Skill:
        read = honest(directory, files, profile=profile)
        if edits:
            edits.pop(0)()
        return read

    monkeypatch.setattr(reading, "skill_of_files", interrupted)
    whole = catalog.skill("a")
    assert (whole.description, whole.body) == ("Second.", "second\n")
    guide = whole.manifest.find("guide.md")
    assert guide is not None
    assert guide.sha256 == hashlib.sha256(b"second").hexdigest()
    assert catalog.get("a").description == "Second."  # what is listed is the same state


def test_a_skill_that_never_stands_still_is_unavailable_for_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    honest = reading.skill_of_files

    def restless(directory: str, files: TreeReading, *, profile: str) -> Skill:
        read = honest(directory, files, profile=profile)
        (skill / "log.txt").write_text(str(time.monotonic_ns()))
        return read

    monkeypatch.setattr(reading, "skill_of_files", restless)
    with pytest.raises(UnavailableError) as later:
        catalog.skill("a")
    assert later.value.retry_after == 1


def test_a_skill_that_was_removed_or_broken_since_is_not_found_with_the_reason(tmp_path: Path) -> None:
    gone, broken = write_skill(tmp_path / "gone"), write_skill(tmp_path / "broken")
    catalog = Catalog(tmp_path)
    (gone / "SKILL.md").unlink()
    (broken / "SKILL.md").write_text("---\nname: broken\n---\n")
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.skill("gone")
    assert absent.value.reason is None
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.skill("broken")
    assert "description" in (absent.value.reason or "")
    assert catalog.entries() == ()


def test_a_skill_that_was_renamed_since_is_found_under_its_new_name(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    write_skill(skill, name="b")
    with pytest.raises(SkillNotFoundError):
        catalog.skill("a")
    assert catalog.skill("b").root_dir == str(skill)


def test_a_copy_that_takes_over_while_it_is_read_is_the_one_returned(tmp_path: Path) -> None:
    first, second = write_skill(tmp_path / "1" / "a"), write_skill(tmp_path / "2" / "a", description="Second.")
    catalog = Catalog(tmp_path)
    write_skill(first, name="b")
    assert catalog.skill("a").root_dir == str(second)


@pytest.mark.proves("client.parse.record")
def test_a_name_is_looked_up_in_any_spelling_that_normalises_alike(tmp_path: Path) -> None:
    write_skill(tmp_path / "ﬁle")
    catalog = Catalog(tmp_path)
    assert catalog.get("file") is catalog.get("ﬁle") is catalog.get(" file ")
    assert catalog.get("file").key == "file"


def test_an_unknown_name_gives_names_that_may_have_been_meant(tmp_path: Path) -> None:
    write_skill(tmp_path / "csv-report")
    with pytest.raises(SkillNotFoundError) as absent:
        Catalog(tmp_path).get("csv-reprot")
    assert absent.value.suggestions == ("csv-report",)


@pytest.mark.proves("governance.conflict.alias", "governance.override.explained", "governance.conflict.warning")
def test_each_copy_of_a_plugins_skill_stays_reachable_and_the_conflict_is_said(tmp_path: Path) -> None:
    sources = []
    for plugin in ("acme", "globex"):
        write_skill(tmp_path / plugin / "deploy", description=plugin)
        sources.append(DirectorySource(str(tmp_path / plugin), layer=Layer.PLUGIN, label=plugin))
    catalog = Catalog(*sources)
    assert catalog.get("deploy").description == "globex"
    assert catalog.get("deploy@globex").description == "globex"
    assert catalog.get("deploy@acme").description == "acme"
    assert catalog.skill("deploy@acme").description == "acme"
    with pytest.raises(SkillNotFoundError):
        catalog.get("deploy@initech")
    found = catalog.why("deploy")
    assert found.winner is catalog.get("deploy")
    (copy,) = found.shadowed
    assert (copy.source, copy.rule) == ("acme", "catalog.order")
    assert copy.reason == (
        "shadowed by the plugin globex (of two plugins, the one that was added later wins); "
        "still reachable as deploy@acme"
    )
    message = finding(catalog, "catalog.shadowed").message
    assert "deploy@acme" in message
    assert str(tmp_path / "globex" / "deploy") in message
    assert "(plugin, globex)" in message


@pytest.mark.proves("client.discovery.precedence", "client.discovery.shadowing")
def test_within_a_layer_the_first_source_wins_and_in_a_source_the_first_path(tmp_path: Path) -> None:
    write_skill(tmp_path / "second" / "a" / "same", description="second")
    write_skill(tmp_path / "first" / "z" / "same", description="first z")
    write_skill(tmp_path / "first" / "b" / "same", description="first b")
    catalog = Catalog(tmp_path / "first", tmp_path / "second")
    found = catalog.why("same")
    assert found.name == "same"
    winner = str(tmp_path / "first" / "b" / "same")
    assert found.winner is not None
    assert found.winner.root_dir == winner
    assert [(copy.entry and copy.entry.description, copy.reason) for copy in found.shadowed] == [
        ("first z", f"shadowed by {winner} (in one directory, the first path wins)"),
        ("second", f"shadowed by {winner} (its directory is searched earlier)"),
    ]
    assert rules(catalog) == ["catalog.shadowed", "catalog.shadowed"]
    assert names(catalog.entries()) == ["same"]
    assert len(catalog.all_entries()) == 3


def test_paths_are_compared_part_by_part_and_linked_directories_come_last(tmp_path: Path) -> None:
    write_skill(tmp_path / "aside" / "same", description="linked")
    root = tmp_path / "root"
    write_skill(root / "x" / "same", description="x")
    write_skill(root / "x-y" / "same", description="x-y")
    (root / "a").symlink_to("../aside")
    copies = [entry.description for entry in Catalog(root).all_entries()]
    assert copies == ["x", "x-y", "linked"]


def test_sources_count_by_layer_in_whatever_order_they_are_given(tmp_path: Path) -> None:
    shared = write_skill(tmp_path / "plugin" / "shared")
    for layer in Layer:
        write_skill(tmp_path / layer / "same", description=layer)
    (tmp_path / "personal" / "shared").symlink_to(shared)
    sources = [DirectorySource(str(tmp_path / layer), layer=layer) for layer in reversed(Layer)]
    catalog = Catalog(*sources)
    assert [source.layer for source in catalog.sources] == list(Layer)
    copies = [entry.description for entry in catalog.all_entries() if entry.name == "same"]
    assert copies == ["enterprise", "personal", "project", "plugin"]
    assert catalog.get("shared").layer is Layer.PERSONAL


def test_a_location_chooses_among_the_listed_copies_and_nothing_else(tmp_path: Path) -> None:
    write_skill(tmp_path / "1" / "same")
    other = write_skill(tmp_path / "2" / "same", description="other")
    write_skill(tmp_path / "outside" / "same")
    (tmp_path / "2" / "link").symlink_to("same")
    catalog = Catalog(tmp_path / "1", tmp_path / "2")
    for location in (other / "SKILL.md", other, tmp_path / "2" / "link", tmp_path / "2" / "link" / "SKILL.md"):
        assert catalog.get("same", str(location)).description == "other"
    assert catalog.skill("same", str(other)).description == "other"
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.get("same", str(tmp_path / "outside" / "same" / "SKILL.md"))
    assert "no copy of it is listed" in (absent.value.reason or "")
    with pytest.raises(SkillNotFoundError):
        catalog.get("none", str(other))


@pytest.mark.proves("runtime.registry.maintain", "runtime.registry.live-description")
def test_a_refresh_shows_what_changed_and_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    for name in ("kept", "edited", "removed"):
        write_skill(tmp_path / name)
    write_skill(tmp_path / "odd", extra="version: 1\n")
    catalog = Catalog(tmp_path)
    kept, odd, generation = catalog.get("kept"), catalog.get("odd"), catalog.generation
    catalog.refresh()
    assert catalog.generation == generation
    assert catalog.get("kept") is kept
    assert catalog.get("odd") is odd
    write_skill(tmp_path / "edited", description="Edited.")
    (tmp_path / "removed" / "SKILL.md").unlink()
    write_skill(tmp_path / "added")
    catalog.refresh()
    assert catalog.generation == generation + 1
    assert [(entry.name, entry.description) for entry in catalog.entries()] == [
        ("added", "Does it."),
        ("edited", "Edited."),
        ("kept", "Does it."),
        ("odd", "Does it."),
    ]
    assert catalog.get("kept") is kept
    assert catalog.get("odd") is odd


def test_a_change_of_a_fault_or_of_the_body_counts_as_a_difference(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["a"]
    write_skill(skill, body="longer body\n")
    catalog.refresh()
    assert catalog.generation == 1
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("# Title\n")
    catalog.refresh()
    assert catalog.generation == 2
    (tmp_path / "again").symlink_to("a")
    catalog.refresh()
    assert catalog.generation == 3
    assert catalog.get("a").aliases == (str(tmp_path / "again"),)


def test_a_skill_with_faults_at_rest_is_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = write_skill(tmp_path / "a", extra="version: 1\n")
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))  # as if the file had been left alone for long
    catalog = Catalog(tmp_path)
    entry, found = catalog.get("a"), catalog.diagnostics
    monkeypatch.setattr(reading, "read_document", None)  # parsing would fail
    for _ in range(3):  # what one refresh takes over is there for the next
        catalog.refresh()
        assert catalog.get("a") is entry
        assert catalog.diagnostics == found != ()
        assert catalog.generation == 0
    monkeypatch.undo()
    write_skill(skill, extra="version: 2\n")
    catalog.refresh()
    assert catalog.get("a").properties["version"] == "2"


@pytest.mark.proves("client.parse.diagnostics", "runtime.registry.broken", "client.discovery.isolation")
def test_findings_of_loaded_and_of_skipped_skills_stay_with_place_and_rule(tmp_path: Path) -> None:
    write_skill(tmp_path / "good")
    write_skill(tmp_path / "odd", extra="version: 1\n")
    broken = tmp_path / "broken" / "SKILL.md"
    broken.parent.mkdir()
    broken.write_text("---\nname: broken\ndescription: *x\n---\n")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["good", "odd"]
    by_rule = {found.rule: found for found in catalog.diagnostics}
    warning, error = by_rule["frontmatter.unknownField"], by_rule["frontmatter.syntax"]
    assert (warning.severity, warning.skill, warning.location.line) == ("warning", "odd", 4)
    assert (error.severity, error.location.path, error.location.line) == ("error", str(broken), 3)


def test_a_skill_skipped_under_a_name_of_its_own_is_explained_under_both(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "directory", name="own-name")
    (skill / "SKILL.md").write_text("---\nname: own-name\ndescription: ''\n---\n")
    for name in ("directory", "own-name"):
        with pytest.raises(SkillNotFoundError) as absent:
            Catalog(tmp_path).get(name)
        assert f"{skill}/SKILL.md" in (absent.value.reason or "")
        assert absent.value.suggestions == ()


def test_a_digest_is_computed_when_asked_and_follows_the_file(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    entry = Catalog(tmp_path).get("a")

    def expected() -> str:
        return f"sha256:{hashlib.sha256((skill / 'SKILL.md').read_bytes()).hexdigest()}"

    assert entry.document_digest == expected()
    assert entry.document_digest == expected()
    write_skill(skill, body="another\n")
    assert entry.document_digest == expected()
    (skill / "SKILL.md").unlink()
    (skill / "SKILL.md").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="SKILL"):
        _ = entry.document_digest


def test_live_is_a_property_of_the_source(tmp_path: Path) -> None:
    write_skill(tmp_path / "a")
    assert Catalog(tmp_path).get("a").live is False
    assert Catalog(tmp_path, live=True).get("a").live is True


def test_a_reader_sees_one_state_while_others_refresh(tmp_path: Path) -> None:
    write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    stop = threading.Event()
    faults: list[object] = []

    def refresh() -> None:
        number = 0
        while number < 3 or not stop.is_set():  # a slow machine writes all three skills too
            number += 1
            write_skill(tmp_path / f"n{number % 3}", description=f"Number {number}.")
            catalog.refresh()

    def read() -> None:
        while not stop.is_set():
            listed = names(catalog.entries())
            if listed != sorted(listed) or "a" not in listed or catalog.get("a").name != "a":
                faults.append(listed)

    threads = [threading.Thread(target=target) for target in (refresh, refresh, read, read)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert faults == []
    catalog.refresh()
    assert names(catalog.entries()) == ["a", "n0", "n1", "n2"]


def test_a_not_found_error_survives_pickling(tmp_path: Path) -> None:
    with pytest.raises(SkillNotFoundError) as absent:
        Catalog(tmp_path).get("none")
    assert str(pickle.loads(pickle.dumps(absent.value))) == str(absent.value)  # noqa: S301 -- made here


@pytest.mark.proves("runtime.disclosure.stage1.io", "client.parse.frontmatter-only")
def test_discovery_opens_nothing_but_the_heads_of_skill_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = write_skill(tmp_path / "a", body="x" * 100_000)
    (skill / "references").mkdir()
    (skill / "references" / "guide.md").write_text("guide")
    opened: list[str] = []
    sizes: list[int] = []
    honest_open, honest_read = os.open, os.read

    def opening(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        opened.append(str(path))
        return honest_open(path, flags, mode, dir_fd=dir_fd)

    def reading_some(fd: int, count: int) -> bytes:
        sizes.append(count)
        return honest_read(fd, count)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "read", reading_some)
    assert names(Catalog(tmp_path).entries()) == ["a"]
    assert [path for path in opened if path != str(tmp_path / "SKILL.md")] == [str(skill / "SKILL.md")]
    assert sizes == [4096]


@pytest.mark.proves("runtime.edge.paths", "client.parse.base-directory")
def test_paths_are_absolute_outside_and_relative_inside_a_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = write_skill(tmp_path / "skills" / "a")
    (skill / "references").mkdir()
    (skill / "references" / "guide.md").write_text("guide")
    monkeypatch.chdir(tmp_path)
    read = Catalog("skills").skill("a")
    assert read.location == str(skill / "SKILL.md")
    assert os.path.dirname(read.location) == read.root_dir == str(skill)
    assert [file.path for file in read.resources] == ["references/guide.md"]


@pytest.mark.proves("runtime.registry.deep-files")
def test_files_of_every_kind_and_depth_belong_to_the_skill(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    paths = [".env.example", "a/b/c/d/e/page.html", "assets/x.png", "scripts/run.sh"]
    for path in paths:
        (skill / path).parent.mkdir(parents=True, exist_ok=True)
        (skill / path).write_bytes(b"\x89")
    assert [file.path for file in Catalog(tmp_path).skill("a").resources] == paths


@pytest.mark.proves("runtime.edge.permissions", "governance.persona.reuse")
def test_a_read_only_skill_serves_several_catalogs_unchanged(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "store" / "a")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a").symlink_to(skill)
    (skill / "SKILL.md").chmod(0o444)
    skill.chmod(0o555)
    before = {path: path.stat().st_mtime_ns for path in (skill, skill / "SKILL.md")}
    one, two = Catalog(tmp_path / "store").skill("a"), Catalog(tmp_path / "other").skill("a")
    skill.chmod(0o755)
    assert one.digest == two.digest
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_only_so_many_skills_that_were_read_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded, "_KEPT_SKILLS", 2)
    for name in ("a", "b", "c"):
        write_skill(tmp_path / name)
    catalog = Catalog(tmp_path)
    first, second = catalog.skill("a"), catalog.skill("b")
    assert catalog.skill("b") is second
    catalog.skill("c")
    assert catalog.skill("b") is second
    assert catalog.skill("a") is not first


def test_a_skill_at_rest_is_known_again_without_opening_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    entry = catalog.get("a")
    assert catalog.at_rest(entry) is None  # never read
    catalog.skill("a")
    assert catalog.at_rest(entry) is None  # read too soon after it was written
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)
    skill = catalog.skill("a")
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", None)
        assert catalog.at_rest(entry) is skill

    (tmp_path / "a" / "more.md").write_text("more")
    assert catalog.at_rest(entry) is None
    again = catalog.skill("a")
    assert again is not skill
    assert catalog.at_rest(entry) is again
    (tmp_path / "a" / "SKILL.md").write_text("---\nname: a\ndescription: Does something else.\n---\n")
    assert catalog.at_rest(entry) is None
    catalog.skill("a")
    assert catalog.at_rest(entry) is None  # that entry is no longer what is listed


def test_an_entry_that_needs_the_full_parser_has_name_description_and_properties(tmp_path: Path) -> None:
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: ' x '\nlicense:\nmetadata: {a: [1]}\nallowed-tools: [Read]\nown: z\n---\n[x](/y)"
    )
    catalog = Catalog(tmp_path)
    entry = catalog.get("pdf")
    assert (entry.name, entry.description) == ("pdf", "x")
    assert entry.properties == catalog.skill("pdf").frontmatter.properties()
    assert entry.properties == {
        "name": "pdf",
        "description": "x",
        "metadata": {"a": ["1"]},
        "allowed-tools": ["Read"],
        "own": "z",
    }
    assert {found.rule for found in catalog.diagnostics} == {
        "metadata.valueType",
        "allowed-tools.type",
        "frontmatter.unknownField",
    }
