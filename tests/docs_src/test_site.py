"""The documentation site builds without a warning, has each public name once, and its search works."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import unquote

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


def test_every_link_inside_the_site_leads_to_a_page_and_an_anchor_of_it(site: Path) -> None:
    """The strict build looks at links between pages of Markdown; this looks at all, to schemas and screens too."""
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html") if page.name != "404.html"}
    anchors = {str(page): set(re.findall(r'\bid="?([^" >]+)', text)) for page, text in pages.items()}
    files = {str(file) for file in site.rglob("*") if file.is_file()}
    seen, dead = set(), set()
    for page, text in pages.items():
        for link in set(re.findall(r'\b(?:href|src)="?([^">\s]+)', text)):
            here = page if link.startswith("#") else page.parent
            if (here, link) in seen or re.match(r"\w+:|//", link):
                continue
            seen.add((here, link))
            target, _, anchor = unquote(link).partition("#")
            place = os.path.normpath(f"{page.parent}/{target}") if target else str(page)
            place = place if place in files else f"{place}/index.html"
            is_there = not anchor or anchor.startswith("__") or anchor in anchors.get(place, {anchor})
            if not (place in files and is_there):
                dead.add(f"{page.relative_to(site)}: {link}")
    assert sorted(dead) == []


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
