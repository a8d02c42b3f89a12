"""Installed packages as sources: found as the catalog finds them, compared with their record, never imported."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess.distribution.sources.opening import open_source
from prowess.errors import DistributionError, UnavailableError, UnsafePathError
from prowess.lockfile.source_reference import parse_reference
from tests.catalog.installing import bare_project, install, install_node, site_of, skill_text
from tests.counterparts import counterpart

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "acme/__init__.py": "raise SystemExit('imported')\n",
    "acme/.agents/skills/pdf/SKILL.md": skill_text("pdf", extra='metadata:\n  version: "9.9"\n'),
    "acme/.agents/skills/pdf/scripts/run.py": "print()\n",
    "acme/.agents/skills/pdf/skill.oms.sig": "signature",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    return bare_project(tmp_path, monkeypatch)


def test_the_skills_of_a_distribution_are_copied_as_it_recorded_them(project: Path, tmp_path: Path) -> None:
    site = site_of(project / ".venv")
    install(site, "acme-tools", FILES, version="1.4.0")
    compiled = site / "acme/.agents/skills/pdf/scripts/__pycache__"
    compiled.mkdir()
    (compiled / "run.cpython-311.pyc").write_bytes(b"x")
    into = tmp_path / "into"
    into.mkdir()
    with open_source(parse_reference("python:Acme_Tools"), scratch=str(tmp_path)) as source:
        assert source.versions() == ("1.4.0",)
        (offer,) = source.offers()
        assert (offer.name, offer.package, offer.version) == ("pdf", "acme-tools", "1.4.0")
        assert source.offers("1.4.0") == (offer,)
        with pytest.raises(DistributionError, match=r"versions there: 1\.4\.0"):
            source.offers("2.0.0")
        fetched = source.fetch(offer, str(into))
    assert sorted(path.name for path in (into / "pdf").rglob("*") if path.is_file()) == [
        "SKILL.md",
        "run.py",
        "skill.oms.sig",
    ]
    assert fetched.tree == read_tree(fetched.directory).digest
    assert (fetched.source, fetched.path) == ("python:acme-tools", "acme/.agents/skills/pdf")
    assert "acme" not in sys.modules


def test_a_file_that_differs_from_the_record_is_refused(project: Path, tmp_path: Path) -> None:
    site = site_of(project / ".venv")
    install(site, "acme", FILES)
    (site / "acme/.agents/skills/pdf/scripts/run.py").write_text("evil()\n")
    with open_source(parse_reference("python:acme"), scratch=str(tmp_path)) as source:
        (offer,) = source.offers()
        (tmp_path / "into").mkdir()
        with pytest.raises(DistributionError, match=r"scripts/run\.py is not the file that acme 1\.0 recorded"):
            source.fetch(offer, str(tmp_path / "into"))
    assert os.listdir(tmp_path / "into") == []


def test_a_node_package_is_read_and_a_link_in_it_is_refused(project: Path, tmp_path: Path) -> None:
    files = {"skills/pdf/SKILL.md": skill_text("pdf"), "skills/pdf/a.md": "a"}
    root = install_node(project / "node_modules", "@acme/tools", files)
    (tmp_path / "into").mkdir()
    with open_source(parse_reference("npm:@acme/tools@1.0.0"), scratch=str(tmp_path)) as source:
        (offer,) = source.offers("1.0.0")
        assert (offer.name, offer.package, offer.version) == ("pdf", "@acme/tools", "1.0.0")
        fetched = source.fetch(offer, str(tmp_path / "into"))
        assert fetched.tree == read_tree(str(root / "skills" / "pdf")).digest
    (root / "skills" / "pdf" / "b.md").symlink_to("a.md")
    with (
        open_source(parse_reference("npm:@acme/tools"), scratch=str(tmp_path)) as source,
        pytest.raises((DistributionError, UnsafePathError), match=r"b\.md"),
    ):
        source.offers()


def test_a_package_that_is_not_installed_or_has_no_record_is_named(project: Path, tmp_path: Path) -> None:
    with (
        open_source(parse_reference("python:acme"), scratch=str(tmp_path)) as source,
        pytest.raises(UnavailableError, match="run pip install acme"),
    ):
        source.offers()
    install(site_of(project / ".venv"), "bare", {"bare/skills/pdf/SKILL.md": skill_text("pdf")}, record=False)
    with (
        open_source(parse_reference("python:bare"), scratch=str(tmp_path)) as source,
        pytest.raises(DistributionError, match="python:bare is not used: it has no RECORD"),
    ):
        source.offers()


@pytest.mark.parametrize(
    ("reference", "link", "skills"),
    [
        ("python:fastapi", ".venv", "fastapi/lib/python*/site-packages/fastapi/.agents/skills"),
        ("npm:@ant-design/x-skill", "node_modules", "npm-skills/node_modules/@ant-design/x-skill/skills"),
    ],
)
def test_the_skills_of_real_packages_are_copied(
    reference: str, link: str, skills: str, project: Path, tmp_path: Path
) -> None:
    tool, _, below = skills.partition("/")
    place = counterpart(tool)
    (project / link).symlink_to(place if link == ".venv" else place / link)
    (tmp_path / "into").mkdir()
    (shipped,) = place.glob(below)
    with open_source(parse_reference(reference), scratch=str(tmp_path)) as source:
        offers = source.offers()
        assert [offer.name for offer in offers] == sorted(os.listdir(shipped))
        for offer in offers:
            assert source.fetch(offer, str(tmp_path / "into")).tree == read_tree(str(shipped / offer.name)).digest
