"""Git repositories as sources: versions, bytes as they are committed, and nothing of a repository executed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
from prowess.distribution.sources.opening import open_source
from prowess.distribution.sources.protocol import Access
from prowess.errors import DistributionError, LimitExceededError, UnavailableError, UnsafePathError
from prowess.lockfile.source_reference import parse_reference
from tests.counterparts import counterpart
from tests.distribution.serving import Answer, serving
from tests.distribution.sources.git_repository import commit, git, new_repository, served, skill

if TYPE_CHECKING:
    from prowess.distribution.sources.protocol import Fetched, Offer, SkillSource

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "srv" / "skills")


def opened(text: object, tmp_path: Path, *, offline: bool = False) -> SkillSource:
    scratch = tmp_path / f"scratch-{len(os.listdir(tmp_path))}"
    scratch.mkdir()
    prefix = "git+file:" if isinstance(text, Path) else ""
    return open_source(parse_reference(f"{prefix}{text}"), scratch=str(scratch), access=Access(offline=offline))


def fetched(source: SkillSource, offer: Offer, tmp_path: Path) -> Fetched:
    into = tmp_path / f"into-{len(os.listdir(tmp_path))}"
    into.mkdir()
    return source.fetch(offer, str(into))


def listed(offers: tuple[Offer, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(offer.name, offer.version, offer.revision) for offer in offers]


def test_without_tags_the_skills_of_head_have_the_versions_of_their_metadata(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, {"pdf/SKILL.md": skill("pdf", version="1.2.0"), "mail/SKILL.md": skill("mail")})
    with opened(repository, tmp_path) as source:
        assert listed(source.offers()) == [("mail", None, head), ("pdf", "1.2.0", head)]
        assert listed(source.offers("1.2.0")) == [("pdf", "1.2.0", head)]
        assert source.versions() == ()
        assert source.contacted == ()
        assert source.offers()[0].package == "skills"


def test_tags_are_versions_of_all_skills_or_of_one(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"pdf/SKILL.md": skill("pdf"), "mail/SKILL.md": skill("mail")}, "v1.0.0")
    second = commit(repository, {"pdf/SKILL.md": skill("pdf", "Second.")}, "v1.10.0")
    third = commit(repository, {"pdf/SKILL.md": skill("pdf", "Third.")}, "pdf-v2.0.0")
    fourth = commit(repository, {"mail/SKILL.md": skill("mail", "Fourth.")}, "mail@1.9.0")
    fifth = commit(repository, {"mail/SKILL.md": skill("mail", "Fifth.")}, "v3.0.0-rc.1")
    head = commit(repository, {"pdf/SKILL.md": skill("pdf", "Untagged.")})
    git(repository, "branch", "next")
    with opened(repository, tmp_path) as source:
        assert source.versions() == ("2.0.0", "1.10.0", "1.9.0", "1.0.0", "3.0.0-rc.1")
        assert listed(source.offers()) == [("mail", "1.10.0", second), ("pdf", "2.0.0", third)]
        assert listed(source.offers("1.9.0")) == [("mail", "1.9.0", fourth)]
        assert listed(source.offers("1.0.0")) == [("mail", "1.0.0", first), ("pdf", "1.0.0", first)]
        assert listed(source.offers("v1.0.0")) == listed(source.offers("1.0.0"))
        assert listed(source.offers("pdf-v2.0.0")) == [("pdf", "2.0.0", third)]
        assert {offer.revision for offer in source.offers("3.0.0-rc.1")} == {fifth}
        assert {offer.revision for offer in source.offers("main")} == {head}
        assert listed(source.offers("next")) == listed(source.offers("HEAD")) == listed(source.offers(head))
        assert listed(source.offers(first)) == listed(source.offers("1.0.0"))
        with pytest.raises(DistributionError, match=r"no version, tag, branch or full commit id '9\.9\.9'"):
            source.offers("9.9.9")


def test_a_prerelease_is_the_newest_version_only_if_there_is_no_release(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf")}, "v1.0.0-rc.1")
    commit(repository, {"pdf/SKILL.md": skill("pdf", "x")}, "v1.0.0-rc.2")
    with opened(repository, tmp_path) as source:
        assert [offer.version for offer in source.offers()] == ["1.0.0-rc.2"]


def _advertised(*refs: str) -> Answer:
    """Return the list of refs of a server that speaks git's protocol."""
    lines = [b"# service=git-upload-pack\n", b"", *(f"{'a' * 40} {ref}\n".encode() for ref in refs)]
    lines[2] = lines[2][:-1] + b"\0ofs-delta\n"
    body = b"".join(b"%04x%b" % (len(line) + 4, line) if line else b"0000" for line in lines) + b"0000"
    return Answer(body, headers=(("content-type", "application/x-git-upload-pack-advertisement"),))


