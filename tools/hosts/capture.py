"""Runs the real command lines against the scripted provider, and keeps what they write.

Use: `python -m tools.hosts.capture OUT [ID ...]` in a network namespace with loopback alone (`make hosts` sets it up).
OUT gets the transcripts and `cases.jsonl`. Without loopback alone it stops: nothing here may reach a real provider.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from prowess.evals.hosts.claude import CLAUDE
from prowess.evals.hosts.codex import CODEX
from prowess.evals.hosts.copilot import COPILOT
from prowess.evals.hosts.gemini import GEMINI
from prowess.evals.hosts.host import HostLimits
from prowess.evals.hosts.host_program import HostInvocation
from tools.hosts.cases import Case, cases
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.scrub import Places, scrubbed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.hosts.host_program import HostProgram

ROOT = Path(__file__).resolve().parents[2]
MODULES = ROOT / ".cache/hosts/node_modules"
PROGRAMS = {
    "claude": (str(MODULES / "@anthropic-ai/claude-code-linux-x64/claude"),),
    "codex": (str(MODULES / ".bin/codex"),),
    "gemini": ("node", str(MODULES / "@google/gemini-cli/bundle/gemini.js")),
    "copilot": (str(MODULES / "@github/copilot-linux-x64/copilot"),),
}
HOSTS: dict[str, HostProgram] = {host.name: host for host in (CLAUDE, CODEX, GEMINI, COPILOT)}
MODELS = {"claude": None, "codex": "gpt-5", "gemini": "gemini-2.5-pro", "copilot": "gpt-5"}
SECONDS = 90.0
BODIES = {
    "pdf-tables": (
        "Turns tables of PDF files into rows. Use for spreadsheets out of PDF reports.",
        "# PDF tables\n\nRun `scripts/extract.py FILE`.\n",
    ),
    "release-notes": (
        "Writes release notes from a list of commits.",
        "# Release notes\n\nGroup the commits by kind.\n",
    ),
    "invoices": ("Sums up bills of a month.", "# Invoices\n\nAdd the amounts.\n"),
}


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `cases.jsonl`. `transcript` is a file or folder beside it."""

    transcript: str
    skill: str
    query: str
    verdict: str
    host: str
    form: str
    what: str


def main() -> int:
    """Capture the cases that are named, or all."""
    out, wanted = Path(sys.argv[1]), set(sys.argv[2:])
    if not is_loopback_alone():
        print("this machine has a network: run it under unshare -n (make hosts does)", file=sys.stderr)
        return 2
    out.mkdir(parents=True, exist_ok=True)
    lines = _kept(out, wanted)
    for case in cases():
        if not wanted or case.id in wanted or case.host in wanted:
            started = time.monotonic()
            got = list(_capture(case, out))
            lines += got
            print(f"{case.id}: {len(got)} transcripts, {time.monotonic() - started:.1f} s", flush=True)
            _write(out, lines)
    return 0


