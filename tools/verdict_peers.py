"""Put the captured transcripts to other people's judges, and write the table of docs/reference/judges.md.

    python -m tools.verdict_peers                          ask every judge, then write the page
    SKILL_CREATOR=FOLDER python -m tools.verdict_peers     the official script as well, from a copy of skill-creator

Each judge runs in an environment of its own below .cache/peers. It gets what it can read: the file, if it has a reader
for it; else the calls as our reader found them, so that its rule is judged and not our reading. It answers yes or no.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prowess.evals.transcripts.reading import read_transcript
from prowess.evals.verdicts.judging import verdict_of
from tools.peers.linters import installed
from tools.wrap_pages import wrapped

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".cache" / "peers"
CAPTURED = ROOT / "tests" / "evals" / "transcripts" / "captured"
PAGE = ROOT / "docs" / "reference" / "judges.md"
_TABLES = re.compile(r"(<!-- table: judges -->\n).*?(<!-- end -->)", re.DOTALL)
_DECIDED = ("triggered", "not_triggered")
_ASK = """
import json, sys
for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(bool(judge(case))))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """One judge. `code` defines `judge(case)`; `hosts` and `forms` are what it is for."""

    package: str
    code: str
    gets: str
    python: tuple[int, int] = (3, 11)
    hosts: tuple[str, ...] = ("claude", "codex", "copilot", "gemini")
    forms: tuple[str, ...] = ("stream", "session")


JUDGES = {
    "caliper-eval": Judge(
        package="caliper-eval==0.21.0",
        gets="our calls",
        code="""
from caliper.activation import ActivationDetector
from caliper.harness.base import ConversationTurn
TOOLS = frozenset({"Skill", "skill", "activate_skill"})
def judge(case):
    turns = [ConversationTurn("assistant", "", tool_name=name, tool_input=given) for name, given in case["calls"]]
    return case["skill"] in (ActivationDetector([case["skill"]], TOOLS).detect(turns) or [])
""",
    ),
    "pytest-skillcheck": Judge(
        package="pytest-skillcheck==0.3.0",
        gets="our calls",
        code="""
from pathlib import Path
from skillcheck.harnesses import RunResult, ToolUse
def judge(case):
    uses = [ToolUse(name=name, input=given) for name, given in case["calls"]]
    run = RunResult("x", "", Path("."), 0, 0.0, "", uses, "", "")
    return run.loaded_skill(case["skill"])
""",
    ),
    "agent-exam": Judge(
        package="agent-exam==0.3.0",
        gets="our calls",
        python=(3, 11),
        hosts=("claude", "codex"),
        code="""
from agent_exam.providers.claude_code.skill_detect import detect_from_input
from agent_exam.providers.codex_cli.stream_parser import _skill_detection_from_command
def judge(case):
    for name, given in case["calls"]:
        if case["host"] == "claude":
            found = detect_from_input(name, given)[0]
        else:
            command = given.get("command") or given.get("cmd")
            told = _skill_detection_from_command(command, given.get("workdir")) if isinstance(command, str) else None
            found = told[0] if told else None
        if found == case["skill"]:
            return True
    return False
""",
    ),
    "skill-lab": Judge(
        package="skill-lab==0.7.0",
        gets="the file",
        hosts=("claude", "codex"),
        forms=("stream",),
        code="""
from pathlib import Path
from skill_lab.runtimes.claude_runtime import ClaudeRuntime
from skill_lab.runtimes.codex_runtime import CodexRuntime
from skill_lab.triggers.trace_analyzer import TraceAnalyzer
RUNTIMES = {"claude": ClaudeRuntime, "codex": CodexRuntime}
def judge(case):
    events = list(RUNTIMES[case["host"]]().parse_trace(Path(case["path"])))
    return TraceAnalyzer(events).skill_was_triggered(case["skill"])
""",
    ),
}
# The official script starts `claude`; this one prints the stream, with the name that the script gave to its copy.
_STUB = """#!{python}
import os, pathlib, sys
made = [path.stem for path in pathlib.Path(".claude/commands").glob("*.md")]
text = pathlib.Path(os.environ["STREAM"]).read_text()
skill = os.environ["SKILL"]
sys.stdout.write(text.replace(skill, made[0]) if made else text)
"""


