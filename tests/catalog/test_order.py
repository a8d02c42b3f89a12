"""Order of copies: layer, in a layer priority, then the order of sources, then the path; and the order of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog, DirectorySource, Layer
from prowess.catalog.project import plugin_sources
from prowess.errors import InvalidArgumentsError, SkillNotFoundError
from tests.catalog.making import rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess._internal.layers_order import LayersOrder


def _source(directory: Path, layer: Layer) -> DirectorySource:
    return DirectorySource(str(directory), layer=layer)


def _explained(catalog: Catalog, name: str = "deploy") -> list[tuple[str, str, str]]:
    return [(copy.source.rpartition("/")[2], copy.state, copy.rule) for copy in catalog.why(name).copies]


@pytest.mark.proves("catalog.order.priority")
def test_in_a_layer_the_higher_priority_wins_over_the_order_of_sources(tmp_path: Path) -> None:
    write_skill(tmp_path / "first" / "deploy")
    write_skill(tmp_path / "second" / "deploy", extra="priority: 5\n")
    write_skill(tmp_path / "third" / "deploy", extra="priority: 20\n")
    catalog = Catalog(*(tmp_path / name for name in ("first", "second", "third")))
    assert _explained(catalog) == [
        ("third", "active", "catalog.priority"),
        ("second", "shadowed", "catalog.priority"),
        ("first", "shadowed", "catalog.priority"),
    ]
    assert catalog.get("deploy").source == str(tmp_path / "third")


@pytest.mark.proves("catalog.order.priority")
def test_equal_priorities_leave_the_decision_to_the_order_and_the_path(tmp_path: Path) -> None:
    for place in ("first/b", "first/a", "second/a"):
        write_skill(tmp_path / place / "deploy", extra="priority: 5\n")
    catalog = Catalog(tmp_path / "first", tmp_path / "second")
    assert [(copy.location, copy.rule) for copy in catalog.why("deploy").copies] == [
        (str(tmp_path / "first" / "a" / "deploy" / "SKILL.md"), "catalog.path"),
        (str(tmp_path / "first" / "b" / "deploy" / "SKILL.md"), "catalog.path"),
        (str(tmp_path / "second" / "a" / "deploy" / "SKILL.md"), "catalog.order"),
    ]


def test_a_negative_priority_yields_to_a_copy_without_one(tmp_path: Path) -> None:
    write_skill(tmp_path / "first" / "deploy", extra="priority: -1\n")
    write_skill(tmp_path / "second" / "deploy")
    assert Catalog(tmp_path / "first", tmp_path / "second").get("deploy").source == str(tmp_path / "second")


def test_a_priority_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    write_skill(tmp_path / "first" / "deploy")
    write_skill(tmp_path / "second" / "deploy", extra="priority: very high\n")
    assert Catalog(tmp_path / "first", tmp_path / "second").get("deploy").source == str(tmp_path / "first")


@pytest.mark.proves("governance.override.not-outbid", "catalog.order.setting")
@pytest.mark.parametrize("order", ["personal-first", "project-first"])
def test_a_priority_never_crosses_a_layer(tmp_path: Path, order: LayersOrder) -> None:
    write_skill(tmp_path / "mine" / "deploy", extra="priority: 1\n")
    write_skill(tmp_path / "ours" / "deploy", extra="priority: 2\n")
    write_skill(tmp_path / "acme" / "deploy", extra="priority: 1000\n")
    catalog = Catalog(
        _source(tmp_path / "acme", Layer.PLUGIN),
        _source(tmp_path / "ours", Layer.PROJECT),
        _source(tmp_path / "mine", Layer.PERSONAL),
        layers_order=order,
    )
    mine, ours = ("mine", "ours") if order == "personal-first" else ("ours", "mine")
    assert _explained(catalog) == [
        (mine, "active", "catalog.layer"),
        (ours, "shadowed", "catalog.layer"),
        ("acme", "shadowed", "catalog.layer"),
    ]


@pytest.mark.proves("governance.override.enterprise-final")
def test_the_enterprise_layer_is_first_in_both_orders(tmp_path: Path) -> None:
    for layer in Layer:
        write_skill(tmp_path / layer.value / "deploy", extra=f"priority: {layer.rank}\n")
    sources = [_source(tmp_path / layer.value, layer) for layer in Layer]
    for order in ("personal-first", "project-first"):
        assert Catalog(*sources, layers_order=order).get("deploy").layer is Layer.ENTERPRISE


def test_an_order_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="personal-first, project-first"):
        Catalog(tmp_path, layers_order="plugin-first")  # type: ignore[arg-type]  # refused


def test_a_directory_in_two_layers_belongs_to_the_one_that_is_higher_in_this_order(tmp_path: Path) -> None:
    write_skill(tmp_path / "ours" / "deploy")
    (tmp_path / "mine").symlink_to(tmp_path / "ours")
    sources = [_source(tmp_path / "mine", Layer.PERSONAL), _source(tmp_path / "ours", Layer.PROJECT)]
    assert Catalog(*sources).get("deploy").layer is Layer.PERSONAL
    assert Catalog(*sources, layers_order="project-first").get("deploy").layer is Layer.PROJECT


def test_project_first_lets_a_broken_project_skill_keep_its_name_from_the_personal_layer(tmp_path: Path) -> None:
    (write_skill(tmp_path / "ours" / "deploy") / "SKILL.md").write_text("nothing")
    write_skill(tmp_path / "mine" / "deploy")
    sources = [_source(tmp_path / "mine", Layer.PERSONAL), _source(tmp_path / "ours", Layer.PROJECT)]
    assert Catalog(*sources).get("deploy").layer is Layer.PERSONAL
    catalog = Catalog(*sources, layers_order="project-first")
    with pytest.raises(SkillNotFoundError, match="does not replace it"):
        catalog.get("deploy")
    assert _explained(catalog) == [
        ("ours", "skipped", "frontmatter.missing"),
        ("mine", "shadowed", "catalog.reserved"),
    ]


def test_an_untrusted_project_takes_no_name_from_the_personal_layer(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(own_home / ".prowess" / "skills" / "deploy", description="Mine.")
    write_skill(tmp_path / ".prowess" / "skills" / "deploy", description="Theirs.")
    monkeypatch.chdir(tmp_path)
    catalog = Catalog.discover(layers_order="project-first")
    assert catalog.get("deploy").description == "Mine."
    assert [(copy.state, copy.rule) for copy in catalog.why("deploy").copies] == [
        ("held_back", "catalog.trust"),
        ("active", "catalog.only"),
    ]
    trusted = Catalog.discover(layers_order="project-first", trust_project=True)
    assert trusted.get("deploy").description == "Theirs."


@pytest.mark.proves("catalog.order.plugins", "governance.conflict.last-installed")
def test_of_two_plugins_the_one_that_is_named_last_wins_with_a_warning_that_names_both(tmp_path: Path) -> None:
    for vendor in ("acme", "globex"):
        write_skill(tmp_path / vendor / "skills" / "deploy", description=vendor)
    for first, last in (("acme", "globex"), ("globex", "acme")):
        catalog = Catalog(*plugin_sources([str(tmp_path / first), str(tmp_path / last)]))
        assert catalog.get("deploy").description == last
        assert catalog.get(f"deploy@{first}").description == first
        (warning,) = [found for found in catalog.diagnostics if found.rule == "catalog.shadowed"]
        assert f"@{first}" in warning.message
        assert f"the plugin {last}" in warning.message
        assert _explained(catalog) == [(last, "active", "catalog.order"), (first, "shadowed", "catalog.order")]


def test_a_priority_counts_among_plugins_too(tmp_path: Path) -> None:
    write_skill(tmp_path / "acme" / "skills" / "deploy", extra="priority: 1\n")
    write_skill(tmp_path / "globex" / "skills" / "deploy")
    catalog = Catalog(*plugin_sources([str(tmp_path / "acme"), str(tmp_path / "globex")]))
    assert _explained(catalog) == [("acme", "active", "catalog.priority"), ("globex", "shadowed", "catalog.priority")]


def test_in_one_layer_a_skipped_copy_is_explained_beside_the_one_in_use(tmp_path: Path) -> None:
    (write_skill(tmp_path / "first" / "deploy") / "SKILL.md").write_text("---\nname: deploy\n---\n")
    write_skill(tmp_path / "second" / "deploy")
    catalog = Catalog(tmp_path / "first", tmp_path / "second")
    assert _explained(catalog) == [("second", "active", "catalog.only"), ("first", "skipped", "description.required")]
    assert rules(catalog) == ["description.required"]
