"""The provider of `agentskills_core`, held against that package's own conformance suite, and against ours.

The package is for Python 3.12 or newer; `make peers` runs this file in an environment of its own. Its suite passes on a
provider whose files of other skills can be read, so what it does not ask stands below it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agentskills_core", reason="agentskills-core is not installed; it needs Python 3.12 or newer")
pytest.importorskip("agentskills_testing", reason="agentskills-testing is not installed")

import agentskills_core as theirs
import agentskills_testing as testing

from prowess.adapters.agentskills_core import CatalogProvider
from prowess.catalog import Catalog

EXAMPLE = Path(__file__).parents[2] / "examples" / "skills" / "csv-report"


def _conforming(root: Path) -> Catalog:
    skill = root / testing.SKILL_ID
    for kind, name, data in (
        ("references", testing.REFERENCE_NAME, testing.REFERENCE_BYTES),
        ("scripts", testing.SCRIPT_NAME, testing.SCRIPT_BYTES),
        ("assets", testing.ASSET_NAME, testing.ASSET_BYTES),
    ):
        (skill / kind).mkdir(parents=True)
        (skill / kind / name).write_bytes(data)
    text = f"---\nname: {testing.SKILL_ID}\ndescription: For the suite.\n---\n# Suite\n\nDo it.\n"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    return Catalog(root)


class TestTheirSuite(testing.ProviderConformanceSuite):  # type: ignore[misc]  # not there where types are checked
    @pytest.fixture
    def provider(self, tmp_path: Path) -> Any:  # noqa: ANN401 -- their type, which is not there where types are checked
        return CatalogProvider(_conforming(tmp_path))


class TestTheirLimits(testing.ContentLimitConformanceSuite):  # type: ignore[misc]  # as above
    @pytest.fixture
    def limited_provider(self, tmp_path: Path) -> Any:  # noqa: ANN401 -- as above
        return CatalogProvider(_conforming(tmp_path), max_bytes=8)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two skills, of which the first tries to reach the second."""
    for name in ("first", "second"):
        skill = tmp_path / name
        (skill / "references" / "deep").mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: one --- two\nallowed-tools: Bash(git:*) Read\n---\nBody of {name}.\n"
        (skill / "SKILL.md").write_text(text, encoding="utf-8")
        (skill / "references" / "own.md").write_text(f"Of {name}.\n", encoding="utf-8")
        (skill / "references" / "deep" / "er.md").write_text("Deep.\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["../../second/references/own.md", "../SKILL.md", "../references/own.md", "deep", ".", "", "own.md/x"]
)
def test_no_name_leads_out_of_its_directory(root: Path, name: str) -> None:
    provider = CatalogProvider(Catalog(root))
    with pytest.raises(theirs.ResourceNotFoundError):
        asyncio.run(provider.get_reference("first", name))


@pytest.mark.parametrize("path", ["../second/SKILL.md", "/etc/passwd", "references/../../second/SKILL.md"])
def test_no_path_leads_out_of_the_skill(root: Path, path: str) -> None:
    provider = CatalogProvider(Catalog(root))
    with pytest.raises(theirs.ResourceNotFoundError):
        asyncio.run(provider.read_file("first", path))


@pytest.mark.parametrize("target", ["second/references/own.md", "first/references/own.md", "first/references"])
def test_a_link_is_neither_listed_nor_read(root: Path, target: str) -> None:
    link = root / "first" / "references" / "link.md"
    link.symlink_to(root / target)
    provider = CatalogProvider(Catalog(root))
    assert asyncio.run(provider.list_resources("first"))["references"] == ["deep/er.md", "own.md"]
    name = "link.md/own.md" if target.endswith("references") else "link.md"
    with pytest.raises(theirs.ResourceNotFoundError):
        asyncio.run(provider.get_reference("first", name))
    assert asyncio.run(provider.get_digest("first")) is None


def test_a_hard_link_to_a_file_of_another_skill_is_not_read(root: Path) -> None:
    os.link(root / "second" / "references" / "own.md", root / "first" / "references" / "hard.md")
    provider = CatalogProvider(Catalog(root))
    with pytest.raises(theirs.ResourceNotFoundError):
        asyncio.run(provider.get_reference("first", "hard.md"))


