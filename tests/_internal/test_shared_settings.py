"""No `pyproject.toml` with settings is passed over, however its table is written."""

from __future__ import annotations

import tomllib

import pytest

from prowess._internal.shared_settings import may_set


@pytest.mark.parametrize(
    "text",
    [
        "[tool.prowess]\nprofile = 'boxxy'\n",
        "[project]\nname = 'a'\r\n\r\n  [ tool . 'prowess' ]\r\nprofile = 'boxxy'\r\n",
        "['tool'.\"prowess\"]\nprofile = 'boxxy'\n",
        "[tool]\nprowess = {profile = 'boxxy'}\n",
        "tool.prowess.profile = 'boxxy'\n",
        "tool = {prowess = {profile = 'boxxy'}}\n",
        '["\\u0074ool".prowess]\nprofile = "boxxy"\n',
        '[tool."pro\\u0077ess"]\nprofile = "boxxy"\n',
        '"\\u0074ool".\'prowess\'.profile = "boxxy"\n',
        "[tool.prowess.severity]\nlint = 'info'\n",
    ],
)
def test_every_way_to_write_the_table_is_seen(text: str) -> None:
    assert "prowess" in tomllib.loads(text)["tool"]
    assert may_set(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nname = 'prowess'\ndependencies = ['prowess']\n",
        "[tool.ruff.lint]\nignore = ['prowess']\n[tool.pytest.ini_options]\naddopts = 'prowess'\n",
        "[tool]\nother = 1\n",
        "# [tool.prowess]\n",
    ],
)
def test_a_file_that_names_prowess_elsewhere_sets_nothing(text: str) -> None:
    assert not may_set(text.encode())
