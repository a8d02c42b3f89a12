"""References: what a person can write for a source, and what is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from pathlib import Path

READ = [
    # text, kind, location, path, version, source
    ("acme/skills", "git", "https://github.com/acme/skills", "", None, "acme/skills"),
    ("acme/skills/docs/pdf@^1.2", "git", "https://github.com/acme/skills", "docs/pdf", "^1.2", "acme/skills/docs/pdf"),
    ("acme/skills/pdf/SKILL.md", "git", "https://github.com/acme/skills", "pdf", None, "acme/skills/pdf"),
    ("acme/skills.git", "git", "https://github.com/acme/skills", "", None, "acme/skills"),
    ("https://github.com:443/acme/skills", "git", "https://github.com/acme/skills", "", None, "acme/skills"),
    (
        "https://github.com/acme/skills/releases/download/v1/pdf.zip",
        "archive",
        "https://github.com/acme/skills/releases/download/v1/pdf.zip",
        "",
        None,
        "https://github.com/acme/skills/releases/download/v1/pdf.zip",
    ),
    ("acme/skills@feature/x", "git", "https://github.com/acme/skills", "", "feature/x", "acme/skills"),
    ("https://github.com/acme/skills", "git", "https://github.com/acme/skills", "", None, "acme/skills"),
    ("https://GitHub.com/acme/skills.git@v1", "git", "https://github.com/acme/skills", "", "v1", "acme/skills"),
    (
        "https://github.com/acme/skills/tree/main/skills/pdf",
        "git",
        "https://github.com/acme/skills",
        "skills/pdf",
        "main",
        "acme/skills/skills/pdf",
    ),
    (
        "https://gitlab.com/group/sub/skills/-/blob/v2/a/SKILL.md",
        "git",
        "https://gitlab.com/group/sub/skills",
        "a",
        "v2",
        "git+https://gitlab.com/group/sub/skills#subdirectory=a",
    ),
    ("git+https://github.com/acme/skills.git", "git", "https://github.com/acme/skills", "", None, "acme/skills"),
    (
        "git+https://git.acme.com/skills.git@1.0.0#subdirectory=pdf",
        "git",
        "https://git.acme.com/skills",
        "pdf",
        "1.0.0",
        "git+https://git.acme.com/skills#subdirectory=pdf",
    ),
    (
        "git+https://git.acme.com/skills#subdirectory=a%20b@1.0.0",
        "git",
        "https://git.acme.com/skills",
        "a b",
        "1.0.0",
        "git+https://git.acme.com/skills#subdirectory=a b",
    ),
    (
        "git@git.acme.com:team/skills.git@v1",
        "git",
        "ssh://git@git.acme.com/team/skills",
        "",
        "v1",
        "git+ssh://git@git.acme.com/team/skills",
    ),
    (
        "ssh://git@git.acme.com:2222/team/skills",
        "git",
        "ssh://git@git.acme.com:2222/team/skills",
        "",
        None,
        "git+ssh://git@git.acme.com:2222/team/skills",
    ),
    ("git+file:///srv/skills@v1", "git", "/srv/skills", "", "v1", "git+file:/srv/skills"),
    (
        "git+http://127.0.0.1:8080/skills",
        "git",
        "http://127.0.0.1:8080/skills",
        "",
        None,
        "git+http://127.0.0.1:8080/skills",
    ),
    ("https://acme.com", "index", "https://acme.com", "", None, "https://acme.com"),
    (
        "https://acme.com/skills/@2.0.0",
        "index",
        "https://acme.com/skills/@2.0.0",
        "",
        None,
        "https://acme.com/skills/@2.0.0",
    ),
    ("https://acme.com/@2.0.0", "index", "https://acme.com", "", "2.0.0", "https://acme.com"),
    ("https://acme.com/skills@2.0.0", "index", "https://acme.com/skills", "", "2.0.0", "https://acme.com/skills"),
    ("http://localhost:9000", "index", "http://localhost:9000", "", None, "http://localhost:9000"),
    ("https://acme.com/a/pdf.zip", "archive", "https://acme.com/a/pdf.zip", "", None, "https://acme.com/a/pdf.zip"),
    ("oci://ghcr.io/acme/pdf:1.2.0", "oci", "ghcr.io/acme/pdf", "", "1.2.0", "oci://ghcr.io/acme/pdf"),
    ("oci://localhost:5000/pdf@^1", "oci", "localhost:5000/pdf", "", "^1", "oci://localhost:5000/pdf"),
    ("oci://ghcr.io/a/b@sha256:" + "0" * 64, "oci", "ghcr.io/a/b", "", "sha256:" + "0" * 64, "oci://ghcr.io/a/b"),
    ("python:Fast_API@0.1", "python", "fast-api", "", "0.1", "python:fast-api"),
    ("npm:@acme/skills@1.0.0", "npm", "@acme/skills", "", "1.0.0", "npm:@acme/skills"),
    ("npm:skills", "npm", "skills", "", None, "npm:skills"),
    ("/srv/skills", "directory", "/srv/skills", "", None, "/srv/skills"),
    ("/srv/pdf.tar.gz@1.0.0", "archive", "/srv/pdf.tar.gz", "", "1.0.0", "/srv/pdf.tar.gz"),
]


@pytest.mark.parametrize(("text", "kind", "location", "path", "version", "source"), READ)
def test_a_reference_is_parsed_and_its_source_names_the_same_place(  # noqa: PLR0917 -- the columns of the table
    text: str, kind: str, location: str, path: str, version: str | None, source: str
) -> None:
    found = parse_reference(text)
    assert (found.kind, found.location, found.path, found.version) == (kind, location, path, version)
    assert found.source == source
    again = parse_reference(found.source, has_version=False)
    assert (again.kind, again.location, again.path, again.version) == (kind, location, path, None)
    assert parse_reference(str(found)) == found


def test_local_paths_are_relative_to_the_base_and_written_relative_to_a_lock(tmp_path: Path) -> None:
    found = parse_reference("../skills", base=str(tmp_path / "project"))
    assert found.location == str(tmp_path / "skills")
    assert found.relative_to(str(tmp_path / "project")) == "../skills"
    assert found.relative_to(str(tmp_path)) == "./skills"
    assert found.relative_to(str(tmp_path / "skills")) == "."
    repository = parse_reference("git+file:../repo#subdirectory=a", base=str(tmp_path / "project"))
    assert repository.location == str(tmp_path / "repo")
    written = repository.relative_to(str(tmp_path / "project"))
    assert written == "git+file:../repo#subdirectory=a"
    assert parse_reference(written, base=str(tmp_path / "project"), has_version=False) == repository
    assert parse_reference("acme/skills").relative_to(str(tmp_path)) == "acme/skills"


def test_a_directory_whose_name_contains_an_at_sign_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "skills@work").mkdir()
    assert parse_reference("./skills@work", base=str(tmp_path)).version is None
    assert parse_reference("./skills@1.0.0", base=str(tmp_path)).version == "1.0.0"
    assert parse_reference("./gone@work", base=str(tmp_path), has_version=False).location == str(tmp_path / "gone@work")


def test_a_directory_named_like_an_archive_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "old.zip").mkdir()
    assert parse_reference("./old.zip", base=str(tmp_path)).kind == "directory"
    assert parse_reference("~/x.skill").location == os.path.expanduser("~/x.skill")


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter2@acme.com/skills",
        "https://hunter2@github.com/acme/skills",
        "git+https://x-access-token:hunter2@github.com/acme/skills",
        "git+ssh://git:hunter2@acme.com/skills",
        "ssh://git:hunter2@acme.com/skills",
        "oci://user:hunter2@ghcr.io/acme/pdf",
        "https://acme.com/skills?access_token=hunter2",
        "https://acme.com/pdf.zip?X-Amz-Signature=hunter2",
        "git+https://acme.com/skills?private_token=hunter2",
        "git+http://u:hunter2@127.0.0.1/skills",
    ],
)
def test_a_credential_in_a_url_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="password or token") as refused:
        parse_reference(text)
    assert "hunter2" not in str(refused.value)
    assert "hunter2" not in repr(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("skills", "no source"),
        ("pdf@1.0", "no source"),
        ("acme/skills@", "version"),
        ("acme/skills@-x", "version"),
        ("acme/skills/../../etc", "'..'"),
        ("git+https://acme.com/r#subdirectory=../x", "'..'"),
        ("git+https://acme.com/r#subdirectory=/etc", "absolute"),
        ("git+https://acme.com/r#egg=x", "subdirectory=PATH"),
        ("git+https://acme.com", "no repository"),
        ("http://acme.com/skills", "plain http"),
        ("git+http://acme.com/skills", "plain http"),
        ("git+ext::sh -c true", "not supported"),
        ("git://acme.com/skills", "not supported"),
        ("ftp://acme.com/skills", "not supported"),
        ("git+ssh://-oProxyCommand=x/skills", "no host"),
        ("git+ssh://git@-oProxyCommand=x/skills", "no host"),
        ("git+ssh://-l@acme.com/skills", "user name"),
        ("https://acme.com\\evil.com/x", "no host"),
        ("https://acme.com\\@evil.com/x", "password or token"),
        ("https:///skills", "no host"),
        ("https://acme.com:99999/x", "not a URL"),
        ("https://github.com/acme/skills/issues/5", "page"),
        ("oci://ghcr.io/Acme/UPPER", "oci://registry"),
        ("oci://ghcr.io", "oci://registry"),
        ("python:../x", "distribution"),
        ("npm:../x", "npm package"),
        ("npm:@acme", "npm package"),
        (" acme/skills", "spaces"),
        ("acme/skills\n", "invisible"),
        ("acme/\u202eskills", "invisible"),
    ],
)
def test_what_is_no_source_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=why):
        parse_reference(text)
