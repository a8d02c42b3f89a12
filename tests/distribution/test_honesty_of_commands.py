"""Every command contacts only the server that it names, and a password is found nowhere (strace, and all files)."""

from __future__ import annotations

import base64
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import pytest

from prowess.cli.dispatch import run
from prowess.cli.main import COMMANDS
from tests.distribution.making import make_skill
from tests.distribution.serving import Answer, Asked, serving
from tests.distribution.sources.git_repository import commit, new_repository, served, skill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytestmark = pytest.mark.unmeasured  # processes under strace


DEAF = "http://127.0.0.1:1"  # nobody listens there


class Case(NamedTuple):
    """One command, the server that it names, and its exit code."""

    words: tuple[str, ...]
    host: str = ""
    code: int = 0


ROOT = ("--root", "../deployment/metadata/1.root.json")
KEY = ("--key", "release.key")
WITNESS = ("--key", "audit.key", "--state", "seen")
STORE = ("--store", "sqlite:///shared.db")
SIGNERS = ("--online", "online.key", "--signer", "release.key.pub", "--threshold", "1")
# Every command and subcommand, in an order in which each one finds what it needs. `{index}` and the like are servers.
CASES = [
    *(Case(("key", "new", f"{name}.key")) for name in ("release", "root", "online")),
    Case(("key", "trust", "release.key.pub", "--as", "acme")),
    Case(("key", "list")),
    Case(("sign", "skills/pdf", *KEY)),
    Case(("validate", "skills/pdf")),
    Case(("read-properties", "skills/pdf")),
    Case(("to-prompt", "skills/pdf")),
    Case(("check", "skills")),
    Case(("fmt", "--check", "skills")),
    Case(("new", "another", "--into", "elsewhere")),
    Case(("rule",)),
    Case(("conformance", "--cases")),
    Case(("trust", ".")),
    Case(("index",)),
    Case(("list",)),
    Case(("show", "pdf")),
    Case(("match", "pdf", "--bodies")),
    Case(("why", "pdf")),
    Case(("load", "pdf")),
    Case(("read", "pdf", "references/größe.md")),
    Case(("run", "pdf", "run.sh")),
    Case(("watch",)),
    Case(("session",)),
    Case(("serve",)),
    Case(("lsp",), code=1),
    Case(("agent", "Try it", "--model", "scripted:answers.json")),
    Case(("test", "skills/pdf"), code=1),
    Case(("feedback", "pdf", "good")),
    Case(("eval", "triggers", "nowhere", "--host", "match"), code=2),
    Case(("eval", "improve", "nowhere", "--model", "openai-chat:tiny"), code=2),
    Case(("eval", "stats", "nowhere.json"), code=2),
    Case(("eval", "compare", "nowhere", "nowhere", "--judge", "openai-chat:tiny"), code=2),
    Case(("eval", "ablate", "nowhere", "--tests"), code=2),
    Case(("eval", "run", "nowhere", "--model", "openai-chat:tiny"), code=2),
    Case(("eval", "export", "nowhere", "--to", "inspect", "--out", "out"), code=2),
    Case(("eval", "report", "nowhere", "--out", "report.html"), code=2),
    Case(("eval", "judge", "answers.json", "--skill", "pdf")),
    Case(("eval", "convert", "triggers.json", "--to", "questions", "--out", "questions.json")),
    Case(("verify", "skills/pdf")),
    Case(("pack", "skills/pdf", "-o", "pdf.tar.gz")),
    Case(("publish", "skills/pdf", "--to", "../registry")),
    Case(("registry", "list", "../registry")),
    Case(("registry", "search", "pdf")),
    Case(("registry", "refresh", "../registry")),
    Case(("registry", "serve", "../registry", "--http", "127.0.0.1:0"), code=130),
    Case(("registry", "init", "../deployment", "--key", "root.key", *SIGNERS)),
    Case(("deploy", "skills/pdf", "skills/csv", "--to", "../deployment", *KEY)),
    Case(("revoke", "csv", "--to", "../deployment", *KEY)),
    Case(("rollback", "1", "--deployment", "../deployment", *KEY)),
    Case(("sync", "--from", "../deployment", *ROOT, "--into", "host", "--host", "one")),
    Case(("hosts", "--from", "../deployment")),
    Case(("inventory",)),
    Case(("sync", "--from", "{index}/deployment", *ROOT, "--into", "host2"), "index"),
    Case(("publish", "skills/pdf", "--to", "../deployment", *KEY)),
    Case(("registry", "trust", "../deployment", *ROOT)),
    Case(("registry", "forget", "../deployment")),
    Case(("use", "./skills", "--skill", "csv")),
    Case(("install", "../registry")),
    Case(("add", "./pdf.tar.gz", "--accept", "source")),
    Case(("update",)),
    Case(("outdated",)),
    Case(("verify",)),
    Case(("mirror", "--to", "../mirrored")),
    Case(("install", "--from", "../mirrored", "--offline")),
    Case(("remove", "pdf")),
    Case(("rollback", "--list")),
    Case(("lock",)),
    Case(("lock", "check")),
    Case(("lock", "merge", "prowess.lock", "prowess.lock", "prowess.lock")),
    Case(("lock", "setup-git")),
    Case(("lock", "export", "skills-lock.json")),
    Case(("lock", "import", "skills-lock.json")),
    Case(("store", "prune")),
    Case(("install", "{index}"), "index"),
    Case(("use", "{index}"), "index"),
    Case(("update", "--accept", "source"), "index"),
    Case(("outdated",), "index"),
    Case(("mirror", "--to", "../mirrored2")),
    Case(("registry", "list", "{index}"), "index"),
    Case(("remove", "pdf")),
    Case(("install", "{variable}"), "variable"),
    Case(("remove", "pdf")),
    Case(("install", "git+{git}/skills"), "git"),
    Case(("outdated",), "git"),
    *(
        Case((*words, f"{scheme}://me:{{secret}}@127.0.0.1:1/x"), code=1 if words[0] == "sync" else 2)
        for words in (("install",), ("use",), ("registry", "list"), ("sync", "--into", "host3", "--from"))
        for scheme in ("http", "git+http", "oci")
    ),
    Case(("policy", "show")),
    Case(("policy", "test", "policy.toml")),
    Case(("audit", "show")),
    Case(("audit", "verify")),
    Case(("audit", "accept")),
    Case(("key", "new", "audit.key", "--type", "ed25519")),
    Case(("audit", "checkpoint", "--key", "audit.key")),
    Case(("audit", "export", "--key", "audit.key", "--out", "audit.export")),
    Case(("audit", "verify", "--export", "audit.export", "--key", "audit.key.pub")),
    Case(("audit", "witness", "--export", "audit.export", "--log-key", "audit.key.pub", *WITNESS)),
    Case(("report",)),
    Case(("policy", "replay", "policy.toml")),
    Case(("access", "pdf")),
    Case(("approvals", "list", "--policy", "asking.toml")),
    *(Case(("approvals", act, "skill-0"), code=1) for act in ("show", "vote", "revoke")),
    Case(("approve", "pdf", "--policy", "asking.toml")),
    Case(("block", "csv", "--reason", "It leaks.", "--scope", "user")),
    Case(("unblock", "block-0"), code=1),
    Case(("admin", "init", *STORE)),
    Case(("admin", "migrate", *STORE)),
    Case(("admin", "status", *STORE)),
    Case(("admin", "tenant", "add", "default", *STORE), code=1),
    Case(("admin", "token", "add", *STORE, "--tenant", "default", "--role", "viewer", "--user", "ada")),
    Case(("policy", "push", "main", "policy.toml", *STORE)),
    Case(("policy", "list", *STORE)),
    Case(("policy", "remove", "main", *STORE)),
    Case(("block", "csv", "--reason", "x", "--server", DEAF, "--token-file", "token"), DEAF, code=4),
    Case(("admin", "logout", "ada", *STORE)),
    Case(("admin", "erase", *STORE, "--before", "1d")),
    Case(("admin", "serve", *STORE, "--http", "127.0.0.1:0"), code=130),
    Case(("machine", "status")),
    Case(("machine", "unit")),
    Case(("admin", "unit", *STORE)),
    Case(("machine", "run", "--state", "../machine", "--socket", "../machine.sock")),
    Case(("machine", "enroll", "{index}", "--token-file", "token"), "index", code=1),
    Case(("sandbox", "check"), "itself"),
    Case(("config", "show")),
    Case(("doctor",)),
    Case(("completion", "bash")),
    Case(("key", "forget", "acme")),
]


