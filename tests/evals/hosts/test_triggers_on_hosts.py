"""A trigger set on the real command lines of four hosts, through the gateway (`make hosts`)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.hosts.programs import HOST_PROGRAMS
from tests.evals.triggers.planted import make_triggered
from tests.fork_server import prowess
from tools.hosts.calls import shell_call, skill_call
from tools.hosts.capture import MODELS, PROGRAMS
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.wire_forms import Turn

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.unmeasured,
    pytest.mark.skipif(
        "PROWESS_HOSTS" not in os.environ, reason="`make hosts` installs the hosts and runs these tests"
    ),
]
QUERIES = [("turn the grid of this file into rows", True), ("read the grid", True), ("sing a song", False)]


def script(host: str) -> tuple[Part, ...]:
    codex = shell_call(host, "cat ~/.agents/skills/pdf-tables/SKILL.md")  # it has no skill tool
    choice = codex if host == "codex" else skill_call(host, "pdf-tables")
    turns = (Turn(text="I look.", calls=(shell_call(host, "ls"),)), Turn(text="It fits.", calls=(choice,)))
    return (Part(when="grid", turns=(*turns, Turn(text="Done."))), Part(turns=(Turn(text="La."),)))


@pytest.mark.parametrize("host", sorted(HOST_PROGRAMS))
def test_a_real_host_chooses_as_its_model_says_and_a_finished_run_is_replayed(host: str, tmp_path: Path) -> None:
    skill = make_triggered(tmp_path, "pdf-tables", "Turns tables of PDF files into rows.", QUERIES)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / host).write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAMS[host])} "$@"\n')
    (folder / host).chmod(0o755)
    program = HOST_PROGRAMS[host]
    model = () if MODELS[host] is None else ("--model", str(MODELS[host]))

    def triggers(address: str, *words: str) -> dict[str, Any]:
        given = {"PATH": f"{folder}:{os.environ['PATH']}", program.upstream_variable: address}
        ran = subprocess.run(
            [prowess(), "eval", "triggers", skill, "--host", host, *model, *words, "--runs", "1", "--json"],
            env={**os.environ, **given, program.credentials[0]: "key"},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr[-2000:]
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    with ScriptedProvider(script(host)) as provider:
        report = triggers(provider.url)
        paid = provider.paid
    assert [(row["triggers"], row["runs"], row["pass"]) for row in report["results"]] == [
        (1, 1, True), (1, 1, True), (0, 1, True),
    ]  # fmt: skip
    assert report["spent"]["calls"] == paid
    replayed = triggers("http://127.0.0.1:1", "--replay", report["iteration"])
    assert replayed["results"] == report["results"]
