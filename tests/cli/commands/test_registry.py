"""`prowess registry`: list, search, refresh and serve, as a user calls them."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.lockfile.places import read_lock
from tests.distribution.making import files_of, make_skill
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """Return a registry with three skills, of which one version was yanked."""
    for name in ("pdf", "pdf-tables", "xlsx"):
        make_skill(tmp_path / "skills", name)
    to = ["--to", str(tmp_path / "registry")]
    assert run(["publish", str(tmp_path / "skills"), *to]) == 0
    make_skill(tmp_path / "skills", "xlsx", "1.1.0", body="Newer.")
    assert run(["publish", str(tmp_path / "skills" / "xlsx"), *to, "--yank", "xlsx@1.1.0"]) == 0
    return tmp_path / "registry"


def test_list_reads_the_configured_registries(
    registry: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROWESS_REGISTRIES", str(registry))
    capfd.readouterr()
    assert run(["registry", "list", "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    long = make_skill(registry.parent / "long", "long") / "SKILL.md"
    long.write_text(long.read_text().replace("Works with", "Works with " + "many " * 40))
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["registry", "list", str(registry.parent / "long")]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert line.startswith("long  1.0.0  Works with many many")
    assert len(line) <= 80
    assert [(row["name"], row["version"], row["source"]) for row in printed["skills"]] == [
        (name, "1.0.0", str(registry)) for name in ("pdf", "pdf-tables", "xlsx")
    ]
    assert (printed["contacted"], printed["problems"]) == ([], [])


def test_search_wants_every_word_and_puts_names_first(registry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert run(["registry", "search", "PDF", "tables", "--registry", str(registry)]) == 0
    assert capfd.readouterr().out.split()[0] == "pdf-tables"
    assert run(["registry", "search", "nothing", "--registry", str(registry)]) == 0
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "no skill found\n")


def test_two_archives_are_listed_together(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    archives = [str(tmp_path / f"{name}.zip") for name in ("pdf", "xlsx")]
    for archive, name in zip(archives, ("pdf", "xlsx"), strict=True):
        skill = str(make_skill(tmp_path, name))
        assert run(["pack", skill, "-o", archive, "--format", "zip"]) == 0
    capfd.readouterr()
    assert run(["registry", "list", "--json", *archives]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert [(row["name"], row["source"]) for row in printed["skills"]] == list(
        zip(("pdf", "xlsx"), archives, strict=True)
    )
    assert printed["problems"] == []


def test_a_registry_that_cannot_be_read_is_named_and_the_others_are_listed(
    registry: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert run(["registry", "list", str(tmp_path / "absent"), str(registry)]) == 0
    captured = capfd.readouterr()
    assert "absent" in captured.err
    assert len(captured.out.splitlines()) == 3
    assert run(["registry", "list", str(tmp_path / "absent"), str(tmp_path / "gone")]) == 1
    assert run(["registry", "list", str(tmp_path / "absent")]) == 4


def test_without_a_registry_the_message_says_how_to_name_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["registry", "list"]) == 2
    assert "PROWESS_REGISTRIES" in capfd.readouterr().err


def test_a_project_cannot_choose_registries(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "prowess.toml").write_text(f'registries = ["{registry}"]\n')
    monkeypatch.chdir(tmp_path / "project")
    assert run(["registry", "list"]) == 2
    assert "name a registry" in capfd.readouterr().err


def test_refresh_finds_a_changed_and_a_missing_artifact(registry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["registry", "refresh", str(registry)]) == 0
    assert "4 artifacts" in capfd.readouterr().out
    before = files_of(registry)
    artifact = next((registry / ".well-known/agent-skills/artifacts").glob("pdf-1*"))
    artifact.write_bytes(b"changed")
    assert run(["registry", "refresh", str(registry)]) == 1
    assert "sha256:" in capfd.readouterr().err
    artifact.unlink()
    assert run(["registry", "refresh", str(registry)]) == 1
    assert artifact.name in capfd.readouterr().err
    index = ".well-known/agent-skills/index.json"
    assert files_of(registry)[index] == before[index]


@contextmanager
def served(registry: Path) -> Iterator[int]:
    """Run `prowess registry serve` and give its port."""
    command = [prowess(), "registry", "serve", str(registry), "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            assert found is not None, line
            yield int(found[1])
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


def _asked(port: int, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_serve_gives_what_was_published_and_nothing_else(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (registry / "secret.txt").write_text("secret")
    (registry / ".well-known/agent-skills/link.json").symlink_to(registry / "secret.txt")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    beside = "/.well-known/agent-skills"
    with served(registry) as port:
        for path, (data, _) in files_of(registry).items():
            if "artifacts" in path or path.endswith("index.json"):
                assert _asked(port, f"/{path}") == (200, data)
        for path in (
            "/",
            "/secret.txt",
            f"{beside}/",
            f"{beside}/.publish.lock",
            f"{beside}/link.json",
            f"{beside}/../../secret.txt",
            f"{beside}/%2e%2e/%2e%2e/secret.txt",
            f"{beside}/..%2f..%2fsecret.txt",
            f"{beside}/artifacts/%00",
            "//etc/passwd",
        ):
            status, body = _asked(port, path)
            assert (status, b"secret" in body) == (404, False), path
        assert _asked(port, f"{beside}/index.json", "POST")[0] == 405
        capfd.readouterr()
        assert run(["install", f"http://127.0.0.1:{port}", "--skill", "*", "--json"]) == 0
        report = json.loads(capfd.readouterr().out)
    assert report["contacted"] == [f"127.0.0.1:{port}"]
    assert [(row["name"], row["version"]) for row in report["skills"]] == [
        (name, "1.0.0") for name in ("pdf", "pdf-tables", "xlsx")
    ]


def test_serve_refuses_an_address_that_other_machines_reach(registry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["registry", "serve", str(registry), "--http", "0.0.0.0:0"]) == 2
    told = capfd.readouterr().err
    assert "other machines can reach 0.0.0.0, and this command serves this machine alone" in told
    assert "--allow-remote" not in told


def test_serve_names_an_address_that_is_in_use(registry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        capfd.readouterr()
        assert run(["registry", "serve", str(registry), "--http", address]) == 1
        assert f"{address}: Address already in use" in capfd.readouterr().err


def test_serve_tells_that_nothing_is_published(tmp_path: Path) -> None:
    command = [prowess(), "registry", "serve", str(tmp_path), "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert server.stderr.readline().startswith("serving ")
        assert server.stderr.readline() == (
            f"nothing is published in {tmp_path} yet: prowess publish PATH --to {tmp_path}\n"
        )
        server.kill()


def test_a_dependency_without_a_source_comes_from_the_first_registry_that_has_the_name(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_skill(tmp_path / "other", "xlsx", "9.0.0", body="Another skill of this name.")
    make_skill(tmp_path / "other", "mail", "1.0.0")
    assert run(["publish", str(tmp_path / "other"), "--to", str(tmp_path / "second")]) == 0
    make_skill(tmp_path / "mine", "report", more="  dependencies: xlsx@* mail@^1\n")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    assert run(["install", "../mine"]) == 1  # nobody has them
    monkeypatch.setenv("PROWESS_REGISTRIES", f"{registry},{tmp_path / 'second'}")
    assert run(["install", "../mine"]) == 0
    chosen = {skill.name: (skill.version, skill.source) for skill in read_lock("prowess.lock").skills}
    assert chosen["xlsx"] == ("1.0.0", "../registry")  # although the second one has 9.0.0
    assert chosen["mail"] == ("1.0.0", "../second")


@pytest.mark.parametrize("kind", ["plain", "index"])
def test_a_frozen_install_takes_an_older_version_from_the_index(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    with served(registry) as port:
        source = str(registry) if kind == "plain" else f"http://127.0.0.1:{port}/"
        assert run(["install", f"{source}@1.0.0", "--skill", "pdf"]) == 0
        make_skill(tmp_path / "skills", "pdf", "1.3.0", body="Newer.")
        assert run(["publish", str(tmp_path / "skills" / "pdf"), "--to", str(registry)]) == 0
        subprocess.run(["rm", "-rf", os.path.join(os.environ["PROWESS_HOME"], "store")], check=True)
        assert run(["install", "--frozen"]) == 0
        assert 'version = "1.0.0"' in (tmp_path / "project" / "prowess.lock").read_text()
