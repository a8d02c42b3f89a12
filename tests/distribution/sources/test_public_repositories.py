"""Public repositories at one commit: their sources offer every skill of a list that was made by hand."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from prowess.distribution.sources.opening import open_source
from prowess.lockfile.source_reference import parse_reference
from tests.counterparts import counterpart

_LIST = Path(__file__).with_name("public_repositories.toml")
REPOSITORIES = tomllib.loads(_LIST.read_text(encoding="utf-8"))["repository"]


@pytest.mark.unmeasured
@pytest.mark.parametrize("listed", REPOSITORIES, ids=lambda listed: listed["name"])
def test_no_skill_of_a_public_repository_is_missed(listed: dict[str, Any], tmp_path: Path) -> None:
    repository = counterpart("public-repositories") / listed["name"]
    head = subprocess.run(["git", "-C", repository, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    assert head.stdout.strip() == listed["commit"]
    with open_source(parse_reference(f"git+file://{repository}"), scratch=str(tmp_path)) as source:
        assert [offer.name for offer in source.offers()] == sorted(listed["skills"].split())
        assert source.problems == ()
