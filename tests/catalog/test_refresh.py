"""Refreshing: a catalog is scanned on first use, a refresh opens only what moved, a light look finds each edit."""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess.catalog import Catalog
from prowess.catalog.memo import seen as seen_module
from prowess.catalog.project import plugin_sources
from prowess.catalog.trust import TrustStore
from tests.catalog.making import names, rules, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths that are opened or listed from now on."""
    paths: list[str] = []

    def recorded(honest: Callable[..., object]) -> Callable[..., object]:
        def call(path: str, *rest: object, **more: object) -> object:
            paths.append(os.fspath(path))
            return honest(path, *rest, **more)

        return call

    monkeypatch.setattr(os, "open", recorded(os.open))
    monkeypatch.setattr(os, "scandir", recorded(os.scandir))
    yield paths
    monkeypatch.undo()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been left alone for more than two seconds."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))


def test_a_catalog_is_scanned_when_it_is_first_asked(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path)
    write_skill(tmp_path / "later")
    assert names(catalog.entries()) == ["later"]
    write_skill(tmp_path / "too-late")
    assert names(catalog.entries()) == ["later"]


@pytest.mark.proves("catalog.refresh.unchanged")
@pytest.mark.usefixtures("settled")
def test_a_refresh_opens_only_what_moved(tmp_path: Path, opened: list[str]) -> None:
    for name in ("a", "b", "group/c"):
        write_skill(tmp_path / name)
    write_skill(tmp_path / "odd", extra="version: 1\n")
    (write_skill(tmp_path / "small") / "SKILL.md").rename(tmp_path / "small" / "skill.md")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("# no front matter\n")
    (tmp_path / "link").symlink_to("b")
    catalog = Catalog(tmp_path)
    before, found = catalog.all_entries(), catalog.diagnostics
    opened.clear()
    catalog.refresh()
    assert opened == []
    assert all(new is old for new, old in zip(catalog.all_entries(), before, strict=True))
    assert catalog.diagnostics == found
    write_skill(tmp_path / "b", description="Edited.")
    opened.clear()
    catalog.refresh()
    assert opened == [str(tmp_path / "b" / "SKILL.md")]
    assert catalog.get("b").description == "Edited."


def test_what_changed_within_two_seconds_of_the_scan_is_read_again(tmp_path: Path, opened: list[str]) -> None:
    skill = write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["a"]
    opened.clear()
    catalog.refresh()
    assert opened == [str(tmp_path / "SKILL.md"), str(tmp_path), str(skill / "SKILL.md")]


@pytest.mark.usefixtures("settled")
def test_a_second_hard_link_is_found_although_the_file_did_not_change(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills" / "a")
    catalog = Catalog(tmp_path / "skills")
    assert names(catalog.entries()) == ["a"]
    os.link(skill / "SKILL.md", tmp_path / "second")
    catalog.refresh()
    assert (names(catalog.entries()), rules(catalog)) == ([], ["catalog.hardLink"])


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", ["edit", "add", "remove", "turn a link", "break a link"])
def test_a_light_look_finds_each_change_and_keeps_what_is_unchanged(tmp_path: Path, change: str) -> None:
    root = tmp_path / "root"
    for name in ("a", "b"):
        write_skill(root / name)
        write_skill(tmp_path / "outside" / name / f"{name}-{name}")
    (tmp_path / "outside" / "now").symlink_to("a")
    (root / "link").symlink_to(tmp_path / "outside" / "now")
    catalog = Catalog(root)
    shown, generation = catalog.entries(), catalog.generation
    assert names(shown) == ["a", "a-a", "b"]
    catalog.look_again(shown)
    assert catalog.entries() is shown
    match change:
        case "edit":
            write_skill(root / "b", description="Edited.")
        case "add":
            write_skill(root / "c")
        case "remove":
            shutil.rmtree(root / "a")
        case "turn a link":
            (tmp_path / "outside" / "now").unlink()
            (tmp_path / "outside" / "now").symlink_to("b")
        case _:
            (tmp_path / "outside" / "now").unlink()
    catalog.look_again(shown)
    assert catalog.generation == generation + 1


@pytest.mark.usefixtures("settled")
def test_repeated_light_looks_find_an_edit_of_a_skill_that_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_module, "_SLICE", 2)
    for number in range(9):
        write_skill(tmp_path / f"skill-{number}")
    catalog = Catalog(tmp_path)
    shown = catalog.entries()[:1]
    write_skill(tmp_path / "skill-8", description="Edited.")
    for _ in range(5):
        catalog.look_again(shown)
    assert catalog.get("skill-8").description == "Edited."


@pytest.mark.usefixtures("settled")
def test_a_manifest_that_appears_or_changes_beside_a_skill_is_noticed(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a", extra="version: 1\n")
    catalog = Catalog(tmp_path)
    before = rules(catalog)
    for text in ("wrong: 1\n", "composition: {}\n", "[]\n"):
        (skill / "skill.manifest.yaml").write_text(text)
        catalog.refresh()
        assert rules(catalog) == rules(Catalog(tmp_path))
    (skill / "skill.manifest.yaml").unlink()
    catalog.refresh()
    assert rules(catalog) == before


@pytest.mark.usefixtures("settled")
def test_looking_again_asks_anew_whether_the_project_is_trusted(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".agents" / "skills" / "one").mkdir(parents=True)
    (project / ".agents" / "skills" / "one" / "SKILL.md").write_text("---\nname: one\ndescription: One.\n---\n")
    catalog = Catalog.discover(cwd=project)
    assert [entry.name for entry in catalog.entries()] == []
    TrustStore().trust(str(project))
    catalog.look_again()
    assert [entry.name for entry in catalog.entries()] == ["one"]
    TrustStore().revoke(str(project))
    catalog.look_again()
    assert [entry.name for entry in catalog.entries()] == []


@pytest.mark.usefixtures("settled")
def test_looking_again_notices_a_root_that_appears_or_is_exchanged(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / name).mkdir(parents=True)
        (tmp_path / name / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Text.\n---\n")
    root = tmp_path / "root"
    root.symlink_to(tmp_path / "none")
    catalog = Catalog(root)
    assert [entry.name for entry in catalog.entries()] == []
    for name in ("one", "two"):
        root.unlink()
        root.symlink_to(tmp_path / name)
        catalog.look_again()
        assert [entry.name for entry in catalog.entries()] == [name]


@pytest.mark.usefixtures("settled")
def test_looking_again_asks_anew_what_is_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        write_skill(tmp_path / "skills" / name)
    catalog = Catalog(tmp_path / "skills")
    assert names(catalog.entries()) == ["one", "three", "two"]
    settings = Path(os.environ["PROWESS_HOME"]) / "config.toml"
    settings.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    settings.write_text('disabled = ["two"]\n', encoding="utf-8")
    catalog.look_again()
    assert names(catalog.entries()) == ["one", "three"]
    monkeypatch.setenv("PROWESS_DISABLED", "three")
    catalog.look_again()
    assert names(catalog.entries()) == ["one"]
    settings.unlink()
    monkeypatch.delenv("PROWESS_DISABLED")
    catalog.look_again()
    assert names(catalog.entries()) == ["one", "three", "two"]


@pytest.mark.parametrize("on", [True, False])
def test_a_scan_leaves_the_garbage_collector_as_it_was(tmp_path: Path, *, on: bool) -> None:
    write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        catalog.entries()
        catalog.refresh()
        assert gc.isenabled() is on
    finally:
        (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("file", [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"])
def test_a_look_finds_an_edit_of_a_plugins_manifest(tmp_path: Path, file: str, settled: None) -> None:
    del settled
    manifest = tmp_path / "plugin" / file
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "before"}')
    write_skill(tmp_path / "plugin" / "skills" / "a")
    catalog = Catalog(*plugin_sources([str(tmp_path / "plugin")]))
    assert [entry.qualified_name for entry in catalog.entries()] == ["a@before"]
    manifest.write_text('{"name": "after", "version": "1"}')
    catalog.look_again()
    assert [entry.qualified_name for entry in catalog.entries()] == ["a@after"]


def test_a_look_finds_an_edit_of_a_plugin_of_a_marketplace(tmp_path: Path, settled: None) -> None:
    del settled
    for path, text in {
        ".agents/plugins/marketplace.json": '{"plugins": [{"name": "acme", "source": "./acme"}]}',
        "acme/.claude-plugin/plugin.json": '{"name": "acme"}',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    write_skill(tmp_path / "acme" / "skills" / "a")
    catalog = Catalog(*plugin_sources([str(tmp_path)]))
    assert [entry.qualified_name for entry in catalog.entries()] == ["a@acme"]
    (tmp_path / "acme/.claude-plugin/plugin.json").write_text('{"name": "after"}')
    catalog.look_again()
    assert [entry.qualified_name for entry in catalog.entries()] == ["a@after"]
    (tmp_path / ".agents/plugins/marketplace.json").write_text('{"plugins": []}')
    catalog.look_again()
    assert catalog.entries() == ()
