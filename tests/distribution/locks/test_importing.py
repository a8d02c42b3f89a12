"""Importing locks of other tools, and exporting one, as people do it on the command line."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.lockfile import LockedSkill, Lockfile, parse_lock, read_lock, render_lock, stored_tree, write_lock
from prowess.lockfile.foreign.hashes import SkillFile, git_tree, skills_hash
from tests.distribution.serving import Answer, serving
from tests.lockfile.foreign.skills import MAIL, PDF, SAMPLES, SMALL_PDF, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project beside a directory of skills, from which the samples were written."""
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    write_skill(tmp_path / "skills" / "pdf", PDF)
    write_skill(tmp_path / "skills" / "mail", MAIL)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def _sample(project: Path, name: str) -> None:
    (project / name).write_bytes((SAMPLES / name).read_bytes())


def _locked(project: Path) -> dict[str, LockedSkill]:
    return {skill.name: skill for skill in read_lock(str(project / "prowess.lock")).skills}


def test_the_lock_of_the_npm_client_is_imported_and_checked(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(skill["name"], skill["action"]) for skill in answer["skills"]] == [("mail", "install"), ("pdf", "install")]
    assert answer["problems"] == []
    found = _locked(project)["pdf"]
    assert (found.source, found.path, found.requested) == ("../skills", "pdf", "*")
    copy = Path(stored_tree(os.environ["PROWESS_HOME"], found.tree, "pdf"))
    assert (copy / "a.md").read_bytes() == b"a\n"
    before = (project / "prowess.lock").read_bytes()
    assert run(["lock", "import", "skills-lock.json"]) == 0
    assert (project / "prowess.lock").read_bytes() == before