def test_each_command_and_subcommand_has_a_case() -> None:
    named = {case.words[0] for case in CASES}
    assert named == set(COMMANDS)
    for name in COMMANDS:
        group = importlib.import_module(f"prowess.cli.commands.{name.replace('-', '_')}").command
        if isinstance(group, click.Group):
            assert set(group.list_commands(click.Context(group))) <= {
                case.words[1] for case in CASES if case.words[0] == name and case.words[1:]
            }, name


SECRETS = {name: f"planted-{name}-password" for name in ("index", "variable", "git", "docker", "url")}
BASIC = {name: base64.b64encode(f"me:{secret}".encode()).decode() for name, secret in SECRETS.items()}
PLANTED = {".netrc", ".git-credentials", "config.json"}
UNIX = {"/var/run/nscd/socket", "/run/prowess/audit.sock"}  # of glibc for the name of the user; of `machine status`


@pytest.fixture
def root(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory with a project, a registry and a repository, and a home with every kind of password."""
    monkeypatch.delenv("CI", raising=False)
    project = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    for name in ("pdf", "csv"):
        make_skill(project / "skills", name)
        make_skill(project / ".agents" / "skills", name)
    calls = [{"name": "skills_load", "arguments": {"names": ["pdf"]}}]
    answers = [{"text": "I load it.", "calls": calls}, {"text": "Done."}]
    (project / "answers.json").write_text(json.dumps(answers))
    (project / "triggers.json").write_text(json.dumps([{"query": "Sort it", "should_trigger": True}]))
    (project / "policy.toml").write_text('default = "allow"\n[[expect]]\ncall = "Bash(git status)"\neffect = "allow"\n')
    (project / "token").write_text("prowess_0123456789abcdef\n")
    (project / "asking.toml").write_text('default = "allow"\n[[approval]]\nfor = ["new-skills"]\n')
    assert run(["publish", str(project / "skills" / "pdf"), "--to", str(tmp_path / "served")]) == 0
    commit(new_repository(tmp_path / "repositories" / "skills"), {"pdf/SKILL.md": skill("pdf")})
    monkeypatch.setenv("PROWESS_REGISTRIES", str(tmp_path / "registry"))
    (own_home / ".netrc").write_text(f"machine 127.0.0.1 login me password {SECRETS['index']}\n")
    (own_home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
    (own_home / ".docker").mkdir()
    docker = {"auths": {"127.0.0.1:1": {"auth": BASIC["docker"]}}}
    (own_home / ".docker" / "config.json").write_text(json.dumps(docker))
    return tmp_path


class Files(dict[str, "Answer | Callable[[Asked], Answer]"]):
    """The files of two directories as a server sends them to whoever has the password."""

    def __init__(self, root: Path, basic: str) -> None:
        self._root, self._basic = root, basic

    def get(self, path: str, default: object = None) -> object:  # type: ignore[override] # paths are made on demand
        """Return the answer for a path."""
        place = (
            self._root / path.lstrip("/")
            if path.startswith("/deployment")
            else self._root / "served" / path.lstrip("/")
        )

        def answer(asked: Asked) -> Answer:
            if asked.headers.get("authorization") != f"Basic {self._basic}":
                return Answer(status=401)
            return Answer(place.read_bytes()) if place.is_file() else Answer(status=404)

        return answer


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_commands_contact_the_named_server_alone_and_a_password_is_found_nowhere(
    root: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = served(root / "repositories", password=SECRETS["git"])
    with serving() as index, serving() as variable, git as (address, _):
        index.answers, variable.answers = Files(root, BASIC["index"]), Files(root, BASIC["variable"])
        monkeypatch.setenv(f"PROWESS_LOGIN_127_0_0_1_{variable.port}", f"me:{SECRETS['variable']}")
        (own_home / ".git-credentials").write_text(address.replace("//", f"//user:{SECRETS['git']}@") + "\n")
        servers = {"index": index.url, "variable": variable.url, "git": address}
        traces = _traced(root, servers)
    for case, trace in zip(CASES, traces, strict=True):
        _require_only(servers.get(case.host, case.host), case, trace)
    secrets = [word.encode() for word in (*SECRETS.values(), *BASIC.values())]
    for place in (own_home, root):
        for path in place.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.name not in PLANTED | {"cases.json", "trace"}:
                data = path.read_bytes()
                assert not [secret for secret in secrets if secret in data], path


def _traced(root: Path, servers: Mapping[str, str]) -> list[list[str]]:
    """Run all cases, and return the traced calls of each."""
    cases = root / "cases.json"
    values = {**servers, "secret": SECRETS["url"]}
    cases.write_text(json.dumps([[word.format(**values) for word in case.words] for case in CASES]))
    trace = root / "trace"
    calls = "trace=connect,sendto,sendmsg,sendmmsg,execve,access"
    strace = ["strace", "-f", "--seccomp-bpf", "-s", "4096", "-e", calls, "-e", "signal=none", "-o", str(trace)]
    driver = [sys.executable, "-m", "tests.distribution.each_command", str(cases)]
    paths = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [*strace, *driver],
        cwd=root / "project",
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    wrong = {
        number: (case.words, code, (root / f"cases.json.{number}").read_text())
        for number, (case, code) in enumerate(
            zip(CASES, json.loads((root / "cases.json.codes").read_text()), strict=True)
        )
        if code != case.code
    }
    assert not wrong
    lines = trace.read_text(errors="replace").splitlines()
    marks = [at for at, line in enumerate(lines) if 'access("/case/' in line]
    return [lines[begin:end] for begin, end in pairwise([*marks, len(lines)])]


def _require_only(server: str, case: Case, trace: list[str]) -> None:
    """Require that every connection of a case led to its server, and that no argument holds a password."""
    to = [line for line in trace if re.search(r"\b(connect|sendto|sendmsg|sendmmsg)\(", line) and "sa_family=" in line]
    led = [line for line in to if "AF_INET" in line]
    assert bool(led) == bool(server), (case.words, led)
    for line in led:
        port = server.rpartition(":")[2]
        assert "127.0.0.1" in line, (case.words, line)
        assert server == "itself" or f"htons({port})" in line, (case.words, line)
    for line in to:
        path = re.search(r'sun_path=@?"([^"]*)"', line)
        assert path is None or server == "itself" or path[1] in UNIX, (case.words, line)
    for line in trace:
        if "execve(" in line:
            assert not [secret for secret in (*SECRETS.values(), *BASIC.values()) if secret in line], (case.words, line)
