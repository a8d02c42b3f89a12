"""What loaded in a release loads unchanged in every later one with the same major version."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from prowess import __version__
from prowess.catalog import Catalog
from prowess.format import read_skill
from tests.format.frozen_skills import RELEASES, accepting, facts, freeze, frozen, lay_out

if TYPE_CHECKING:
    from pathlib import Path

# SHA-256 of each file: a promise that was given is not rewritten. A new release adds a line.
_DIGESTS = {"0.1.0": "2f2f99b5a634062ab097cbc5b746cd44fa635680756ad198c18743eddc98d0df"}


def _unchanged(before: object, now: object) -> bool:
    """Whether everything that was said is still said so; a mapping may say more than it did."""
    if isinstance(before, dict) and isinstance(now, dict):
        return all(key in now and _unchanged(value, now[key]) for key, value in before.items())
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(_unchanged, before, now))
    return before == now


def _promised() -> list[Any]:
    major = __version__.partition(".")[0]
    return [
        pytest.param(skills, id=release) for release, skills in frozen().items() if release.partition(".")[0] == major
    ]


@pytest.mark.proves("governance.version.compatible")
@pytest.mark.parametrize("skills", _promised())
def test_what_loaded_in_an_earlier_release_loads_unchanged(skills: list[dict[str, Any]], tmp_path: Path) -> None:
    for skill in skills:
        directory = lay_out(skill, tmp_path / skill["id"])
        before = dict(skill["loads"])
        profiles = accepting(directory)
        assert set(before.pop("profiles")) <= set(profiles), skill["id"]
        now = facts(read_skill(directory))
        # What a later release may add stands in the typed views alone; the rest is equal.
        views = {key: before.pop(key) for key in ("extended", "sidecar")}
        assert {key: now[key] for key in before} == before, skill["id"]
        assert _unchanged(views, now), skill["id"]
        agent = "x" if skill["id"] == "vendor-fields" else "coder"  # whom the field scope of two of them names
        (entry,) = Catalog(tmp_path / skill["id"], agent=agent, environment="production").entries()
        assert (entry.name, entry.description) == (before["name"], before["description"])
        assert dict(entry.properties) == before["properties"], skill["id"]


@pytest.mark.proves("governance.version.compatible")
def test_this_release_is_frozen_and_no_frozen_file_was_rewritten() -> None:
    found = {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in RELEASES.iterdir()}
    assert found == _DIGESTS
    assert __version__ in found, "freeze this release: python -m tests.format.frozen_skills VERSION"
    for skills in frozen().values():
        assert len(skills) > 150
        assert {"everything", "crlf", "bom", "lower-file", "tools-block-list", "colon-in-description"} <= {
            skill["id"] for skill in skills
        }


def test_a_frozen_release_is_written_like_the_first_and_never_twice(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        freeze("0.1.0", tmp_path)


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        ({"a": [{"b": 1, "c": 2}], "d": 3}, True),
        ({"a": [{"b": 2}]}, False),
        ({"a": [{"c": 1}]}, False),
        ({"a": [{"b": 1}, {}]}, False),
        ({"a": None}, False),
        ({}, False),
    ],
)
def test_what_is_new_is_no_change_and_what_is_gone_is_one(now: object, *, holds: bool) -> None:
    assert _unchanged({"a": [{"b": 1}]}, now) is holds