def cases() -> list[dict[str, Any]]:
    """Return the captured cases with the path of each and its calls."""
    rows = [json.loads(line) for line in (CAPTURED / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["path"] = str(CAPTURED / row["transcript"])
        run = read_transcript(row["path"])
        row["calls"] = [[call.name, dict(call.arguments)] for call in run.calls]
        row["ours"] = verdict_of(run, skill=row["skill"], query=row["query"]).verdict
    return rows


def ask(judge: Judge, rows: list[dict[str, Any]]) -> list[bool]:
    """Return the answers of one judge.

    Raises:
        RuntimeError: it cannot be installed here, or it failed.
    """
    python = installed(judge.package, judge.python, PLACE) / "python"
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    done = subprocess.run(  # a judge, in its own environment
        [str(python), "-c", judge.code + _ASK], input=lines, capture_output=True, text=True, check=False, cwd=PLACE
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-500:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def ask_official(folder: str, rows: list[dict[str, Any]]) -> list[bool]:
    """Return the answers of the official script on streams of Claude Code."""
    code = (
        "import os, sys\nfrom scripts.run_eval import run_single_query\n"
        "print(run_single_query('q', os.environ['SKILL'], 'd', 30, os.getcwd()))"
    )
    answers = []
    with tempfile.TemporaryDirectory() as place:
        stub = Path(place, "claude")
        stub.write_text(_STUB.format(python=sys.executable), encoding="utf-8")
        stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
        for row in rows:
            environment = {
                "PATH": f"{place}:{os.environ['PATH']}",
                "PYTHONPATH": folder,
                "HOME": place,
                "SKILL": row["skill"],
                "STREAM": row["path"],
            }
            done = subprocess.run(  # the script, with a `claude` of ours
                [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=place, env=environment
            )
            answers.append(done.stdout.strip() == "True")
    return answers


def row_of(name: str, version: str, gets: str, asked: list[dict[str, Any]], answers: list[bool]) -> str:
    """Return the row of a judge that answers yes or no."""
    decided = [(row, answer) for row, answer in zip(asked, answers, strict=True) if row["verdict"] in _DECIDED]
    missed = sum(row["verdict"] == "triggered" and not answer for row, answer in decided)
    false = sum(row["verdict"] == "not_triggered" and answer for row, answer in decided)
    right = len(decided) - missed - false
    return (
        f"| {name} | {version} | {gets} | {len(asked)} | {right} of {len(decided)} | {missed} | {false} "
        f"| none of {len(asked) - len(decided)} |"
    )


def table() -> str:
    """Ask every judge, and return the table."""
    rows = cases()
    decided = [row for row in rows if row["verdict"] in _DECIDED]
    wrong = [row for row in decided if row["ours"] != row["verdict"]]
    others = [row for row in rows if row["verdict"] not in _DECIDED]
    missed = sum(row["verdict"] == "triggered" for row in wrong)
    known = sum(row["ours"] == row["verdict"] for row in others)
    right = len(decided) - len(wrong)
    ours = (
        f"| `prowess eval judge` | this one | the file | {len(rows)} | {right} of {len(decided)} | {missed} "
        f"| {len(wrong) - missed} | {known} of {len(others)} |"
    )
    lines = [
        f"Run on {dt.datetime.now(dt.UTC).date().isoformat()} over {len(rows)} captured transcripts.",
        "",
        "| judge | version | gets | transcripts | right | missed | false alarms | polluted, not offered, error |",
        "|" + "---|" * 8,
        ours,
    ]
    absent = []
    for name, judge in JUDGES.items():
        asked = [row for row in rows if row["host"] in judge.hosts and row["form"] in judge.forms]
        try:
            answers = ask(judge, asked)
        except RuntimeError as fault:
            print(f"{name}: not asked, {fault}")
            absent.append(name)
            continue
        lines.append(row_of(name, judge.package.rpartition("==")[2], judge.gets, asked, answers))
    if folder := os.environ.get("SKILL_CREATOR"):
        asked = [row for row in rows if (row["host"], row["form"]) == ("claude", "stream")]
        answers = ask_official(folder, asked)
        lines.append(row_of("skill-creator `run_eval.py`", "2026-07-01", "the stream", asked, answers))
    else:
        absent.append("skill-creator `run_eval.py`")
    return "\n".join([*lines, *(["", f"Not run here: {', '.join(absent)}."] if absent else [])])


def main() -> int:
    """Write the page."""
    written = _TABLES.sub(lambda match: f"{match[1]}{table()}\n{match[2]}", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(wrapped(written), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