def is_loopback_alone() -> bool:
    """Return whether this process can reach nothing but this machine."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


def _kept(out: Path, wanted: set[str]) -> list[Captured]:
    """Return the lines of cases that are not captured again."""
    path = out / "cases.jsonl"
    if not wanted or not path.exists():
        return []
    again = {case.id for case in cases() if case.id in wanted or case.host in wanted}
    lines = [msgspec.json.decode(line, type=Captured) for line in path.read_bytes().splitlines()]
    return [line for line in lines if line.transcript.split(".")[0] not in again]


def _write(out: Path, lines: list[Captured]) -> None:
    ordered = sorted(lines, key=lambda line: line.transcript)
    (out / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in ordered))


def _capture(case: Case, out: Path) -> Iterator[Captured]:
    for old in out.glob(f"{case.id}.*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    with tempfile.TemporaryDirectory(prefix="hosts-") as place:
        home, workspace = Path(place, "home"), Path(place, "project")
        _lay_out(case, home, workspace)
        script = msgspec.json.decode(
            msgspec.json.encode(case.script).replace(b"{ws}", str(workspace).encode()), type=tuple[Part, ...]
        )
        with ScriptedProvider(script) as provider:
            stream = _run(case, provider, home, workspace)
        places = Places(home=str(home), workspace=str(workspace), temporary=place)
        common = {
            "skill": case.skill,
            "query": case.query,
            "verdict": case.verdict,
            "host": case.host,
            "what": case.what,
        }
        if case.form != "session":
            name = f"{case.id}.stream.jsonl"
            (out / name).write_text(scrubbed(stream, case.host, places))
            yield Captured(transcript=name, form="stream", **common)
        if case.form == "stream":
            return
        sessions = [path for pattern in HOSTS[case.host].sessions for path in sorted(home.glob(pattern))]
        if not sessions:
            print(f"{case.id}: no session file", file=sys.stderr)
            return
        name = _keep_sessions(case, sessions, out, places)
        yield Captured(transcript=name, form="session", **common)


def _keep_sessions(case: Case, sessions: list[Path], out: Path, places: Places) -> str:
    texts = [path.read_text(encoding="utf-8") for path in sessions]
    if len(sessions) == 1:
        name = f"{case.id}.session.jsonl"
        (out / name).write_text(scrubbed(texts[0], case.host, places))
        return name
    folder = out / f"{case.id}.session"
    parent = Path(os.path.commonpath([path.parent for path in sessions]))
    # Normalised together, so that ids agree between the files; the names of files hold ids as well.
    joined = "\x00".join([*texts, *(str(path.relative_to(parent)) for path in sessions)])
    pieces = scrubbed(joined, case.host, places, separator="\x00").split("\x00")
    for name, text in zip(pieces[len(texts) :], pieces, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder.name


def _lay_out(case: Case, home: Path, workspace: Path) -> None:
    host = HOSTS[case.host]
    home.mkdir()
    workspace.mkdir()
    (workspace / "report.pdf").write_bytes(b"%PDF-1.4\n")
    (workspace / "notes.txt").write_text("Rows first.\n")
    (workspace / "bills.txt").write_text("3\n4\n")
    where = home / host.skills if case.at_home else workspace / host.project_skills
    if case.plugin:
        where = home / "office/skills"
        (home / "office/.claude-plugin").mkdir(parents=True)
        (home / "office/.claude-plugin/plugin.json").write_text(json.dumps({"name": "office", "version": "1.0.0"}))
    for name in case.skills:
        description, body = BODIES[name]
        (where / name / "scripts").mkdir(parents=True)
        (where / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n\n{body}")
        (where / name / "scripts/extract.py").write_text("print('a;b')\n")
    if case.git:
        git = ["git", "-C", str(workspace), "-c", "user.name=a", "-c", "user.email=a@example.com"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Start"]):
            subprocess.run([*git, *command], check=True, capture_output=True)
        (where / case.skill / "SKILL.md").write_text("---\nname: pdf-tables\ndescription: Changed.\n---\n")


def _run(case: Case, provider: ScriptedProvider, home: Path, workspace: Path) -> str:
    """Run the host, and return its output. Its process group is killed at the end, in any case."""
    host = HOSTS[case.host]
    keys = dict.fromkeys(host.credentials[:1], "key-scripted-0000")
    invocation = HostInvocation(
        prompt=case.query,
        home=str(home),
        provider=provider.url,
        model=MODELS[case.host],
        credentials=keys,
        limits=HostLimits(turns=case.limit),
    )
    command = host.command(invocation)
    for name, text in command.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    arguments, files = _permissions(case, list(command.arguments))
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TMPDIR": str(home / "tmp"),
        **command.environment,
        **case.environment,
    }
    (home / "tmp").mkdir()
    output = home.parent / "stream"
    with output.open("wb") as stream, (home.parent / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [*PROGRAMS[case.host], *arguments, *case.arguments],
            env=environment,
            cwd=workspace,
            stdin=subprocess.PIPE,
            stdout=stream,
            stderr=errors,
            start_new_session=True,
        )
        try:
            _wait(case, process, command.stdin, provider)
        finally:
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
            process.wait()
    if os.environ.get("PROWESS_HOSTS_DEBUG"):
        print((home.parent / "errors").read_text(errors="replace")[-3000:], file=sys.stderr)
    return output.read_text(encoding="utf-8")


def _wait(case: Case, process: subprocess.Popen[bytes], stdin: str, provider: ScriptedProvider) -> None:
    assert process.stdin is not None
    process.stdin.write(stdin.encode())
    process.stdin.close()
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if case.killed and provider.holding.wait(0.05):
            time.sleep(1.0)  # the host writes its records behind its work
            return
        time.sleep(0.05)
    if process.poll() is None:
        print(f"{case.id}: still running after {SECONDS:g} s", file=sys.stderr)


def _permissions(case: Case, arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the arguments, and files of the home, for a case whose skill tool is refused."""
    if case.plugin:
        arguments += ["--plugin-dir", "../home/office"]
    if not case.denied:
        return arguments, {}
    match case.host:
        case "claude":
            return [*arguments, "--settings", json.dumps({"permissions": {"deny": [f"Skill({case.skill})"]}})], {}
        case "copilot":
            return [*arguments, "--deny-tool", "skill"], {}
        case _:
            raise ValueError(case.host)


if __name__ == "__main__":
    sys.exit(main())
