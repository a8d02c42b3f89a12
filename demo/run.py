"""Demo: one task through MCP, with the calls that a model would make. Each step checks its result.

Runs `prowess serve` as a separate process and connects the official MCP client to it. The skills, the sandbox, the
network listener and the audit log are real. State is in a temporary PROWESS_HOME.

Exit codes: 0 if every step had the expected result, otherwise 1.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from transcript import Transcript

from prowess import read_skill
from prowess.runtime.disclosure.model_texts import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
EXAMPLES, PROBES, OUT = PROJECT / "examples" / "skills", HERE / "skills", HERE / "out"
PROWESS = [sys.executable, "-m", "prowess"]
TASK = "Which region sold most in March? Make me a chart."
STEPS = 10
CHART = Path(os.path.relpath(OUT / "revenue-by-region.svg"))
NOT_REACHED = 3  # exit code of the probe
SCRIPT_RUNS = 2


class UnexpectedError(Exception):
    """A step had an unexpected result."""


@dataclass(kw_only=True)
class Play:
    """State shared by the steps."""

    say: Transcript
    home: Path
    client: Client
    skills: list[dict[str, Any]] = field(default_factory=list)

    async def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Call a tool that must succeed and return its structured result."""
        result = await self.client.call_tool(tool, dict(arguments))
        if result.is_error or result.structured_content is None:
            raise UnexpectedError(f"{tool} failed: {_text(result)}")
        return dict(result.structured_content)

    async def refused(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Call a tool that must be refused and return the error code."""
        result = await self.client.call_tool(tool, dict(arguments))
        if not result.is_error:
            raise UnexpectedError(f"{tool} with {json.dumps(arguments)} succeeded, but it should have been refused")
        code = str((result.meta or {}).get("prowess/error", {}).get("code"))
        self.say.row(f"{json.dumps(arguments)}", code)
        return code


async def check(play: Play) -> None:
    """Check that the example skills pass every rule."""
    play.say.step("The skills are checked", "$ prowess check examples/skills")
    done = _prowess(play.home, "check", str(EXAMPLES), "--json")
    expect(done.returncode == 0, f"prowess check found errors: {done.stdout[-400:]}{done.stderr[-400:]}")
    summary = json.loads(done.stdout)["summary"]
    expect(summary["skills"] == len(list(EXAMPLES.iterdir())), "a skill was not checked")
    play.say.passes(f"{summary['skills']} skills, {summary['errors']} errors, {summary['warnings']} warnings")


async def look(play: Play) -> None:
    """List the skills: the model sees names and descriptions, but no instructions yet."""
    play.say.step("The model lists the skills", "skills_list {}")
    tools = [tool.name for tool in (await play.client.list_tools()).tools]
    if "skills_run_script" not in tools:
        await play.call("skills_load", {"names": ["csv-report"]})
        result = await play.client.call_tool("skills_run_script", {"path": "scripts/report.py"})
        raise UnexpectedError(
            f"Scripts cannot be run on this machine: {_text(result)}. For details, run prowess sandbox check"
        )
    play.skills = (await play.call("skills_list", {}))["skills"]
    names = [skill["name"] for skill in play.skills]
    expect("csv-report" in names and "network-probe" in names, f"csv-report or network-probe is not listed: {names}")
    for skill in play.skills:
        seen = f"{skill['name']}: {skill['description']}"
        play.say.row(seen, f"{estimate_tokens(seen):>4} tokens")
    rules, _, listed = (play.client.instructions or "").partition("<available_skills>")
    everything = sum(estimate_tokens(read_skill(Path(one["location"]).parent).body) for one in play.skills)
    play.say.row("Rules for using skills", f"{estimate_tokens(rules):>4} tokens")
    play.say.row("This list, with the location of each skill", f"{estimate_tokens(listed):>4} tokens")
    play.say.row("Not sent yet: the instructions of all skills", f"{everything:>4} tokens")
    expect(all(name in (play.client.instructions or "") for name in names), "the instructions do not name every skill")
    expect(
        "# CSV report" not in (play.client.instructions or ""),
        "the instructions contain the body of a skill that is not loaded",
    )
    play.say.passes(f"{len(names)} skills are listed by name and description, none is loaded yet")


async def load(play: Play) -> None:
    """Load a skill: its instructions are sent once, with a digest."""
    play.say.step("The model loads one skill", 'skills_load {"names": ["csv-report"]}')
    play.say.say(f"The task: {TASK}")
    receipt = await play.call("skills_load", {"names": ["csv-report"]})
    (active,) = receipt["active_skills"]
    expect(re.fullmatch(r"sha256:[0-9a-f]{64}", active["digest"] or "") is not None, "the receipt has no digest")
    expect("never add figures up by hand" in active["content"], "the result does not contain the instructions")
    play.say.quote(active["content"], 9)
    play.say.row("Instructions of csv-report, now active", f"{estimate_tokens(active['content']):>4} tokens")
    again = await play.call("skills_load", {"names": ["csv-report"]})
    expect(again["active_skills"][0]["content"] is None, "a repeated load sent the instructions again")
    play.say.passes(f"loaded with digest {active['digest'][:19]}…; a second load sends no instructions")


async def read(play: Play) -> None:
    """Read a reference. The text of a script is never sent."""
    play.say.step("It reads a file that the instructions link to", 'skills_read {"path": "references/CHARTS.md"}')
    page = await play.call("skills_read", {"path": "references/CHARTS.md"})
    expect(page["text"] == (EXAMPLES / "csv-report" / "references" / "CHARTS.md").read_text(), "the text differs")
    play.say.quote(page["text"], 5)
    play.say.row("One reference file", f"{estimate_tokens(page['text']):>4} tokens")
    script = await play.call("skills_read", {"path": "scripts/report.py"})
    expect("text" not in script, "the text of a script was shown")
    play.say.passes(f"the file costs its length; the script ({script['size']} bytes) costs no tokens")


async def run(play: Play) -> None:
    """Run a script on a real file, and get the file that it writes."""
    arguments = ["march.csv", "--value", "revenue", "--by", "region"]
    play.say.step("It runs the script in the sandbox", f"report.py {' '.join(arguments)}")
    done = await play.call("skills_run_script", {"path": "scripts/report.py", "args": arguments})
    expect(done["exit_code"] == 0, f"the script failed: {done['stderr']}")
    play.say.quote(done["stdout"][done["stdout"].index("| region | rows") :], 9)
    (artifact,) = done["artifacts"]
    listed = (await play.client.list_resources()).resources
    (resource,) = [one for one in listed if not str(one.uri).startswith("skill:")]
    (content,) = (await play.client.read_resource(resource.uri)).contents
    chart = str(getattr(content, "text", "")).encode()
    expect(
        f"sha256:{hashlib.sha256(chart).hexdigest()}" == artifact["digest"],
        "the chart differs from the file that the script wrote",
    )
    labels = {element.text for element in ET.fromstring(chart).iter() if element.tag.endswith("text")}  # noqa: S314 -- our own chart
    expect({"North", "South", "East", "West"} <= labels, "the chart lacks a region")
    OUT.mkdir(exist_ok=True)
    (OUT / CHART.name).write_bytes(chart)
    guarantees = done["guarantees"]
    play.say.say(f"Sandbox: {guarantees['backend']} {guarantees['version']}, network {guarantees['network']}, "
                 f"{len(guarantees['enforced'])} guarantees enforced, {done['duration_ms']} ms")  # fmt: skip
    play.say.passes(f"West sold most; the chart was returned as a resource and saved as {CHART}")


async def stay_inside(play: Play) -> None:
    """Paths outside of the skill, other skills and unknown arguments are refused."""
    play.say.step("It tries to read other files", "skills_read")
    found = [
        await play.refused("skills_read", {"path": "../log-triage/SKILL.md"}),
        await play.refused("skills_read", {"path": "/etc/passwd"}),
        await play.refused("skills_read", {"path": "SKILL.md", "skill": "log-triage"}),
        await play.refused("skills_read", {"path": "SKILL.md", "root": "/"}),
    ]
    expect(found == ["unsafe_path", "unsafe_path", "skill_not_active", "invalid_arguments"], f"the codes were {found}")
    play.say.passes("only files of loaded skills can be read; each refusal has a reason")


async def stay_offline(play: Play) -> None:
    """A script that can connect to a listener without the sandbox cannot connect from inside the sandbox."""
    play.say.step("A script tries to connect", "network-probe: connect.py 127.0.0.1 PORT")
    visits = 0

    async def visit(stream: anyio.abc.SocketStream) -> None:
        nonlocal visits
        visits += 1
        await stream.aclose()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, visit)
        port = str(listener.extra(anyio.abc.SocketAttribute.local_port))  # noqa: S610 -- anyio, not Django
        script = PROBES / "network-probe" / "scripts" / "connect.py"
        plain = await anyio.run_process([sys.executable, "-B", str(script), "127.0.0.1", port], check=False)
        outside = json.loads(plain.stdout)
        play.say.row("without the sandbox", "reached the listener" if outside["reached"] else str(outside["errno"]))
        await anyio.sleep(0.05)
        expect(outside["reached"] and visits == 1, "the script cannot connect to the listener without the sandbox")
        await play.call("skills_load", {"names": ["network-probe"]})
        done = await play.call("skills_run_script", {"path": "scripts/connect.py", "args": ["127.0.0.1", port]})
        inside = json.loads(done["stdout"] or "{}")
        play.say.row("in the sandbox", "reached the listener" if inside.get("reached") else str(inside.get("errno")))
        await anyio.sleep(0.05)
        tasks.cancel_scope.cancel()
    expect(
        done["exit_code"] == NOT_REACHED and inside["reached"] is False and inside["errno"],
        f"the probe printed {done['stdout']}",
    )
    expect(visits == 1, f"the listener got {visits} connections")
    play.say.passes(f"in the sandbox the script got {inside['errno']}; the listener got one connection")


async def unload(play: Play) -> None:
    """Unload all skills: their files can no longer be read."""
    play.say.step("It unloads all skills", 'skills_unload {"all": true}')
    receipt = await play.call("skills_unload", {"all": True})
    expect(receipt["active_skills"] == [], "a skill is still loaded")
    expect(receipt["unloaded_skills"] == ["network-probe"], f"unloaded: {receipt['unloaded_skills']}")
    code = await play.refused("skills_read", {"path": "references/CHARTS.md"})
    expect(code == "skill_not_active", f"the code was {code}")
    play.say.passes("no skill is active, and their files cannot be read any more")


def verify(say: Transcript, home: Path) -> None:
    """The audit log contains every call, and its hash chain is valid."""
    say.step("The audit log is verified", "$ prowess audit verify")
    done = _prowess(home, "audit", "verify")
    say.quote(done.stdout)
    log = (home / "audit" / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["kind"] for line in log]
    expect(done.returncode == 0, f"the log does not verify: {done.stdout}{done.stderr}")
    expect(kinds.count("tool.started") == kinds.count("tool.finished"), "a call has no finish record")
    expect(kinds.count("script.finished") == SCRIPT_RUNS, "a script run is missing")
    say.passes(f"{len(kinds)} records in one chain: every call of this task, including refused calls")


def tamper(say: Transcript, home: Path) -> None:
    """Verification finds one changed byte and names its record."""
    copy = home / "copy"
    shutil.copytree(home / "audit", copy)
    log = copy / "audit.jsonl"
    data = bytearray(log.read_bytes())
    at = data.index(b'"exit_code":3') + len(b'"exit_code":')
    data[at] = ord("0")
    log.write_bytes(data)
    number = data[:at].count(b"\n") + 1
    say.step("One byte of a copy is changed", f"record {number}: exit_code 3 becomes 0")
    done = _prowess(home, "audit", "verify", "--log", str(log))
    say.quote(done.stdout.replace(str(copy), "copy"))
    expect(done.returncode == 1, "the change was not found")
    expect(re.search(rf"\b(line|record) {number}\b", done.stdout) is not None, f"record {number} is not named")
    say.passes(f"found, in record {number}")


async def play_all(say: Transcript, home: Path) -> None:
    """Run every step; raise UnexpectedError at the first unexpected result."""
    arguments = ["serve", "--root", str(EXAMPLES), "--root", str(PROBES), "--workspace", str(HERE)]
    server = StdioServerParameters(command=PROWESS[0], args=[*PROWESS[1:], *arguments], env=_environment(home))
    with (home / "server.log").open("w", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log), mode="legacy") as client:
            play = Play(say=say, home=home, client=client)
            for step in (check, look, load, read, run, stay_inside, stay_offline, unload):
                await step(play)
    verify(say, home)
    tamper(say, home)


def main() -> int:
    """Run the demo and return its exit code."""
    began = time.monotonic()
    say = Transcript()
    say.heading("Prowess: one task through MCP")
    say.say("A server (prowess serve), the official MCP client, and the calls that a model would make.")
    home = Path(tempfile.mkdtemp(prefix="prowess-demo-"))
    try:
        anyio.run(play_all, say, home)
        expect(say.passed == STEPS, f"{say.passed} of {STEPS} steps were run")
    except Exception as fault:  # noqa: BLE001 -- any error fails the demo and is reported in one sentence
        cause = _innermost(fault)
        say.fails(str(cause) if isinstance(cause, UnexpectedError) else f"{type(cause).__name__}: {cause}")
        with suppress(OSError):
            say.quote((home / "server.log").read_text(encoding="utf-8"))
        say.end(f"Step {say.steps} failed. {say.passed} of {STEPS} steps passed.")
        return 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
    seconds = time.monotonic() - began
    say.end(f"{say.passed} of {STEPS} steps passed in {seconds:.1f} s. The chart: {CHART}")
    return 0


def expect(condition: object, otherwise: str) -> None:
    """Raise UnexpectedError with the sentence `otherwise` if the condition is false."""
    if not condition:
        raise UnexpectedError(otherwise)


def _prowess(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROWESS, *arguments], env=_environment(home), capture_output=True, text=True, timeout=60, check=False
    )


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "PROWESS_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


def _text(result: Any) -> str:  # noqa: ANN401 -- the client's model
    return "\n".join(block.text for block in result.content if block.type == "text")


def _innermost(fault: BaseException) -> BaseException:
    while isinstance(fault, BaseExceptionGroup) and fault.exceptions:
        fault = fault.exceptions[0]
    return fault


if __name__ == "__main__":
    sys.exit(main())
