"""`prowess publish` killed at system calls: readers see the old index or the new one, and the next run completes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from prowess._internal.places import prowess_home
from prowess._internal.text.canonical_json import sha256_of
from tests.distribution.deployment.deployments import Deployment
from tests.distribution.kills import ALL, USERS, opened_place
from tests.distribution.making import files_of, make_skill

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_FEW = 2
_BESIDE = ".well-known/agent-skills"
_CASES = {
    "next": ("publish", "skills", "--to", "registry"),
    "first": ("publish", "skills", "--to", "registry"),
    "yank": ("publish", "skills", "--to", "registry", "--yank", "pdf@1.0.0"),
}


def _complete_index(registry: Path) -> dict[str, list[tuple[str, bool]]]:
    """Return the versions in the index, and whether they are yanked. Every artifact that it names is there, whole."""
    index = registry / _BESIDE / "index.json"
    rows = json.loads(index.read_bytes())["skills"] if index.exists() else []
    for row in rows:
        for artifact in row["versions"]:
            assert sha256_of((registry / _BESIDE / artifact["url"]).read_bytes()) == artifact["digest"]
    return {row["name"]: [(one["version"], one.get("yanked", False)) for one in row["versions"]] for row in rows}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("case", _CASES if ALL else ["next"])
def test_a_killed_publish_leaves_the_old_index_or_the_new_one_and_the_next_completes_it(
    case: str, user: int | None
) -> None:
    with opened_place() as place:
        registry, skills = place.used / "registry", place.used / "skills"
        make_skill(skills, "pdf", "1.0.0")
        if case != "first":
            place.run("publish", "skills", "--to", "registry")
            make_skill(skills, "pdf", "1.1.0", body="Newer.")
        make_skill(skills, "xlsx", "1.0.0")
        place.keep(user)
        old = _complete_index(registry)
        kills = place.kills(*_CASES[case], few=_FEW)
        new, files = _complete_index(registry), files_of(registry)
        # Skills are published before versions are yanked, each in one step.
        between = {**new, "pdf": [(version, False) for version, _ in sorted(new["pdf"], reverse=True)]}
        for point in kills:
            assert _complete_index(registry) in ([old, between, new] if case == "yank" else [old, new]), point
            place.run(*_CASES[case])
            assert files_of(registry) == files, point


@pytest.mark.parametrize("user", USERS)
def test_a_killed_publish_with_keys_leaves_a_whole_release_and_the_next_completes_it(
    user: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    with opened_place() as place:
        deployment, skills = Deployment(place.used, capfd, name="registry"), place.used / "skills"
        registry = deployment.directory
        make_skill(skills, "pdf", "1.0.0")
        keys = ("--key", deployment.key("alice"), "--key", deployment.key("bob"))
        publish = ("publish", str(skills), "--to", str(registry), *keys)
        place.run(*publish)
        make_skill(skills, "pdf", "1.1.0", body="Newer.")
        make_skill(skills, "xlsx", "1.0.0")
        place.keep(user)
        old = _complete_index(registry)
        kills = place.kills(*publish, few=_FEW)
        new, paths = _complete_index(registry), set(files_of(registry))
        newest = [{name: rows[0][0] for name, rows in index.items()} for index in (old, new)]
        trust = ["registry", "trust", str(registry), "--root", str(deployment.root)]
        for point in kills:
            assert _complete_index(registry) in (old, new), point
            deployment.run(trust)
            rows = deployment.run(["registry", "list", str(registry)])["skills"]
            assert {row["name"]: row["version"] for row in rows} in newest, point
            place.run(*publish)
            assert _complete_index(registry) == new, point
            assert set(files_of(registry)) == paths, point
            shutil.rmtree(Path(prowess_home(), "registries"))
