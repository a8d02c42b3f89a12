"""Skills with warnings that the plain reader takes: a catalog reports them as if the full parser had read them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog
from prowess._internal.yaml_reader import YamlReading, read_yaml
from prowess.catalog import scan as scan_module
from prowess.format import parsing
from tests.catalog.making import names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_EXTRA = {
    "unknown": "version: 1\n",
    "two": "version: 1\nlicence: MIT\n",
    "lists": "tags: [a, 'b c']\ntriggers:\n  - one\n  - two\npriority: 3\n",
    "nested": "metadata:\n  owner:\n    team: [x]\n",
    "tools": "allowed-tools: Read, Grep\ndisallowed-tools:\n  - Bash\n",
    "near": "allowed_tools: Read\n",
    "hooked": "hooks:\n  PreToolUse: scripts/check.py\n",
    "hidden": "scope:\n  environments: [elsewhere]\nversion: 1\n",
    "scoped": "scope:\n  environments: [here]\n",
    "by-hand": "disable-model-invocation: true\nuser-invocable: nonsense\n",
    "forked": "context: fork\nagent: reviewer\n",
    "agent": "agent: reviewer\n",
    "misspelt": "Scope: nowhere\n",
    "twice": "hooks: a\nhooks: b\n",
    "broken": "version: {a\n",
    "manifest": "version: 1\n",
    "plain": "license: MIT\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, extra in _EXTRA.items():
        write_skill(tmp_path / name, extra=extra)
    (tmp_path / "manifest" / "skill.manifest.yaml").write_text("nonsense: 1\n", encoding="utf-8")
    write_skill(tmp_path / "other-directory", name="Another Name", description="x" * 1100)
    write_skill(tmp_path / "group" / "unknown", extra="version: 2\n")
    return tmp_path


def _told(catalog: Catalog) -> dict[str, object]:
    """Return everything that a host can see of a catalog."""
    return {
        "entries": [
            (entry.location, entry.properties, entry.extended, entry.has_scope, entry.description)
            for entry in catalog.all_entries()
        ],
        "problems": catalog.problems,
        "warned": catalog.warned_files,
        "diagnostics": catalog.diagnostics,
    }


def test_a_catalog_tells_the_same_as_if_the_full_parser_read_every_skill(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_plain_reader = _told(Catalog(root, environment="here"))
    assert with_plain_reader["warned"] == 17
    monkeypatch.setattr(scan_module, "read_plain_skill", lambda *_given, **_named: None)
    assert with_plain_reader == _told(Catalog(root, environment="here"))


def test_a_listing_parses_no_skill_in_full_that_the_plain_reader_takes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("misspelt", "twice", "broken", "manifest", "group", "hooked"):
        shutil.rmtree(root / name)
    parsed: list[str] = []

    def counting(text: str, *, base: int = 0) -> YamlReading:
        parsed.append(text)
        return read_yaml(text, base=base)

    monkeypatch.setattr(parsing, "read_yaml", counting)
    catalog = Catalog(root)
    assert "Another Name" in names(catalog.entries())
    assert catalog.problems == ()
    assert catalog.warned_files == 10
    assert parsed == []
    assert len(rules(catalog)) > len(parsed) == 10


def test_deferred_findings_are_about_the_state_that_was_listed(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a", extra="version: 1\n")
    catalog = Catalog(tmp_path)
    assert len(catalog.entries()) == 1
    write_skill(skill, extra="license: MIT\nauthor: me\n")
    (found,) = catalog.diagnostics
    assert (found.location.line, found.location.path) == (4, str(skill / "SKILL.md"))
    assert "'version'" in found.message
    catalog.refresh()
    assert ["'author'" in found.message for found in catalog.diagnostics] == [True]


def test_a_refresh_counts_a_new_warning_as_a_difference_and_an_old_one_as_none(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a", extra="version: 1\n")
    catalog = Catalog(tmp_path)
    before, (entry,) = catalog.generation, catalog.entries()
    catalog.refresh()
    assert catalog.generation == before
    assert catalog.entries() == (entry,)
    write_skill(skill, extra="version: 1\nauthor: me\n")
    catalog.refresh()
    assert catalog.generation == before + 1
    assert len(catalog.diagnostics) == 2


@pytest.mark.parametrize(
    ("extra", "key", "expected"),
    [
        ("scope: x\n", "scope", True),
        ("license: |\n  scope:\n", "scope", False),
        ("metadata:\n  scope: x\n", "scope", False),
        ("version: 1\n", "scope", False),
        ("scoped: 1\n", "scope", False),
        ("Scope: x\n", "scope", True),
    ],
)
def test_an_entry_knows_its_fields(tmp_path: Path, extra: str, key: str, *, expected: bool) -> None:
    write_skill(tmp_path / "a", extra=extra)
    (entry,) = Catalog(tmp_path, environment="x").all_entries() or [None]
    if entry is None:  # the scope hides it
        assert expected
        return
    assert entry.has_field(key) is expected
    assert entry.has_field("name")
