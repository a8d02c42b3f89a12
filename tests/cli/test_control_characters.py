"""No command sends a raw control character into a pipe, whatever names, texts, paths and scripts hold."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from prowess.cli.main import COMMANDS
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

ODD = "\x1b[31m\x9b1m\x07\x7f\r\u202e\u2028"
pytestmark = pytest.mark.unmeasured  # a process for each case, of commands whose own tests are measured

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
REFERENCE = {"validate", "to-prompt", "read-properties"}  # byte for byte as the reference library's, but with --json
ROOT = ("--root", "skills")

CASES: list[tuple[str, ...]] = [
    ("list", *ROOT),
    ("list", "--json", *ROOT),
    ("match", "good", *ROOT),
    ("match", "--json", ODD, "/good", "--bodies", *ROOT),
    ("why", "good", *ROOT),
    ("why", "--json", "good", *ROOT),
    ("why", ODD, *ROOT),
    ("watch", ODD, *ROOT),
    ("index", *ROOT),
    ("index", "--json", *ROOT),
    ("index", ODD, *ROOT),
    ("load", "good", *ROOT),
    ("load", "good", ODD, *ROOT),
    ("load", "--json", "good", ODD, *ROOT),
    ("load", ODD, *ROOT),
    ("load", f"./{ODD}"),
    ("read", "good", "references/plain.md", *ROOT),
    ("read", "good", f"references/{ODD}.md", *ROOT),
    ("read", "good", "assets/odd.bin", *ROOT),
    ("read", "good", "references", *ROOT),
    ("read", "good", ODD, *ROOT),
    ("run", "good", "say.py", *ROOT),
    ("run", "good", "say.py", "--json", *ROOT),
    ("run", "good", ODD, *ROOT),
    ("run", "good", "say.py", "--out", f"out{ODD}", *ROOT),
    *(("check", "--format", form, "skills") for form in ("text", "json", "github", "sarif", "junit")),
    ("check", f"skills/bad{ODD}"),
    ("check", ODD),
    ("show", "skills/good"),
    ("show", "--json", "skills/good"),
    ("show", f"skills/bad{ODD}"),
    ("show", "skills"),
    ("fmt", "--check", "skills"),
    ("fmt", "--diff", "skills/good"),
    ("rule", ODD),
    ("config", "."),
    ("config", "--json", "."),
    ("config", f"skills/bad{ODD}"),
    ("completion", "bash"),
    ("doctor",),
    ("doctor", "--json"),
    ("new", ODD),
    ("new", "fresh", "more", ODD),
    ("trust", ODD),
    ("trust", f"skills/bad{ODD}"),
    ("install", "./skills", "--skill", "good", "--scope", "project"),
    ("install", "./skills", "--skill", ODD, "--scope", "project"),
    ("install", f"./{ODD}"),
    ("install", "--json", f"./skills/bad{ODD}"),
    ("add", f"./skills/bad{ODD}", "--dry-run"),
    ("use", "./skills/good"),
    ("use", f"./skills/bad{ODD}"),
    ("verify", "skills/good"),
    ("verify", "--json", f"skills/bad{ODD}"),
    ("verify", ODD),
    ("sign", f"skills/bad{ODD}", "--key", ODD),
    ("key", "list"),
    ("key", "new", f"{ODD}.key"),
    ("key", "trust", ODD, "--as", ODD),
    ("lock", "check"),
    ("lock", "import", ODD),
    ("update", ODD),
    ("outdated", ODD),
    ("remove", ODD),
    ("rollback", "--list"),
    ("rollback", ODD),
    ("store", "prune", "--dry-run"),
    ("pack", "skills/good", "-o", "packed.zip"),
    ("pack", f"skills/bad{ODD}"),
    ("mirror", "--to", f"mirrored{ODD}"),
    ("registry", "list", "skills"),
    ("registry", "list", "--json", f"./{ODD}"),
    ("publish", "skills/good", "--to", "registry"),
    ("publish", f"skills/bad{ODD}", "--to", f"registry{ODD}"),
    ("deploy", f"skills/bad{ODD}", "--to", ODD, "--key", ODD),
    ("deploy", "--to", ODD, "--discard"),
    ("revoke", ODD, "--to", ODD, "--key", ODD),
    ("sync", "--from", ODD, "--into", f"host{ODD}"),
    ("sync", "--from", f"http://{ODD}", "--into", "host"),
    ("sync", "--json", "--from", ODD, "--into", f"host{ODD}", "--root", ODD),
    ("hosts", "--from", ODD),
    ("deploy", "skills/good", "--store", f"sqlite:///{ODD}", "--environment", ODD),
    ("inventory", "--skill", ODD),
    ("inventory", "--json"),
    ("policy", "policy.toml"),
    ("policy", ODD),
    ("audit", "show"),
    ("audit", "show", "--json"),
    ("audit", "verify"),
    ("audit", ODD),
    ("audit", "export", "--out", f"out{ODD}", "--key", ODD),
    ("audit", "verify", "--export", ODD, "--key", ODD),
    ("policy", "replay", "policy.toml", "--records", ODD),
    ("policy", "push", ODD, "policy.toml", "--store", f"sqlite:///{ODD}"),
    ("policy", "list", "--store", f"sqlite:///{ODD}"),
    ("policy", "remove", ODD, "--store", f"sqlite:///{ODD}"),
    ("policy", "show", "--store", f"sqlite:///{ODD}"),
    ("block", ODD, "--reason", ODD, "--server", f"https://{ODD}", "--token-file", ODD),
    ("audit", "show", "--server", f"http://{ODD}", "--tenant", ODD),
    ("report",),
    ("report", "--json", "--by", ODD),
    ("access", "good", "--user", ODD, "--team", ODD, *ROOT),
    ("access", "--json", ODD, *ROOT),
    ("approve", "good", "--reason", ODD, "--policy", "asking.toml", *ROOT),
    ("approve", ODD, *ROOT),
    ("approvals", "list", "--policy", "asking.toml", *ROOT),
    ("approvals", "list", "--json", "--policy", "asking.toml", *ROOT),
    ("approvals", "show", ODD, *ROOT),
    ("block", ODD, "--reason", "x", "--scope", "user"),
    ("block", "--source", f"./bad{ODD}", "--reason", ODD, "--scope", "user"),
    ("block", "other", "--reason", "x y", "--scope", "user", "--json"),
    ("block", "--list"),
    ("unblock", ODD),
    ("admin", "status", "--store", f"sqlite:///{ODD}"),
    ("admin", "init", "--store", f"postgresql://{ODD}@/"),
    ("admin", "serve", "--store", f"sqlite:///{ODD}", "--http", "127.0.0.1:0"),
    (
        "admin",
        "serve",
        "--store",
        f"sqlite:///{ODD}",
        "--public-url",
        f"https://{ODD}",
        "--oidc",
        ODD,
        "--client-id",
        ODD,
    ),
    ("admin", "logout", ODD, "--store", f"sqlite:///{ODD}"),
    ("admin", "token", "add", "--store", f"sqlite:///{ODD}", "--role", ODD, "--user", ODD),
    ("machine", "status"),
    ("machine", "unit"),
    ("admin", "unit", "--store", f"sqlite:///{ODD}", "--public-url", ODD, "--user", ODD),
    ("machine", "enroll", f"https://{ODD}/", "--token-file", ODD, "--team", ODD),
    ("session", "--bogus", ODD),
    ("session", *ROOT),
    ("session", "--policy", ODD, *ROOT),
    ("agent", "--bogus", ODD),
    ("test", "skills"),
    ("test", "--json", f"skills/bad{ODD}"),
    ("test", "--configurations", "prowess.toml", "skills/good"),
    ("eval", "convert", ODD, "--to", "waza", "--out", f"out{ODD}"),
    ("eval", "judge", f"{ODD}.jsonl", "--skill", "good"),
    ("eval", "judge", "run.jsonl", "--skill", "good"),
    ("eval", "judge", "run.jsonl", "--skill", "good", "--json"),
    ("eval", "judge", "--cases", "cases.jsonl"),
    ("eval", "judge", "--cases", ODD),
    ("eval", "ablate", ODD, "--tests"),
    ("eval", "run", ODD, "--model", f"nobody:{ODD}"),
    ("eval", "run", "skills/good", "--model", "nobody:m", "--on", f"tcp://{ODD}:1"),
    ("eval", "improve", f"skills/bad{ODD}", "--host", "match", "--model", f"scripted:{ODD}"),
    ("eval", "stats", ODD),
    ("eval", "compare", ODD, f"x@{ODD}", "--judge", f"scripted:{ODD}"),
    ("eval", "triggers", f"skills/bad{ODD}", "--host", "match"),
    ("eval", "triggers", "skills/good", "--host", "match", "--set", f"set{ODD}.json"),
    ("feedback", f"bad{ODD}", "good", "--root", "skills"),
    ("feedback", "good", "bad", "--note", ODD, "--root", "skills"),
    ("report", "--from", ODD),
    ("eval", "export", ODD, "--to", "inspect", "--out", f"out{ODD}"),
    ("eval", "report", ODD, "--out", f"out{ODD}", "--ablation", ODD),
    ("serve", "--http", ODD),
    ("serve", "--store", ODD),
    ("serve", "--print-config", "vscode", "--root", f"skills/bad{ODD}"),
    ("serve", "--print-config", "codex", "--workspace", f"skills/bad{ODD}"),
    ("sandbox", ODD),
    ("completion", ODD),
    ("completion", "--man"),
    ("conformance", ODD),
    ("lsp", ODD),
    (ODD,),
    *((name, "--json", path) for name in sorted(REFERENCE) for path in ("skills/good", f"skills/bad{ODD}")),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with hostile skills, settings and a policy file."""
    root = tmp_path_factory.mktemp("hostile")
    quoted = json.dumps(ODD)
    for directory, name in (("good", "good"), (f"bad{ODD}", f'"bad{quoted[1:-1]}"'), ("twice", "good")):
        skill = root / "skills" / directory
        for folder in ("scripts", "references", "assets"):
            (skill / folder).mkdir(parents=True)
        (skill / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: {json.dumps('Does ' + ODD + ' x. Use when y.')}\n"
            f"license: {quoted}\nargument-hint: {quoted}\nmetadata:\n  k: {quoted}\n---\n"
            f"# {ODD}\n\nDo {ODD}. See [x](references/plain.md) and [y](references/{ODD}.md). $ARGUMENTS\n"
        )
        (skill / "scripts" / "say.py").write_text(
            f"import os, sys\nprint({ODD!r})\nprint({ODD!r}, file=sys.stderr)\n"
            f"open(os.environ['OUT'] + {f'/a{ODD}'!r}, 'w').write('x')\nsys.exit(3)\n"
        )
        (skill / "references" / f"{ODD}.md").write_text(ODD)
        (skill / "references" / "plain.md").write_bytes(f"# {ODD}\r\nx {ODD}".encode())
        (skill / "assets" / "odd.bin").write_bytes(bytes(range(256)))
    (root / "policy.toml").write_text(f'default = "allow"\n[[rules]]\ntool = {quoted}\neffect = "none"\n')
    (root / "asking.toml").write_text('default = "allow"\n[[approval]]\nfor = ["new-skills"]\n')
    calls = [{"id": "1", "name": f"Read{ODD}", "arguments": {"file_path": f"good/{ODD}/good/SKILL.md"}}]
    run = [
        {"role": "user", "text": ODD},
        {"role": "assistant", "text": ODD, "calls": calls},
        {"role": "end", "ended": ODD},
    ]
    (root / "run.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in run))
    cases = [{"transcript": name, "skill": f"good{ODD}", ODD: ODD} for name in ("run.jsonl", f"{ODD}.jsonl")]
    (root / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    (root / "prowess.toml").write_text(f"select = [{quoted.replace(chr(0x7F), '')}]\n")
    return root


def test_every_command_is_tried() -> None:
    assert {case[0] for case in CASES} >= set(COMMANDS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case).encode("unicode_escape").decode())
def test_no_raw_control_character_reaches_a_pipe(place: Path, tmp_path: Path, case: tuple[str, ...]) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PROWESS_HOME": str(tmp_path / ".prowess")}
    line = json.dumps({"id": 1, "method": "skills.load", "params": {"names": [ODD, "good"]}}).encode() + b"\n"
    command = [prowess(), *case]
    ran = subprocess.run(command, cwd=place, env=environment, input=line, capture_output=True, timeout=120, check=False)
    for stream in (ran.stdout.decode(), ran.stderr.decode()):
        assert CONTROLS.search(stream) is None, stream
        assert "Traceback" not in stream
