"""One task, played through MCP as a model would play it; every step says what it has proven, or the demo fails.

`prowess serve` runs as a process of its own, the official MCP client is connected to it, and nothing is pretended: the
skills, the sandbox, the listener and the audit log are real. State lives in a temporary PROWESS_HOME.

Exit codes: 0 everything was as expected, 1 something was not.
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
    """A step that is not as expected."""


@dataclass(kw_only=True)
class Play:
    """What the steps share."""

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
        """Call a tool that must be refused and return the code."""
        result = await self.client.call_tool(tool, dict(arguments))
        if not result.is_error:
            raise UnexpectedError(f"{tool} with {json.dumps(arguments)} was answered and should have been refused")
        code = str((result.meta or {}).get("prowess/error", {}).get("code"))
        self.say.row(f"{json.dumps(arguments)}", code)
        return code


async def check(play: Play) -> None:
    """Every example passes every rule before anybody relies on it."""
    play.say.step("The skills are checked", "$ prowess check examples/skills")
    done = _prowess(play.home, "check", str(EXAMPLES), "--json")
    expect(done.returncode == 0, f"prowess check found errors: {done.stdout[-400:]}{done.stderr[-400:]}")
    summary = json.loads(done.stdout)["summary"]
    expect(summary["skills"] == len(list(EXAMPLES.iterdir())), "a skill was not checked")
    play.say.holds(f"{summary['skills']} skills, {summary['errors']} errors, {summary['warnings']} warnings")


async def look(play: Play) -> None:
    """Names and purposes come first; the instructions of no skill are paid for yet."""
    play.say.step("What the model sees first", "skills_list {}")
    tools = [tool.name for tool in (await play.client.list_tools()).tools]
    if "skills_run_script" not in tools:
        await play.call("skills_load", {"names": ["csv-report"]})
        result = await play.client.call_tool("skills_run_script", {"path": "scripts/report.py"})
        raise UnexpectedError(f"Scripts cannot be run on this machine: {_text(result)}. More: prowess sandbox check")
    play.skills = (await play.call("skills_list", {}))["skills"]
    names = [skill["name"] for skill in play.skills]
    expect("csv-report" in names and "network-probe" in names, f"csv-report or network-probe is not listed: {names}")
    for skill in play.skills:
        seen = f"{skill['name']}: {skill['description']}"
        play.say.row(seen, f"{estimate_tokens(seen):>4} tokens")
    rules, _, listed = (play.client.instructions or "").partition("<available_skills>")
    everything = sum(estimate_tokens(read_skill(Path(one["location"]).parent).body) for one in play.skills)
    play.say.row("The rules for using skills", f"{estimate_tokens(rules):>4} tokens")
    play.say.row("This list, with the place of each skill", f"{estimate_tokens(listed):>4} tokens")
    play.say.row("Not paid for yet: the instructions of all of them", f"{everything:>4} tokens")
    expect(all(name in (play.client.instructions or "") for name in names), "the instructions do not name every skill")
    expect("# CSV report" not in (play.client.instructions or ""), "a body is in the instructions before it was loaded")
    play.say.holds(f"{len(names)} skills are known by name and purpose, none is loaded yet")


async def load(play: Play) -> None:
    """The instructions come with the load, once, under a digest."""
    play.say.step("The model picks one", 'skills_load {"names": ["csv-report"]}')
    play.say.say(f"The task: {TASK}")
    receipt = await play.call("skills_load", {"names": ["csv-report"]})
    (active,) = receipt["active_skills"]
    expect(re.fullmatch(r"sha256:[0-9a-f]{64}", active["digest"] or "") is not None, "the receipt has no digest")
    expect("never add figures up by hand" in active["content"], "the result does not hold the instructions")
    play.say.quote(active["content"], 9)
    play.say.row("Instructions of csv-report, now in force", f"{estimate_tokens(active['content']):>4} tokens")
    again = await play.call("skills_load", {"names": ["csv-report"]})
    expect(again["active_skills"][0]["content"] is None, "a repeated load sent the instructions again")
    play.say.holds(f"loaded with digest {active['digest'][:19]}…; loading it again costs nothing")


async def read(play: Play) -> None:
    """References are read when they are needed; scripts are run and never read."""
    play.say.step("It reads what the instructions point to", 'skills_read {"path": "references/CHARTS.md"}')
    page = await play.call("skills_read", {"path": "references/CHARTS.md"})
    expect(page["text"] == (EXAMPLES / "csv-report" / "references" / "CHARTS.md").read_text(), "the text differs")
    play.say.quote(page["text"], 5)
    play.say.row("One reference, read because it was needed", f"{estimate_tokens(page['text']):>4} tokens")
    script = await play.call("skills_read", {"path": "scripts/report.py"})
    expect("text" not in script, "the text of a script was shown")
    play.say.holds(f"a reference costs its length; the script ({script['size']} bytes) is run and costs nothing")


async def run(play: Play) -> None:
    """The script works on the real file, and what it leaves comes back whole."""
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
    expect(f"sha256:{hashlib.sha256(chart).hexdigest()}" == artifact["digest"], "the chart is not what was written")
    labels = {element.text for element in ET.fromstring(chart).iter() if element.tag.endswith("text")}  # noqa: S314 -- our own chart
    expect({"North", "South", "East", "West"} <= labels, "the chart lacks a region")
    OUT.mkdir(exist_ok=True)
    (OUT / CHART.name).write_bytes(chart)
    guarantees = done["guarantees"]
    play.say.say(f"Sandbox: {guarantees['backend']} {guarantees['version']}, network {guarantees['network']}, "
                 f"{len(guarantees['enforced'])} guarantees enforced, {done['duration_ms']} ms")  # fmt: skip
    play.say.holds(f"West sold most; the chart came back as a resource and lies in {CHART}")


async def stay_inside(play: Play) -> None:
    """Paths out of the skill, other skills and unknown arguments are refused."""
    play.say.step("It tries to read what is not its own", "skills_read")
    found = [
        await play.refused("skills_read", {"path": "../log-triage/SKILL.md"}),
        await play.refused("skills_read", {"path": "/etc/passwd"}),
        await play.refused("skills_read", {"path": "SKILL.md", "skill": "log-triage"}),
        await play.refused("skills_read", {"path": "SKILL.md", "root": "/"}),
    ]
    expect(found == ["unsafe_path", "unsafe_path", "skill_not_active", "invalid_arguments"], f"the codes were {found}")
    play.say.holds("nothing outside the loaded skill can be reached, and each refusal says why")


async def stay_offline(play: Play) -> None:
    """What reaches a listener as a plain program does not reach it from the sandbox."""
    play.say.step("A script tries the network", "network-probe: connect.py 127.0.0.1 PORT")
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
        play.say.row("as a plain program", "reached the listener" if outside["reached"] else str(outside["errno"]))
        await anyio.sleep(0.05)
        expect(outside["reached"] and visits == 1, "the listener of the demo cannot be reached at all")
        await play.call("skills_load", {"names": ["network-probe"]})
        done = await play.call("skills_run_script", {"path": "scripts/connect.py", "args": ["127.0.0.1", port]})
        inside = json.loads(done["stdout"] or "{}")
        play.say.row("in the sandbox", "reached the listener" if inside.get("reached") else str(inside.get("errno")))
        await anyio.sleep(0.05)
        tasks.cancel_scope.cancel()
    expect(
        done["exit_code"] == NOT_REACHED and inside["reached"] is False and inside["errno"],
        f"the probe said {done['stdout']}",
    )
    expect(visits == 1, f"the listener was visited {visits} times")
    play.say.holds(f"the same script is cut off: {inside['errno']}, and the listener saw one visit, not two")


async def unload(play: Play) -> None:
    """What was loaded is out of force, and its files with it."""
    play.say.step("The task is done", 'skills_unload {"all": true}')
    receipt = await play.call("skills_unload", {"all": True})
    expect(receipt["active_skills"] == [], "a skill is still loaded")
    expect(receipt["unloaded_skills"] == ["network-probe"], f"unloaded: {receipt['unloaded_skills']}")
    code = await play.refused("skills_read", {"path": "references/CHARTS.md"})
    expect(code == "skill_not_active", f"the code was {code}")
    play.say.holds("no skill is in force, and its files are out of reach again")


def verify(say: Transcript, home: Path) -> None:
    """The log holds every call and its chain is whole."""
    say.step("What was done is on record", "$ prowess audit verify")
    done = _prowess(home, "audit", "verify")
    say.quote(done.stdout)
    log = (home / "audit" / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = [json.loads(line)["kind"] for line in log]
    expect(done.returncode == 0, f"the log does not verify: {done.stdout}{done.stderr}")
    expect(kinds.count("tool.started") == kinds.count("tool.finished"), "a call has no end")
    expect(kinds.count("script.finished") == SCRIPT_RUNS, "a script run is missing")
    say.holds(f"{len(kinds)} records in one chain: every call of this task, the refused ones too")


def tamper(say: Transcript, home: Path) -> None:
    """A single changed byte is found, and the record is named."""
    copy = home / "copy"
    shutil.copytree(home / "audit", copy)
    log = copy / "audit.jsonl"
    data = bytearray(log.read_bytes())
    at = data.index(b'"exit_code":3') + len(b'"exit_code":')
    data[at] = ord("0")
    log.write_bytes(data)
    number = data[:at].count(b"\n") + 1
    say.step("Somebody changes one byte in a copy", f"record {number}: exit_code 3 becomes 0")
    done = _prowess(home, "audit", "verify", "--log", str(log))
    say.quote(done.stdout.replace(str(copy), "copy"))
    expect(done.returncode == 1, "the change was not found")
    expect(re.search(rf"\b(line|record) {number}\b", done.stdout) is not None, f"record {number} is not named")
    say.holds(f"found, in record {number}")


async def play_all(say: Transcript, home: Path) -> None:
    """Play every step; raises UnexpectedError at the first that is not as expected."""
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
    """Return 0 where everything was as expected."""
    began = time.monotonic()
    say = Transcript()
    say.heading("Prowess: one task, played through MCP")
    say.say("A server process (prowess serve), the official MCP client, and the calls that a model makes.")
    home = Path(tempfile.mkdtemp(prefix="prowess-demo-"))
    try:
        anyio.run(play_all, say, home)
        expect(say.proven == STEPS, f"{say.proven} steps were played")
    except Exception as fault:  # noqa: BLE001 -- whatever it is, the demo has failed and must say so in one sentence
        cause = _innermost(fault)
        say.fails(str(cause) if isinstance(cause, UnexpectedError) else f"{type(cause).__name__}: {cause}")
        with suppress(OSError):
            say.quote((home / "server.log").read_text(encoding="utf-8"))
        say.end(f"Not as expected at step {say.steps}. Proven: {say.proven} of {STEPS}.")
        return 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
    seconds = time.monotonic() - began
    say.end(f"Proven: {say.proven} of {STEPS}. The task took {seconds:.1f} s. The chart: {CHART}")
    return 0


def expect(condition: object, otherwise: str) -> None:
    """Raise UnexpectedError with the sentence `otherwise` where the condition does not hold."""
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
