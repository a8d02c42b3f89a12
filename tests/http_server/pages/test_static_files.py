from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from prowess import http_server
from prowess.http_server.pages.rendering.static_files import static_files, static_link
from tests.http_server.organisation import in_file

FOLDER = Path(http_server.__file__).parent
# SHA-256 of the files of these versions in the packages of npm.
VENDORED = {
    "htmx-2.0.11.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    "htmx-ext-sse-2.2.4.min.js": "98a46496de0c3605fbffdce9167ba427bdd9553184f83f149c261891a92c0136",
}


def test_scripts_of_other_people_are_the_published_bytes_of_the_version_in_their_names() -> None:
    scripts = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.rglob("*.js")}
    assert scripts == VENDORED
    assert b'version:"2.0.11"' in (FOLDER / "static" / "htmx-2.0.11.min.js").read_bytes()


def test_every_static_file_is_served_and_nothing_else(tmp_path: Path) -> None:
    there = {path.name for path in (FOLDER / "static").iterdir()}
    assert static_files().keys() == there
    with in_file(tmp_path) as organisation:
        client = organisation.client()
        for name in there:
            answer = client.get(static_link(name))
            assert answer.content == (FOLDER / "static" / name).read_bytes()
            assert "immutable" in answer.headers["cache-control"]
        assert client.get("/static/..%2Fapp.py").status_code == 404


@pytest.mark.parametrize("path", sorted((FOLDER / "templates").rglob("*.html")), ids=lambda path: path.name)
def test_no_template_needs_what_the_content_security_policy_forbids(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:|hx-on|hx-vals=.js|\|\s*safe", text)
    assert re.findall(r"<script(?! src=\"\{\{ asset)", text) == []
