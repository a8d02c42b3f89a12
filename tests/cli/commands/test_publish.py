"""`prowess pack` and `prowess publish` as a user calls them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from tests.distribution.making import files_of, make_skill
from tests.distribution.registries import PASSWORD, USER, docker_registry
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

BESIDE = ".well-known/agent-skills"


def test_pack_writes_one_archive_and_prints_its_digest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    skill, file = make_skill(tmp_path, "pdf"), tmp_path / "pdf.tar.gz"
    assert run(["pack", str(skill), "-o", str(file), "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed["artifact"] == f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    assert (printed["name"], printed["version"], printed["format"], printed["files"]) == ("pdf", "1.0.0", "tar.gz", 3)
    assert printed["reproducible"] is True
    with tarfile.open(file) as archive:
        assert sorted(archive.getnames()) == sorted(files_of(skill))


def test_pack_takes_the_format_from_the_ending_and_names_the_file_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_skill(tmp_path, "pdf")
    monkeypatch.chdir(tmp_path)
    assert run(["pack", "pdf", "-o", "pdf.skill", "--compress"]) == 0
    assert zipfile.ZipFile("pdf.skill").testzip() is None
    assert run(["pack", "pdf"]) == 0
    assert tarfile.is_tarfile("pdf-1.0.0.tar.gz")


def test_pack_refuses_a_skill_with_a_link_in_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (make_skill(tmp_path, "pdf") / "odd").symlink_to("/etc/passwd")
    assert run(["pack", str(tmp_path / "pdf"), "-o", str(tmp_path / "x.zip")]) == 1
    assert "'odd' is refused: a link" in capfd.readouterr().err
    assert not (tmp_path / "x.zip").exists()


def test_publish_prints_the_documented_json_and_does_nothing_the_second_time(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make_skill(tmp_path / "skills", "pdf")
    make_skill(tmp_path / "skills", "xlsx", "2.0.0")
    command = ["publish", str(tmp_path / "skills"), "--to", str(tmp_path / "registry"), "--json"]
    assert run(command) == 0
    first = json.loads(capfd.readouterr().out)
    assert [(row["name"], row["version"], row["status"]) for row in first["published"]] == [
        ("pdf", "1.0.0", "published"),
        ("xlsx", "2.0.0", "published"),
    ]
    assert (first["warnings"], first["contacted"]) == ([], [])
    written = files_of(tmp_path / "registry")
    assert run(command) == 0
    assert {row["status"] for row in json.loads(capfd.readouterr().out)["published"]} == {"unchanged"}
    assert files_of(tmp_path / "registry") == written


def test_errors_of_check_refuse_the_whole_set(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make_skill(tmp_path / "skills", "pdf")
    make_skill(tmp_path / "skills", "xlsx", body="Read [this](../../../etc/passwd).")
    assert run(["publish", str(tmp_path / "skills"), "--to", str(tmp_path / "registry")]) == 1
    assert "reference.escape" in capfd.readouterr().err
    assert not (tmp_path / "registry").exists()


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_signature_that_does_not_fit_is_not_published(
    is_trusted: bool,  # noqa: FBT001 -- a parameter of the test
    tmp_path: Path,
    own_home: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    del own_home
    skill, key = make_skill(tmp_path, "pdf"), str(tmp_path / "k")
    assert run(["key", "new", key]) == 0
    if is_trusted:
        assert run(["key", "trust", f"{key}.pub", "--as", "acme"]) == 0
    assert run(["sign", str(skill), "--key", key]) == 0
    document = skill / "SKILL.md"
    document.write_text(f"{document.read_text()}More.\n")
    publish = ["publish", str(skill), "--to", str(tmp_path / "registry")]
    assert run(publish) == 3
    shown = capfd.readouterr().err
    assert "are not as they were signed" in shown
    assert "sign it again with `prowess sign`" in shown
    assert not (tmp_path / "registry").exists()
    assert run(["sign", str(skill), "--key", key]) == run(publish) == 0


@pytest.mark.parametrize(
    ("version", "change", "warned"),
    [
        ("1.0.1", "body", False),
        ("1.0.1", "new file", True),
        ("1.1.0", "new file", False),
        ("1.1.0", "removed file", True),
        ("1.1.0", "tools", True),
        ("2.0.0", "tools", False),
        ("1.0.1", "dependencies", True),
    ],
)
def test_a_smaller_step_than_the_change_asks_for_is_a_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], version: str, change: str, *, warned: bool
) -> None:
    skill = make_skill(tmp_path, "pdf", "1.0.0")
    to = ["publish", str(skill), "--to", str(tmp_path / "registry")]
    assert run(to) == 0
    more = {"tools": "allowed-tools: Read\n", "dependencies": "  dependencies: mail@^1\n"}.get(change, "")
    make_skill(tmp_path, "pdf", version, body="Changed.", more=more)
    if change == "new file":
        (skill / "new.md").write_text("new")
    if change == "removed file":
        (skill / "references" / "größe.md").unlink()
    capfd.readouterr()
    assert run(to) == 0
    assert (f"from 1.0.0 to {version} is a" in capfd.readouterr().err) is warned


def test_a_step_is_one_from_the_version_below_and_counts_for_more_before_1_0_0(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for version, more in (("0.1.0", ""), ("0.2.0", ""), ("0.1.1", "allowed-tools: Read\n")):
        capfd.readouterr()
        skill = make_skill(tmp_path, "pdf", version, more=more)
        assert run(["publish", str(skill), "--to", str(tmp_path / "registry")]) == 0
    assert "from 0.1.0 to 0.1.1 is a minor step, but allowed-tools changed" in capfd.readouterr().err


def test_yank_needs_no_skill(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    to = ["--to", str(tmp_path / "registry")]
    assert run(["publish", str(make_skill(tmp_path, "pdf")), *to]) == 0
    assert run(["publish", "--yank", "pdf@1.0.0", *to]) == 0
    assert json.loads((tmp_path / "registry" / BESIDE / "index.json").read_bytes())["skills"] == []
    assert run(["publish", "--yank", "pdf@3", *to]) == 1
    assert "pdf 3 is not published" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--to", "x"], "name the skills to publish"),
        (["pdf", "--to", "http://example.com"], "plain http"),
        (["pdf", "--to", "x", "--yank", "pdf"], "NAME@VERSION"),
        (["pdf", "--to", "oci://user:planted@127.0.0.1/x"], "password or token is refused"),
    ],
)
def test_wrong_arguments_are_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    text: str,
) -> None:
    make_skill(tmp_path, "pdf")
    monkeypatch.chdir(tmp_path)
    assert run(["publish", *arguments]) == 2
    printed = capfd.readouterr().err
    assert text in " ".join(printed.split())
    assert "planted" not in printed


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_publishing_contacts_the_registry_alone_and_shows_the_password_nowhere(tmp_path: Path, own_home: Path) -> None:
    make_skill(tmp_path, "pdf")
    with docker_registry(tmp_path / "registry", with_login=True) as host:
        trace = tmp_path / "trace"
        name = f"PROWESS_LOGIN_{host.replace('.', '_').replace(':', '_')}"
        command = [prowess(), "publish", "pdf", "--to", f"oci://{host}/acme", "--json"]
        done = subprocess.run(
            ["strace", "-f", "-e", "trace=connect,execve", "-s", "4096", "-o", trace, *command],
            cwd=tmp_path,
            env={**os.environ, name: f"{USER}:{PASSWORD}"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["contacted"] == [host]
    traced = trace.read_text()
    connections = [line for line in traced.splitlines() if "connect(" in line and "AF_INET" in line]
    port = host.partition(":")[2]
    assert connections
    assert all(f"sin_port=htons({port})" in line and '"127.0.0.1"' in line for line in connections), connections
    assert PASSWORD not in done.stdout + done.stderr + traced
    for place in (own_home, tmp_path):
        for path in place.rglob("*"):
            if path.is_file():
                assert PASSWORD.encode() not in path.read_bytes(), path