def test_tags_with_endless_names_are_left_out_in_time(tmp_path: Path) -> None:
    endless = [f"refs/tags/{number}{'-0.0.0' * 10_000}!" for number in range(20)]
    advertised = _advertised("refs/tags/v1.2.0", *endless)
    with (
        serving({"/acme/skills/info/refs": advertised}) as site,
        opened(f"git+{site.url}/acme/skills", tmp_path) as one,
    ):
        assert one.versions() == ("1.2.0",)


def test_a_repository_with_tags_about_too_many_skills_is_refused(tmp_path: Path) -> None:
    advertised = _advertised(*(f"refs/tags/a{number}-v1.0.0" for number in range(10_002)))
    with (
        serving({"/acme/skills/info/refs": advertised}) as site,
        opened(f"git+{site.url}/acme/skills", tmp_path) as source,
        pytest.raises(LimitExceededError, match="tags of their own"),
    ):
        source.offers()


def test_a_tag_with_the_name_of_the_repository_is_about_all_skills(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf")}, "skills-v1.0.0")
    with opened(repository, tmp_path) as source:
        assert [(offer.name, offer.version) for offer in source.offers()] == [("pdf", "1.0.0")]


def test_files_are_written_as_they_are_committed(repository: Path, tmp_path: Path) -> None:
    attributes = "*.txt text eol=crlf ident export-subst\n*.bin filter=evil\n*.no export-ignore\nsecret export-ignore\n"
    commit(repository, {".gitattributes": attributes, ".gitmodules": "[submodule]\n"})
    commit(
        repository,
        {
            "pdf/SKILL.md": skill("pdf"),
            "pdf/.gitattributes": attributes,
            "pdf/a.txt": b"$Id$ $Format:%H$\n",
            "pdf/b.bin": b"\x00\xff\r\n",
            "pdf/c.no": b"kept",
            "pdf/run.sh": b"#!/bin/sh\n",
        },
    )
    git(repository, "update-index", "--chmod=+x", "pdf/run.sh")
    git(repository, "commit", "-q", "-m", "x")
    marker = tmp_path / "executed"
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        (repository / ".git" / "hooks").mkdir(exist_ok=True)
        (repository / ".git" / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    git(repository, "config", "filter.evil.smudge", f"touch {marker}")
    git(repository, "config", "core.fsmonitor", f"touch {marker}")
    git(repository, "config", "core.sshCommand", f"touch {marker}")
    with opened(repository, tmp_path) as source:
        result = fetched(source, source.offers()[0], tmp_path)
    copy = Path(result.directory)
    assert (copy / "a.txt").read_bytes() == b"$Id$ $Format:%H$\n"
    assert (copy / "b.bin").read_bytes() == b"\x00\xff\r\n"
    assert (copy / "c.no").read_bytes() == b"kept"
    assert os.access(copy / "run.sh", os.X_OK)
    assert not os.access(copy / "a.txt", os.X_OK)
    assert result.tree == read_tree(str(copy)).digest
    assert result.commit == git(repository, "rev-parse", "HEAD")
    assert (result.source, result.path, result.artifact) == (f"git+file:{repository}", "pdf", None)
    assert not marker.exists()


def test_the_configuration_and_environment_of_the_user_change_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = new_repository(tmp_path / "evil")
    commit(evil, {"evil/SKILL.md": skill("evil")})
    head = commit(repository, {"pdf/SKILL.md": skill("pdf")})
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[url "{evil}"]\n\tinsteadOf = file://{repository}\n\tinsteadOf = {repository}\n'
        f"[core]\n\tautocrlf = true\n\thooksPath = {home}\n[init]\n\ttemplateDir = {home}\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_DIR", str(evil / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(evil / ".git" / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(evil))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.abbrev=4'")
    monkeypatch.setenv("GIT_TRACE", str(home / "trace"))
    with opened(repository, tmp_path) as source:
        assert listed(source.offers()) == [("pdf", None, head)]
        fetched(source, source.offers()[0], tmp_path)
    assert not (home / "trace").exists()


def test_replaced_objects_and_grafts_change_nothing(repository: Path, tmp_path: Path) -> None:
    good = commit(repository, {"pdf/SKILL.md": skill("pdf", "Good.")})
    bad = commit(repository, {"pdf/SKILL.md": skill("pdf", "Bad.")})
    git(repository, "replace", good, bad)
    with opened(repository, tmp_path) as source:
        result = fetched(source, source.offers(good)[0], tmp_path)
    assert "Good." in (Path(result.directory) / "SKILL.md").read_text()


def test_links_lead_to_files_of_the_skill_or_the_skill_is_refused(repository: Path, tmp_path: Path) -> None:
    (repository / "skills" / "pdf" / "docs").mkdir(parents=True)
    (repository / "skills" / "pdf" / "AGENTS.md").write_text("text")
    (repository / "skills" / "pdf" / "CLAUDE.md").symlink_to("AGENTS.md")
    (repository / "skills" / "pdf" / "docs" / "up.md").symlink_to("../CLAUDE.md")
    (repository / ".agents").mkdir()
    (repository / ".agents" / "skills").symlink_to("../skills")
    for name, target in {"out": "../../secret", "absolute": "/etc/passwd", "loop": "loop.md", "gone": "gone"}.items():
        (repository / "skills" / name).mkdir()
        (repository / "skills" / name / "SKILL.md").write_text(skill(name))
        (repository / "skills" / name / "loop.md").symlink_to(target)
    commit(repository, {"skills/pdf/SKILL.md": skill("pdf"), "secret": "secret"})
    with opened(repository, tmp_path) as source:
        offers = {offer.name: offer for offer in source.offers()}
        assert sorted(offers) == ["absolute", "gone", "loop", "out", "pdf"]
        result = fetched(source, offers["pdf"], tmp_path)
        for name in ("CLAUDE.md", "docs/up.md"):
            assert (Path(result.directory) / name).read_text() == "text"
            assert not (Path(result.directory) / name).is_symlink()
        for name in ("out", "absolute", "loop", "gone"):
            with pytest.raises(UnsafePathError, match=r"loop\.md"):
                fetched(source, offers[name], tmp_path)


def test_submodules_and_large_files_are_refused_with_the_reason(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf"), "big/SKILL.md": skill("big"), "big/model.bin": LFS})
    commit(repository, {"ok/SKILL.md": skill("ok"), "big/zzz.md": "never read"})
    tree = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{tree},pdf/vendor")
    git(repository, "commit", "-q", "-m", "x")
    with opened(repository, tmp_path) as source:
        big, ok, pdf = source.offers()
        with pytest.raises(DistributionError, match="pdf/vendor is a submodule"):
            fetched(source, pdf, tmp_path)
        with pytest.raises(DistributionError, match=r"model\.bin is kept in Git LFS") as kept:
            fetched(source, big, tmp_path)
        result = fetched(source, ok, tmp_path)
        assert kept.value.__traceback__ is not None, "the error is still there, and the next skill is read"
        assert (Path(result.directory) / "SKILL.md").read_text() == skill("ok")
        shutil.rmtree(result.directory)
    assert not [path for path in tmp_path.glob("into-*") if os.listdir(path)]


def make_tree(repository: Path, entries: list[tuple[str, str, str]]) -> str:
    """Write a tree that `git mktree` would refuse, and return its id."""
    data = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    return git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=data)


@pytest.mark.parametrize(
    "name", ["..", "NUL", "a\\b", "SKILL.md.", "skill.MD", "x:y", ".", "a/../../../../x", "/tmp/prowess-escaped"]
)
def test_a_hostile_tree_writes_nothing_outside_and_no_incomplete_skill(
    repository: Path, tmp_path: Path, name: str
) -> None:
    commit(repository, {"ok/SKILL.md": skill("ok")})
    document = git(repository, "hash-object", "-w", "--stdin", data=skill("pdf").encode())
    inner = make_tree(repository, [("100644", "SKILL.md", document), ("100644", name, document)])
    if name in {"..", "."}:
        leaf = make_tree(repository, [("100644", "SKILL.md", document)])
        inner = make_tree(repository, [("100644", "SKILL.md", document), ("40000", name, leaf)])
    root = make_tree(repository, [("40000", "pdf", inner)])
    head = git(repository, "commit-tree", root, "-m", "hostile")
    git(repository, "update-ref", "refs/heads/main", head)
    with opened(repository, tmp_path) as source:
        for offer in source.offers():
            with pytest.raises((UnsafePathError, DistributionError)):
                fetched(source, offer, tmp_path)
    assert not [path for path in tmp_path.glob("into-*") if os.listdir(path)]
    found = {path.name for path in tmp_path.iterdir() if not path.name.startswith(("into-", "scratch-"))}
    assert found == {"srv"}


def test_a_tree_with_a_file_and_a_directory_of_one_name_is_refused(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"ok/SKILL.md": skill("ok")})
    document = git(repository, "hash-object", "-w", "--stdin", data=skill("pdf").encode())
    leaf = make_tree(repository, [("100644", "SKILL.md", document)])
    root = make_tree(repository, [("100644", "SKILL.md", document), ("40000", "SKILL.md", leaf)])
    git(repository, "update-ref", "refs/heads/main", git(repository, "commit-tree", root, "-m", "hostile"))
    with opened(repository, tmp_path) as source, pytest.raises(DistributionError, match="two entries with the path"):
        source.offers()


def test_a_directory_of_a_repository_is_a_source_of_its_own(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"a/pdf/SKILL.md": skill("pdf"), "a/pdf/x.md": "x", "b/mail/SKILL.md": skill("mail")})
    with opened(f"git+file:{repository}#subdirectory=a", tmp_path) as source:
        (offer,) = source.offers()
        assert (offer.name, offer.path) == ("pdf", "pdf")
    with opened(f"git+file:{repository}#subdirectory=a/pdf", tmp_path) as source:
        (offer,) = source.offers()
        assert (offer.name, offer.path) == ("pdf", "")
        assert sorted(os.listdir(fetched(source, offer, tmp_path).directory)) == ["SKILL.md", "x.md"]
    absent = f"git+file:{repository}#subdirectory=c"
    with opened(absent, tmp_path) as source, pytest.raises(DistributionError, match="no such directory"):
        source.offers()


def test_a_marketplace_in_a_repository_is_read_and_its_skills_directory_is_not_missed(
    repository: Path, tmp_path: Path
) -> None:
    market = '{"name": "m", "plugins": [{"name": "office", "source": "./plugins/office", "version": "3.0.0"}]}'
    commit(
        repository,
        {
            ".claude-plugin/marketplace.json": market,
            "plugins/office/.claude-plugin/plugin.json": '{"name": "office"}',
            "plugins/office/skills/docx/SKILL.md": skill("docx"),
            "plugins/office/skills/docx/tests/fixture/SKILL.md": skill("fixture"),
            "skills/docx/SKILL.md": skill("docx"),
            "skills/pdf/SKILL.md": skill("pdf"),
            "template/SKILL.md": skill("template"),
        },
    )
    with opened(repository, tmp_path) as source:
        found = [(offer.name, offer.package, offer.path) for offer in source.offers()]
    assert found == [("docx", "office", "plugins/office/skills/docx"), ("pdf", "skills", "skills/pdf")]


def test_bare_repositories_work_trees_and_clones_are_read(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, {"pdf/SKILL.md": skill("pdf")})
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "bare.git"))
    git(tmp_path, "clone", "-q", "--shared", str(repository), str(tmp_path / "shared"))
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    for place in ("bare.git", "shared", "tree"):
        with opened(tmp_path / place, tmp_path) as source:
            assert [offer.revision for offer in source.offers()] == [head]
            fetched(source, source.offers()[0], tmp_path)