def test_one_skill_with_other_files_and_nothing_is_imported(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    (project.parent / "skills" / "pdf" / "a.md").write_text("changed")
    assert run(["lock", "import", "skills-lock.json"]) == 1
    assert "skill 'pdf' of ../skills has other files than were recorded" in capsys.readouterr().err
    assert not (project / "prowess.lock").exists()
    (project.parent / "skills" / "mail" / "SKILL.md").unlink()
    assert run(["lock", "import", "skills-lock.json"]) == 1
    err = capsys.readouterr().err
    assert "2 skills cannot be imported, so none was" in err
    assert not (project / "prowess.lock").exists()


def test_a_file_that_the_hash_leaves_out_is_refused(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    write_skill(project.parent / "skills" / "pdf", {"node_modules/x/index.js": SkillFile(data=b"later")})
    assert run(["lock", "import", "skills-lock.json"]) == 1
    assert "no hash of the lock covers its file node_modules/x/index.js" in capsys.readouterr().err
    assert not (project / "prowess.lock").exists()


def test_a_policy_refuses_a_skill_of_another_lock_before_its_source_is_read(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    policy = '[[rule]]\neffect = "deny"\ntool = "packages.install"\nmatch = { "skill.name" = "pdf" }\n'
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(mode=0o700)
    (home / "policy.toml").write_text(policy)
    (project.parent / "skills" / "pdf" / "SKILL.md").unlink()  # reading the source would find that it is gone
    assert run(["lock", "import", "skills-lock.json"]) == 3
    assert "does not have it any more" not in capsys.readouterr().err
    assert not (project / "prowess.lock").exists()


def test_dry_run_checks_and_changes_nothing(project: Path) -> None:
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json", "--dry-run"]) == 0
    assert not (project / "prowess.lock").exists()


def test_the_setup_of_hlock_is_imported_and_what_has_no_place_is_told(project: Path, capsys: Capture) -> None:
    text = (SAMPLES / "harness.lock").read_text()
    mail, pdf = text.index('[[skill]]\nname = "mail"'), text.index('[[skill]]\nname = "pdf"')
    (project / "harness.lock").write_text(text[:mail] + text[pdf:])  # without the skill of a host
    write_skill(project / ".claude" / "skills" / "pdf", SMALL_PDF)
    assert run(["lock", "import", "harness.lock", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert _locked(project)["pdf"].source == "./.claude/skills/pdf"
    assert answer["problems"] == [
        {
            "code": "unmapped",
            "skill": None,
            "message": "harness.lock: prowess.lock has no place for models ([[llm]])",
            "fix": "",
        }
    ]


def test_the_user_lock_is_checked_by_the_tree_of_git(project: Path, capsys: Capture) -> None:
    entry = {"source": str(project.parent / "skills"), "sourceType": "local", "skillFolderHash": git_tree(PDF)}
    (project / ".skill-lock.json").write_text(json.dumps({"version": 3, "skills": {"pdf": entry}}))
    assert run(["lock", "import", ".skill-lock.json", "--scope", "personal"]) == 0
    assert [one.name for one in read_lock(os.path.join(os.environ["PROWESS_HOME"], "prowess.lock")).skills] == ["pdf"]
    for wrong in ({**entry, "skillFolderHash": git_tree(SMALL_PDF)}, {**entry, "skillFolderHash": ""}):
        (project / ".skill-lock.json").write_text(json.dumps({"version": 3, "skills": {"pdf": wrong}}))
        assert run(["lock", "import", ".skill-lock.json"]) == 1
    assert "the lock recorded neither a commit nor a hash" in capsys.readouterr().err


@pytest.fixture
def repository(project: Path) -> tuple[str, str]:
    """A repository of the skills: its URL, and the commit with the files of the samples. `main` has moved on."""
    root = project.parent / "repository"
    write_skill(root / "skills" / "pdf", PDF)
    write_skill(root / "skills" / "mail", MAIL)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    git("branch", "stable")
    commit = git("rev-parse", "HEAD")
    (root / "skills" / "pdf" / "a.md").write_text("later")
    git("commit", "-q", "-a", "-m", "two")
    return f"file://{root}", commit


def test_the_lock_of_apm_is_imported_at_its_commits(project: Path, repository: tuple[str, str]) -> None:
    url, commit = repository
    text = (SAMPLES / "apm.lock.yaml").read_text().replace("bf16a3b110f2b5c86eb7c4d7556cbed061d8377d", commit)
    (project / "apm.lock.yaml").write_text(text.replace("repo_url: acme/tools", f"repo_url: git+{url}"))
    assert run(["lock", "import", "apm.lock.yaml"]) == 0
    found = _locked(project)
    assert {name: (skill.commit, skill.path) for name, skill in found.items()} == {
        "mail": (commit, "skills/mail"),
        "pdf": (commit, "skills/pdf"),
    }
    assert found["mail"].version == "1.2.0"
    assert found["pdf"].source == "git+file:../repository"


def test_the_lock_of_hlock_is_imported_at_its_commits(project: Path, repository: tuple[str, str]) -> None:
    url, commit = repository
    text = (SAMPLES / "harness.lock").read_text().replace("bf16a3b110f2b5c86eb7c4d7556cbed061d8377d", commit)
    (project / "harness.lock").write_text(text.replace("git+https://github.com/acme/tools", f"git+{url}"))
    write_skill(project / ".claude" / "skills" / "pdf", SMALL_PDF)
    assert run(["lock", "import", "harness.lock"]) == 0
    assert _locked(project)["mail"].commit == commit


def test_a_branch_that_has_moved_on_is_refused_and_one_that_has_not_is_imported(
    project: Path, repository: tuple[str, str], capsys: Capture
) -> None:
    url, commit = repository
    entry = {
        "source": url,
        "sourceUrl": url,
        "sourceType": "git",
        "skillPath": "skills/pdf/SKILL.md",
        "computedHash": skills_hash(PDF),
    }
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pdf": entry}}))
    assert run(["lock", "import", "skills-lock.json"]) == 1
    assert "has other files than were recorded (skills hash)" in capsys.readouterr().err
    lock = {"version": 1, "skills": {"pdf": {**entry, "ref": "stable"}}}
    (project / "skills-lock.json").write_text(json.dumps(lock))
    assert run(["lock", "import", "skills-lock.json"]) == 0
    assert _locked(project)["pdf"].commit == commit


def test_a_requirement_that_the_other_lock_does_not_have_is_reported(project: Path, capsys: Capture) -> None:
    needy = {
        "SKILL.md": SkillFile(data=MAIL["SKILL.md"].data.replace(b"metadata:", b"metadata:\n  dependencies: pdf@^2"))
    }
    write_skill(project.parent / "skills" / "mail", needy)
    entry = {"source": "../skills", "sourceType": "local", "computedHash": skills_hash(needy)}
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"mail": entry}}))
    assert run(["lock", "import", "skills-lock.json", "--json"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["code"], problem["fix"]) == ("requirement_unmet", "prowess lock")
    assert _locked(project)["mail"].requires == ("pdf@^2",)


def test_a_change_of_an_installed_skill_needs_consent(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json"]) == 0
    changed = PDF | {"scripts/x.py": SkillFile(data=b"print(2)\n", executable=True)}
    write_skill(project.parent / "skills" / "pdf", changed)
    entry = {"source": "../skills", "sourceType": "local", "computedHash": skills_hash(changed)}
    (project / "skills-lock.json").write_text(json.dumps({"version": 1, "skills": {"pdf": entry}}))
    before = (project / "prowess.lock").read_bytes()
    assert run(["lock", "import", "skills-lock.json"]) == 3
    assert "--accept scripts" in capsys.readouterr().err
    assert (project / "prowess.lock").read_bytes() == before
    assert run(["lock", "import", "skills-lock.json", "--accept", "scripts"]) == 0
    assert (project / "prowess.lock").read_bytes() != before


def test_two_locks_are_imported_together_or_not_at_all(project: Path) -> None:
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json", "apm.lock.yaml"]) == 1
    assert not (project / "prowess.lock").exists()


def test_a_lock_is_exported_as_the_npm_client_writes_it(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json"]) == 0
    (project / "skills-lock.json").unlink()
    assert run(["lock", "export", "skills-lock.json"]) == 0
    assert (project / "skills-lock.json").read_bytes() == (SAMPLES / "skills-lock.json").read_bytes()
    assert run(["lock", "export", "lock.json"]) == 1
    assert "a lock can be exported to a file with the name skills-lock.json" in capsys.readouterr().err


def test_an_export_pins_commits_and_names_what_it_leaves_out(project: Path, capsys: Capture) -> None:
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json"]) == 0
    pdf, mail = _locked(project)["pdf"], _locked(project)["mail"]
    skills = [
        LockedSkill(name="pdf", source="acme/tools", path="skills/pdf", commit="a" * 40, tree=pdf.tree, order=1),
        LockedSkill(name="mail", source="oci://ghcr.io/acme/mail", tree=mail.tree, order=2),
        LockedSkill(name="text", source="./registry", tree=pdf.tree, order=3),
        LockedSkill(name="mail", package="p", source="git+https://git.example.org/m", commit="b" * 40, tree=mail.tree),
    ]
    write_lock(str(project / "prowess.lock"), Lockfile(skills=tuple(skills)))
    index = project / "registry" / ".well-known" / "agent-skills" / "index.json"
    index.parent.mkdir(parents=True)
    index.write_text('{"skills": []}')
    capsys.readouterr()
    assert run(["lock", "export", "skills-lock.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["skills"] == ["pdf"]
    assert [one["message"].partition("no place for ")[2] for one in answer["problems"]] == [
        "skill 'mail' of git+https://git.example.org/m, because another copy is used",
        "skill 'mail' of oci://ghcr.io/acme/mail, because the client has no such source",
        "skill 'text' of ./registry, because the client has no such source",
    ]
    written = json.loads((project / "skills-lock.json").read_text())["skills"]
    assert list(written["pdf"].items()) == [
        ("source", "acme/tools"),
        ("ref", "a" * 40),
        ("sourceType", "github"),
        ("skillPath", "skills/pdf/SKILL.md"),
        ("computedHash", skills_hash(PDF)),
    ]


def test_a_skill_that_is_not_in_the_store_cannot_be_exported(project: Path, capsys: Capture) -> None:
    skill = LockedSkill(name="a", source="./a", tree=f"sha256:{'0' * 64}")
    (project / "prowess.lock").write_bytes(render_lock(Lockfile(skills=(skill,))))
    assert run(["lock", "export", "skills-lock.json"]) == 1
    assert "run `prowess install`" in capsys.readouterr().err
    assert not (project / "skills-lock.json").exists()
    assert parse_lock((project / "prowess.lock").read_bytes()).skills == (skill,)


def test_names_without_a_known_order_are_refused(project: Path, capsys: Capture) -> None:
    write_skill(project.parent / "skills" / "pdf", {"\U0001f600.md": SkillFile(data=b"")})
    _sample(project, "skills-lock.json")
    assert run(["lock", "import", "skills-lock.json"]) == 1
    assert "its hash depends on the order of names" in capsys.readouterr().err


@pytest.fixture
def published(project: Path) -> Iterator[tuple[str, str, str]]:
    """The skill `mail` on a site: the URLs of the site and of its artifact, and the digest of the artifact."""
    place = project.parent / "site"
    assert run(["publish", str(project.parent / "skills" / "mail"), "--to", str(place)]) == 0
    files = [path for path in place.rglob("*") if path.is_file()]
    (archive,) = [path for path in files if path.suffix == ".gz"]
    answers = {f"/{path.relative_to(place).as_posix()}": Answer(path.read_bytes()) for path in files}
    with serving(answers) as site:
        digest = f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
        yield site.url, f"{site.url}/{archive.relative_to(place).as_posix()}", digest


def _other(digest: str) -> str:
    return digest[:-1] + ("0" if digest[-1] != "0" else "1")


def test_a_skill_of_a_site_is_imported_if_its_artifact_has_the_recorded_digest(
    published: tuple[str, str, str], project: Path, capsys: Capture
) -> None:
    url, _, digest = published
    for recorded, code in ((_other(digest), 1), (digest, 0)):
        entry = {"source": url, "sourceType": "well-known", "wellKnownDigest": recorded}
        (project / ".skill-lock.json").write_text(json.dumps({"version": 3, "skills": {"mail": entry}}))
        assert run(["lock", "import", ".skill-lock.json"]) == code
        assert (project / "prowess.lock").exists() == (code == 0)
    assert "has other files than were recorded (skills-site hash)" in capsys.readouterr().err
    assert _locked(project)["mail"].artifact == digest


def test_an_artifact_of_a_registry_is_imported_only_with_the_recorded_digest(
    published: tuple[str, str, str], project: Path, capsys: Capture
) -> None:
    _, artifact, digest = published
    for recorded, code in ((_other(digest), 1), (digest, 0)):
        lock = (
            "lockfile_version: '2'\ndependencies:\n  - repo_url: acme/mail\n    source: registry\n"
            f"    resolved_url: {artifact}\n    resolved_hash: {recorded}\n    package_type: claude_skill\n"
            "    deployed_files:\n      - .claude/skills/mail/SKILL.md\n"
        )
        (project / "apm.lock.yaml").write_text(lock)
        assert run(["lock", "import", "apm.lock.yaml"]) == code
        assert (project / "prowess.lock").exists() == (code == 0)
    assert _other(digest) in capsys.readouterr().err
    assert _locked(project)["mail"].artifact == digest
