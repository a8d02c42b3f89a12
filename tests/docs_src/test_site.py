"""The documentation site builds without a warning, has each public name once, and its search works."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tools import docs_site

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("zensical", reason="the extra `docs` is not installed")
pytestmark = pytest.mark.unmeasured


@pytest.fixture(scope="module")
def site() -> Path:
    """The site, built strictly: a dead link or anchor in a page is a warning, and fails."""
    try:
        return docs_site.build()
    except subprocess.CalledProcessError as error:
        pytest.fail(error.output)


def _found(site: Path, query: str) -> list[str]:
    """Return the places whose title and text have a word with each word of the query as its beginning."""
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))

    def words(text: str) -> set[str]:
        return set(re.split(index["config"]["separator"], text.casefold())) - {""}

    def fits(text: str) -> bool:
        there = words(re.sub(r"<[^>]+>", " ", text))
        return all(any(one.startswith(word) for one in there) for word in words(query))

    return [item["location"] for item in index["items"] if fits(f"{item['title']} {item['text']}")]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("disallowed-tools", "administer/restriction.html#disallowed-tools"),
        ("exit code 3", "reference/command-line.html#exit-codes"),
        ("Session", "reference/api/prowess.runtime.html#prowess.runtime.Session"),
        ("name.format", "reference/rules/name.format.html"),
    ],
)
def test_search_finds(site: Path, query: str, place: str) -> None:
    assert place in _found(site, query)


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^"' >]*""")
    styles = re.compile(r"""url\(["']?(?:https?:)?//|@import["' (]+(?:https?:)?//""")
    pages = {page.relative_to(site): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert {str(page): loads.findall(text) for page, text in pages.items() if loads.search(text)} == {}
    assert [style.name for style in site.rglob("*.css") if styles.search(style.read_text(encoding="utf-8"))] == []


def test_each_public_name_has_its_text_once(site: Path) -> None:
    pages = [page.read_text(encoding="utf-8") for page in (site / "reference" / "api").glob("*.html")]
    headings = [name for page in pages for name in re.findall(r'<h2 id="([^"]+)"', page)]
    assert len(headings) == len(set(headings))
    documented = {name.rpartition(".")[2] for name in headings}
    for package in ("agent", "catalog", "format", "policy", "runtime", "tools"):
        exported = importlib.import_module(f"prowess.{package}").__all__
        assert [name for name in exported if name not in documented] == [], package


def test_every_page_is_in_the_navigation() -> None:
    """A page that the navigation does not name has neither a place in the menu nor a way to it."""
    listed = re.findall(r'"([^"\s]+\.md)"', docs_site.SETTINGS.read_text(encoding="utf-8"))
    docs = docs_site.ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}
    covered = {page for entry in listed for page in (path.relative_to(docs).as_posix() for path in docs.glob(entry))}
    assert sorted(pages - covered) == []