def test_a_repository_with_sha256_ids_is_read(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "srv" / "modern", "--object-format=sha256")
    head = commit(repository, {"pdf/SKILL.md": skill("pdf")}, "v1.0.0")
    with opened(repository, tmp_path) as source:
        assert listed(source.offers()) == [("pdf", "1.0.0", head)]
        assert fetched(source, source.offers()[0], tmp_path).commit == head
    with served(tmp_path / "srv") as (address, _), opened(f"git+{address}/modern", tmp_path) as source:
        assert fetched(source, source.offers()[0], tmp_path).commit == head


def test_signed_tags_and_commits_are_handed_over(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    git(repository, "tag", "-a", "-m", "-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----", "v1.0.0")
    body = git(repository, "cat-file", "commit", "HEAD") + "\n"
    head, _, message = body.partition("\n\n")
    signed = git(
        repository,
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        data=f"{head}\ngpgsig -----BEGIN X-----\n x\n\n{message}".encode(),
    )
    git(repository, "tag", "v2.0.0", signed)
    with opened(repository, tmp_path) as source:
        (tag,) = fetched(source, source.offers("1.0.0")[0], tmp_path).signatures
        assert tag.kind == "git-tag"
        assert tag.data.startswith(b"object ")
        (found,) = fetched(source, source.offers("2.0.0")[0], tmp_path).signatures
        assert found.kind == "git-commit"
        assert b"gpgsig" in found.data


def test_each_skill_of_a_commit_with_several_signed_tags_gets_its_own(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf"), "mail/SKILL.md": skill("mail")})
    for tag in ("pdf-v1.2.0", "mail-v2.0.0"):
        git(repository, "tag", "-a", "-m", "-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----", tag)
    with opened(repository, tmp_path) as source:
        for name, version in (("mail", "2.0.0"), ("pdf", "1.2.0")):
            (offer,) = source.offers(version)
            (found,) = fetched(source, offer, tmp_path).signatures
            assert f"\ntag {name}-v{version}\n".encode() in found.data
        newest = {offer.name: offer for offer in source.offers() if offer.version is not None}
        for name in ("mail", "pdf"):
            (found,) = fetched(source, newest[name], tmp_path).signatures
            assert f"\ntag {name}-v".encode() in found.data


def test_a_commit_that_is_too_large_to_hold_a_signature_leaves_nothing(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    git(repository, "commit", "--amend", "-q", "-F", "-", data=b"x" * (1 << 20))
    (tmp_path / "into").mkdir()
    with opened(repository, tmp_path) as source, pytest.raises(LimitExceededError):
        source.fetch(source.offers()[0], str(tmp_path / "into"))
    assert os.listdir(tmp_path / "into") == []


def test_an_old_signed_tag_under_a_new_name_is_not_handed_over(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    git(repository, "tag", "-a", "-m", "-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----", "v1.0.0")
    git(repository, "update-ref", "refs/tags/v2.0.0", git(repository, "rev-parse", "refs/tags/v1.0.0").strip())
    with opened(repository, tmp_path) as source:
        assert fetched(source, source.offers("2.0.0")[0], tmp_path).signatures == ()
        assert len(fetched(source, source.offers("1.0.0")[0], tmp_path).signatures) == 1


def test_a_repository_over_http_is_fetched_and_its_host_is_listed(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"pdf/SKILL.md": skill("pdf"), "pdf/a.md": "a"}, "v1.0.0")
    commit(repository, {"pdf/SKILL.md": skill("pdf", "x")}, "v2.0.0")
    with served(tmp_path / "srv") as (address, _), opened(f"git+{address}/skills", tmp_path) as source:
        assert not source.contacted
        assert source.versions() == ("2.0.0", "1.0.0")
        assert source.contacted == (address.removeprefix("http://"),)
        result = fetched(source, source.offers("1.0.0")[0], tmp_path)
        assert result.commit == first
        assert result.source == f"git+{address}/skills"
    with opened(repository, tmp_path) as local:
        assert fetched(local, local.offers("1.0.0")[0], tmp_path).tree == result.tree


def test_a_commit_that_no_ref_names_any_more_is_fetched_by_its_id(repository: Path, tmp_path: Path) -> None:
    first = commit(repository, {"pdf/SKILL.md": skill("pdf", "First.")})
    commit(repository, {"pdf/SKILL.md": skill("pdf", "Second.")})
    with served(tmp_path / "srv") as (address, _), opened(f"git+{address}/skills", tmp_path) as source:
        result = fetched(source, source.offers(first)[0], tmp_path)
        assert "First." in (Path(result.directory) / "SKILL.md").read_text()
    for place in (f"git+{address}/skills", repository):
        with opened(place, tmp_path) as source, pytest.raises((DistributionError, UnavailableError)):
            source.offers("0123456789" * 4)


def test_credentials_come_from_the_helper_of_git_and_are_left_nowhere(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "planted-hunter2"
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    with served(tmp_path / "srv", password=password) as (address, _):
        refusal = r"refused access .* credential helper"
        with opened(f"git+{address}/skills", tmp_path) as source, pytest.raises(DistributionError, match=refusal):
            source.offers()
        (home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
        (home / ".git-credentials").write_text(f"http://user:{password}@{address.removeprefix('http://')}\n")
        (home / ".git-credentials").chmod(0o600)
        with opened(f"git+{address}/skills", tmp_path) as source:
            result = fetched(source, source.offers()[0], tmp_path)
    assert password not in repr(result)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != ".git-credentials":
            assert password.encode() not in path.read_bytes(), path


def test_a_repository_over_ssh_is_fetched(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("ssh") is None or shutil.which("ssh-keygen") is None:
        pytest.skip("ssh is not installed")
    python = counterpart("asyncssh") / "bin" / "python"
    head = commit(repository, {"pdf/SKILL.md": skill("pdf"), "pdf/a.md": "a"}, "v1.0.0")
    for name in ("host", "user", "stranger"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True, capture_output=True
        )
    command = [str(python), str(Path(__file__).with_name("ssh_server.py")), str(tmp_path / "host")]
    with subprocess.Popen(
        [*command, str(tmp_path / "user.pub")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {(tmp_path / 'host.pub').read_text()}")
        options = f"-F none -o BatchMode=yes -o IdentitiesOnly=yes -o UserKnownHostsFile={tmp_path / 'known'}"
        reference = f"git+ssh://git@127.0.0.1:{port}{repository}"
        monkeypatch.setenv("GIT_SSH_COMMAND", f"ssh {options} -i {tmp_path / 'user'}")
        with opened(reference, tmp_path) as source:
            assert listed(source.offers()) == [("pdf", "1.0.0", head)]
            assert source.contacted == (f"127.0.0.1:{port}",)
            assert fetched(source, source.offers()[0], tmp_path).source == reference
        monkeypatch.setenv("GIT_SSH_COMMAND", f"ssh {options} -i {tmp_path / 'stranger'}")
        with opened(reference, tmp_path) as source, pytest.raises(DistributionError, match="refused access"):
            source.offers()
        server.communicate("")


def test_a_redirect_to_another_host_is_refused_unless_it_is_allowed(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, {"pdf/SKILL.md": skill("pdf")})
    with served(tmp_path / "srv") as (target, reached), served(tmp_path, redirect=target) as (address, _):
        with opened(f"git+{address}/skills", tmp_path) as source, pytest.raises(DistributionError, match="redirect"):
            source.offers()
        assert reached == []
        access = Access(redirect_hosts=(target.removeprefix("http://"),))
        scratch = tmp_path / "allowed"
        scratch.mkdir()
        reference = parse_reference(f"git+{address}/skills")
        with open_source(reference, scratch=str(scratch), access=access) as source:
            assert listed(source.offers()) == [("pdf", None, head)]
            result = fetched(source, source.offers()[0], tmp_path)
            assert set(source.contacted) == {target.removeprefix("http://"), address.removeprefix("http://")}
        assert result.source == reference.source


def test_a_renamed_repository_on_the_same_host_is_followed(repository: Path, tmp_path: Path) -> None:
    head = commit(repository, {"pdf/SKILL.md": skill("pdf")})
    with (
        served(tmp_path / "srv", renamed=("/old-name", "/skills")) as (address, _),
        opened(f"git+{address}/old-name", tmp_path) as source,
    ):
        assert listed(source.offers()) == [("pdf", None, head)]
        fetched(source, source.offers()[0], tmp_path)
        assert source.contacted == (address.removeprefix("http://"),)


def test_a_source_out_of_reach_is_named_and_offline_contacts_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as (address, requests):
        with opened(f"git+{address}/gone", tmp_path, offline=True) as source:
            with pytest.raises(UnavailableError, match="offline"):
                source.offers()
            assert (source.contacted, requests) == ((), [])
        with (
            opened(f"git+{address}/gone", tmp_path) as source,
            pytest.raises(DistributionError, match="cannot be read"),
        ):
            source.offers()
    with opened(f"git+{address}/gone", tmp_path) as source, pytest.raises(UnavailableError, match="cannot be reached"):
        source.offers()
    with opened(tmp_path / "gone", tmp_path) as source, pytest.raises(UnavailableError, match="not a directory"):
        source.offers()
    empty = new_repository(tmp_path / "empty")
    with opened(empty, tmp_path) as source, pytest.raises(DistributionError, match="has no commit"):
        source.offers()
    (tmp_path / "plain").mkdir()
    with (
        opened(tmp_path / "plain", tmp_path) as source,
        pytest.raises(DistributionError, match="is no git repository"),
    ):
        source.offers()


def test_git_is_named_if_it_is_not_installed(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with opened(repository, tmp_path) as source, pytest.raises(DistributionError, match="git is not installed"):
        source.offers()
    assert shutil.which("git") is None


def test_closing_ends_the_process_that_reads_objects(repository: Path, tmp_path: Path) -> None:
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    with opened(repository, tmp_path) as source:
        source.offers()
        child = source._objects._batch  # type: ignore[attr-defined]
        assert child.poll() is None
    assert child.poll() is not None
    source.close()