def test_a_byte_order_mark_and_a_fence_in_a_value_change_nothing(root: Path) -> None:
    document = root / "first" / "SKILL.md"
    document.write_bytes(b"\xef\xbb\xbf" + document.read_bytes().replace(b"\n", b"\r\n"))
    provider = CatalogProvider(Catalog(root))
    assert asyncio.run(provider.get_metadata("first")) == {
        "name": "first",
        "description": "one --- two",
        "allowed-tools": "Bash(git:*) Read",
    }
    assert asyncio.run(provider.get_body("first")).strip() == "Body of first."


def test_nested_files_are_listed_as_they_are_read(root: Path) -> None:
    provider = CatalogProvider(Catalog(root))
    listed = asyncio.run(provider.list_resources("first"))
    assert listed == {"references": ["deep/er.md", "own.md"], "scripts": [], "assets": []}
    assert asyncio.run(provider.get_reference("first", "deep/er.md")) == b"Deep.\n"


def test_what_their_snapshot_captures_is_what_is_on_the_disk(root: Path) -> None:
    provider = CatalogProvider(Catalog(root))
    snapshot = asyncio.run(theirs.capture_skill(theirs.Skill("first", provider)))
    captured = {file.path: file.digest for file in snapshot.files}
    there = [path for path in (root / "first").rglob("*") if path.is_file()]
    assert captured == {
        path.relative_to(root / "first").as_posix(): f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in there
    }
    assert asyncio.run(provider.get_digest("first")) == Catalog(root).skill("first").digest


def test_an_edit_shows_in_the_digest_and_in_what_is_read(root: Path) -> None:
    provider = CatalogProvider(Catalog(root))
    before = asyncio.run(provider.get_digest("first"))
    (root / "first" / "references" / "own.md").write_text("Edited, and longer.\n", encoding="utf-8")
    assert asyncio.run(provider.get_digest("first")) != before
    assert asyncio.run(provider.get_reference("first", "own.md")) == b"Edited, and longer.\n"


def test_a_skill_that_is_removed_is_gone_and_a_new_one_is_discovered(root: Path) -> None:
    provider = CatalogProvider(Catalog(root))
    assert asyncio.run(provider.discover()) == ["first", "second"]
    shutil.copytree(EXAMPLE, root / "csv-report")
    shutil.rmtree(root / "second")
    assert asyncio.run(provider.discover()) == ["csv-report", "first"]
    with pytest.raises(theirs.SkillNotFoundError):
        asyncio.run(provider.get_body("second"))


def test_a_skill_that_is_hidden_from_models_is_served_by_name_alone(root: Path) -> None:
    document = root / "second" / "SKILL.md"
    text = document.read_text(encoding="utf-8").replace("description:", "disable-model-invocation: true\ndescription:")
    document.write_text(text, encoding="utf-8")
    provider = CatalogProvider(Catalog(root))
    assert asyncio.run(provider.discover()) == ["first"]
    assert asyncio.run(provider.get_body("second")).strip() == "Body of second."


def test_one_broken_skill_does_not_take_the_others_away(root: Path) -> None:
    (root / "second" / "SKILL.md").write_bytes(b"---\nname: second\n\xff")
    provider = CatalogProvider(Catalog(root))
    assert asyncio.run(provider.discover()) == ["first"]
    with pytest.raises(theirs.AgentSkillsError):
        asyncio.run(provider.get_metadata("second"))


def test_a_registry_of_theirs_takes_the_catalog(tmp_path: Path) -> None:
    """Of skills whose fields pass its own validation, which wants a list where the specification has a text."""
    _conforming(tmp_path)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "SKILL.md").write_text(
        "---\nname: plain\ndescription: Plain.\n---\nDo it.\n", encoding="utf-8"
    )

    async def shown() -> str:
        registry = theirs.SkillRegistry()
        await registry.register_all(CatalogProvider(Catalog(tmp_path)))
        return str(await registry.get_skills_catalog(format="xml"))

    text = asyncio.run(shown())
    assert "plain" in text
    assert testing.SKILL_ID in text
