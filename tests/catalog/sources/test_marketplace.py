"""Marketplaces: plugins in their own directories are read, and plugins at other places are reported."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, Layer
from prowess.catalog.project import plugin_sources
from prowess.catalog.sources.marketplace import MARKETPLACE_FILES, MAX_MARKETPLACE_BYTES, MAX_PLUGINS
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def marketplace(directory: Path, plugins: object, file: str = MARKETPLACE_FILES[0], **more: object) -> Path:
    path = directory / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"name": "shop", "owner": {"name": "A"}, "plugins": plugins, **more}))
    return directory


def manifest(plugin: Path, **content: object) -> Path:
    (plugin / ".claude-plugin").mkdir(parents=True, exist_ok=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps(content))
    return plugin


def catalog_of(*directories: Path) -> Catalog:
    return Catalog(*plugin_sources([str(directory) for directory in directories]))


def sources(catalog: Catalog) -> list[str]:
    return sorted(f"{entry.qualified_name} {entry.source_version}" for entry in catalog.all_entries())


@pytest.mark.proves("catalog.plugin.manifest")
@pytest.mark.parametrize("file", MARKETPLACE_FILES)
def test_each_plugin_of_a_marketplace_has_the_name_and_version_of_its_manifest(tmp_path: Path, file: str) -> None:
    write_skill(manifest(tmp_path / "plugins" / "a", name="acme", version="1.2.0") / "skills" / "plan")
    write_skill(tmp_path / "plugins" / "b" / "skills" / "tidy")
    catalog = catalog_of(
        marketplace(
            tmp_path,
            [
                {"name": "other", "source": "./plugins/a", "version": "9"},
                {"name": "globex", "source": {"source": "local", "path": "./plugins/b"}, "version": "2.0.0-rc.1"},
            ],
            file,
        )
    )
    assert sources(catalog) == ["plan@acme 1.2.0", "tidy@globex 2.0.0-rc.1"]
    assert catalog.get("plan@acme").layer is Layer.PLUGIN
    assert catalog.diagnostics == ()


@pytest.mark.proves("catalog.plugin.manifest")
def test_a_directory_with_a_manifest_of_any_host_has_the_manifests_name_and_version(tmp_path: Path) -> None:
    schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    files = {
        "plugin.json": {"$schema": schema},
        **{f".{host}-plugin/plugin.json": {} for host in ("claude", "codex", "cursor")},
    }
    for number, (file, content) in enumerate(files.items()):
        path = tmp_path / str(number) / file
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**content, "name": f"acme-{number}x", "version": f"1.{number}"}))
        write_skill(tmp_path / str(number) / "skills" / f"plan-{number}")
    catalog = catalog_of(*(tmp_path / str(number) for number in range(len(files))))
    assert sources(catalog) == [f"plan-{number}@acme-{number}x 1.{number}" for number in range(4)]


def test_plugins_in_one_directory_have_the_skills_that_the_marketplace_gives_them(tmp_path: Path) -> None:
    for name in ("xlsx", "pdf", "draw"):
        write_skill(tmp_path / "skills" / name)
    documents = {"name": "documents", "source": "./", "strict": False, "skills": ["./skills/xlsx", "./skills/pdf"]}
    drawing = {"name": "drawing", "source": "./", "strict": False, "skills": ["./skills/draw"]}
    catalog = catalog_of(marketplace(tmp_path, [documents, drawing]))
    assert sources(catalog) == ["draw@drawing None", "pdf@documents None", "xlsx@documents None"]
    assert rules(catalog) == []


def test_a_directory_that_is_a_plugin_too_is_read_with_the_plugins_that_it_lists(tmp_path: Path) -> None:
    write_skill(manifest(tmp_path, name="shop-tools") / "skills" / "sell")
    write_skill(tmp_path / "plugins" / "a" / "skills" / "plan")
    catalog = catalog_of(marketplace(tmp_path, [{"name": "a", "source": "./plugins/a"}]))
    assert sources(catalog) == ["plan@a None", "sell@shop-tools None"]


def test_the_later_plugin_wins_and_one_of_the_same_name_gets_a_number(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_skill(tmp_path / name / "skills" / "plan", description=f"Of {name}.")
    listed = [{"name": "acme", "source": "./one"}, {"name": "acme", "source": "./two"}]
    catalog = catalog_of(marketplace(tmp_path, listed))
    assert catalog.get("plan").description == "Of two."
    assert catalog.get("plan@acme").description == "Of two."
    assert catalog.get("plan@acme-2").description == "Of one."
    assert "both called 'acme'" in finding(catalog, "catalog.plugin").message


def test_plugin_root_is_the_base_of_sources_without_a_dot(tmp_path: Path) -> None:
    write_skill(tmp_path / "plugins" / "a" / "skills" / "plan")
    catalog = catalog_of(marketplace(tmp_path, [{"name": "a", "source": "a"}], metadata={"pluginRoot": "./plugins"}))
    assert names(catalog.entries()) == ["plan"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ({"source": "github", "repo": "acme/tools"}, "is at another place and is not fetched"),
        ({"source": "url", "url": "https://example.org/a.git"}, "is at another place and is not fetched"),
        ("https://example.org/a.git", "is at another place and is not fetched"),
        ("../outside", "a '..' component"),
        ("/etc", "it is absolute"),
        ({"source": "local", "path": "../outside"}, "a '..' component"),
        ("./link", "it leads out of the marketplace"),
        ("./nothing", "there is no directory 'nothing'"),
        (None, "has no source"),
        (7, "has no source"),
    ],
)
def test_a_plugin_at_another_place_is_a_finding_and_the_others_are_read(
    tmp_path: Path, source: object, told: str
) -> None:
    write_skill(tmp_path / "outside" / "skills" / "evil")
    shop = tmp_path / "shop"
    write_skill(shop / "a" / "skills" / "plan")
    (shop / "link").symlink_to(tmp_path / "outside")
    marketplace(shop, [{"name": "acme\x1b[31m", "source": source}, {"name": "a", "source": "./a"}, "text"])
    catalog = catalog_of(shop)
    assert names(catalog.entries()) == ["plan"]
    message = finding(catalog, "catalog.plugin").message
    assert told in message
    assert "an entry of plugins is not an object" in message
    assert "\x1b" not in message


@pytest.mark.parametrize("content", ["{", "[]", '{"plugins": {}}', "[" * 100_000, "huge", "pipe", "link"])
def test_a_marketplace_that_cannot_be_read_is_a_finding(tmp_path: Path, content: str) -> None:
    marketplace(tmp_path, [])
    file = tmp_path / MARKETPLACE_FILES[0]
    if content in {"pipe", "link"}:
        file.unlink()
        os.mkfifo(file) if content == "pipe" else file.symlink_to("/etc/hostname")
    elif content == "huge":
        os.truncate(file, MAX_MARKETPLACE_BYTES + 1)
    else:
        file.write_text(content)
    catalog = catalog_of(tmp_path)
    assert catalog.entries() == ()
    assert rules(catalog) == ["catalog.plugin"]


def test_no_more_plugins_are_used_than_the_limit(tmp_path: Path) -> None:
    write_skill(tmp_path / "a" / "skills" / "plan")
    catalog = catalog_of(marketplace(tmp_path, [{"name": f"a{at}", "source": "./a"} for at in range(MAX_PLUGINS + 1)]))
    assert names(catalog.entries()) == ["plan"]
    assert "at most 1000 are used" in catalog.diagnostics[0].message


def test_the_marketplace_is_read_again_at_a_refresh_and_unchanged_plugins_stay(tmp_path: Path) -> None:
    write_skill(tmp_path / "a" / "skills" / "plan")
    write_skill(tmp_path / "b" / "skills" / "tidy")
    catalog = catalog_of(marketplace(tmp_path, [{"name": "a", "source": "./a"}]))
    before = catalog.get("plan")
    marketplace(tmp_path, [{"name": "b", "source": "./b"}, {"name": "a", "source": "./a"}])
    catalog.refresh()
    assert names(catalog.entries()) == ["plan", "tidy"]
    assert catalog.get("plan") is before


@pytest.mark.parametrize("version", ["1 0", "", "x" * 80, 7, ["1"]])
def test_an_unusable_version_is_ignored_with_a_warning(tmp_path: Path, version: object) -> None:
    write_skill(manifest(tmp_path / "a", name="acme", version=version) / "skills" / "plan")
    catalog = catalog_of(tmp_path / "a")
    assert catalog.get("plan").source_version is None
    assert "the version" in finding(catalog, "catalog.plugin").message
