"""The screens of the documentation: drawn by the commands' own code, whole, and loading nothing."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from tools.screens import ROOT, screens

MOST_BYTES = 120_000


def test_pictures_of_pages_are_small() -> None:
    """`python -m tools.page_screens` takes them."""
    pictures = list((ROOT / "docs" / "screens").glob("*.png"))
    assert pictures
    assert [path.name for path in pictures if path.stat().st_size > MOST_BYTES] == []


def test_each_screen_is_drawn_and_loads_nothing() -> None:
    drawn = screens()
    assert sorted(path.stem for path in (ROOT / "docs" / "screens").glob("*.svg")) == sorted(drawn)
    for name, svg in drawn.items():
        assert "url(http" not in svg
        assert "@import" not in svg
        text = "".join(ET.fromstring(svg).itertext()).replace("\N{NO-BREAK SPACE}", " ")  # noqa: S314 -- our own text
        wanted = {"show": "release-notes", "check": "name.format", "triads": "Coordinator (0)"}
        assert wanted[name] in text
        on_disk = (ROOT / "docs" / "screens" / f"{name}.svg").read_text(encoding="utf-8")
        assert wanted[name] in on_disk.replace("&#160;", " ")
