"""`prowess publish` killed at its system calls: readers see the old index or the new one, and the next run completes.

`PROWESS_KILLS=all` kills at every call; by default a few are tried.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from prowess.cli import output
from tests.distribution.deployment.deployments import Deployment
from tests.distribution.kills import Killed, require_strace
from tests.distribution.making import files_of, make_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_ALL = os.environ.get("PROWESS_KILLS") == "all"
_FEW = 5
_BESIDE = ".well-known/agent-skills"


def _complete_index(registry: Path) -> dict[str, str]:
    """Return the newest versions in the index. Every artifact that it names exists."""
    rows = json.loads((registry / _BESIDE / "index.json").read_bytes())["skills"]
    for row in rows:
        for artifact in row["versions"]:
            assert (registry / _BESIDE / artifact["url"]).is_file()
    return {row["name"]: row["version"] for row in rows}


def test_a_killed_publish_leaves_the_old_index_or_the_new_one_and_the_next_completes_it(
    tmp_path: Path, own_home: Path
) -> None:
    require_strace()
    registry, kept = tmp_path / "registry", tmp_path / "kept"
    make_skill(tmp_path / "skills", "pdf", "1.0.0")
    environment = {**os.environ, "HOME": str(own_home)}
    command = Killed(("publish", "skills", "--to", "registry"), tmp_path, environment)
    command.run("publish", "skills", "--to", "registry")
    make_skill(tmp_path / "skills", "pdf", "1.1.0", body="Newer.")
    make_skill(tmp_path / "skills", "xlsx", "1.0.0")
    shutil.copytree(registry, kept)
    points = command.points(tmp_path / "log")
    new = files_of(registry)
    for point in points[:: 1 if _ALL else max(len(points) // _FEW, 1)]:
        shutil.rmtree(registry)
        shutil.copytree(kept, registry)
        command.kill_at(point)
        assert _complete_index(registry) in ({"pdf": "1.0.0"}, {"pdf": "1.1.0", "xlsx": "1.0.0"}), point
        command.run("publish", "skills", "--to", "registry")
        assert files_of(registry) == new, point


def test_a_killed_publish_with_keys_leaves_a_whole_release_and_the_next_completes_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], own_home: Path
) -> None:
    require_strace()
    deployment = Deployment(tmp_path, capfd, name="registry")
    registry, kept = deployment.directory, tmp_path / "kept"
    keys = ("--key", deployment.key("alice"), "--key", deployment.key("bob"))
    make_skill(tmp_path / "skills", "pdf", "1.0.0")
    publish = ("publish", "skills", "--to", "registry", *keys)
    command = Killed(publish, tmp_path, {**os.environ, "HOME": str(own_home)})
    command.run(*publish)
    trust = ["registry", "trust", str(registry), "--root", str(deployment.root)]
    deployment.run(trust)
    make_skill(tmp_path / "skills", "pdf", "1.1.0", body="Newer.")
    make_skill(tmp_path / "skills", "xlsx", "1.0.0")
    shutil.copytree(registry, kept)
    points = command.points(tmp_path / "log")
    new, paths = {"pdf": "1.1.0", "xlsx": "1.0.0"}, sorted(files_of(registry))
    with capfd.disabled():
        output.note(f"\npublish with keys: {len(points)} calls")
    # The last four files are the index at its usual place, and metadata that ends with the timestamp.
    renames = [point for point in points if point[0] == "rename"]
    for point in points if _ALL else (renames[-4], renames[-1]):
        shutil.rmtree(registry)
        shutil.copytree(kept, registry)
        shutil.rmtree(os.path.join(os.environ["PROWESS_HOME"], "registries"))
        deployment.run(trust)
        command.kill_at(point)
        assert _complete_index(registry) in ({"pdf": "1.0.0"}, new), point
        rows = deployment.run(["registry", "list", str(registry)])["skills"]
        assert {row["name"]: row["version"] for row in rows} in ({"pdf": "1.0.0"}, new), point
        command.run(*publish)
        assert _complete_index(registry) == new, point
        assert sorted(files_of(registry)) == paths, point
