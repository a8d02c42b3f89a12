"""Put the conformance cases to other people's tools, and write the tables of docs/reference/conformance.md.

    python -m tools.conformance_peers              ask every tool, then write the tables
    python -m tools.conformance_peers NAME...      ask these again; the others as they answered last
    python -m tools.conformance_peers page         write the tables from what was answered last

Each tool runs in an environment of its own below .cache/peers, as installed, through `prowess conformance`; what that
printed is kept beside it. A tool that cannot be installed here is left out of the tables, and named.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prowess.conformance import suite
from tools.peers.linters import installed
from tools.wrap_pages import wrapped

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".cache" / "peers"
KEPT = PLACE / "conformance"
PAGE = ROOT / "docs" / "reference" / "conformance.md"
_OURS = Path(sys.executable).parent
_TABLES = re.compile(r"(<!-- table: peers -->\n).*?(<!-- end -->)", re.DOTALL)
_INSTALL_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its package as a requirement, how it is asked, and what has to be said about that.

    `words` is its command line; `{bin}` is where its programs are. `python` is the least version it needs; None means
    that it comes from npm. A package of None is ours.
    """

    words: str
    package: str | None = None
    python: tuple[int, int] | None = (3, 11)
    remark: str = ""

    @property
    def version(self) -> str:
        """The version that is asked."""
        return "this one" if self.package is None else re.split("==|@", self.package)[-1]


TOOLS = {
    "prowess check": Tool(words="{bin}/prowess check --isolated -- {path}", remark="profile `spec`"),
    "prowess validate": Tool(words="{bin}/prowess validate {path}", remark="profile `skills-ref`"),
    "skills-ref": Tool(package="skills-ref==0.1.1", words="{bin}/agentskills validate {path}"),
    "agentskills-tools": Tool(
        package="agentskills-tools==0.7.0", python=(3, 12), words="{bin}/agentskills validate {path}"
    ),
    "agnix": Tool(package="agnix==0.59.3", words="{bin}/agnix {path}"),
    "skillsaw": Tool(
        package="skillsaw==0.22.0",
        words="{bin}/skillsaw lint --type agentskills --no-custom-rules --no-progress --no-baseline {path}",
    ),
    "skilllint": Tool(
        package="skilllint==1.21.4", words="{bin}/skilllint check --no-color {path}", remark="for Claude Code"
    ),
    "skill-check": Tool(
        package="skill-check@1.2.0",
        python=None,
        words="{bin}/skill-check check --no-security-scan --no-open {path}",
        remark="from npm",
    ),
    "ai-skillforge": Tool(package="ai-skillforge==1.0.0", words="{bin}/skillforge validate {path}"),
    "agentskill-toolkit": Tool(package="agentskill-toolkit==0.1.0", words="{bin}/askit lint {path}"),
    "agentskills-ci": Tool(
        package="agentskills-ci==0.1.2",
        words="{bin}/agentskills-ci check --min-score 0 {path}",
        remark="a score; asked with the lowest one allowed",
    ),
}


def binaries(name: str, tool: Tool) -> Path:
    """Return where the tool's programs are, installed once.

    Raises:
        RuntimeError: it cannot be installed here; the text says why.
    """
    if tool.package is None:
        return _OURS
    if tool.python is not None:
        return installed(tool.package, tool.python, PLACE)
    home = PLACE / name
    if not (home / "node_modules" / ".bin" / name).exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(home), tool.package]
        home.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_SECONDS)
        except (OSError, subprocess.SubprocessError) as fault:
            raise RuntimeError(f"{tool.package} cannot be installed: {fault}") from None
    return home / "node_modules" / ".bin"


def put(name: str, tool: Tool) -> None:
    """Ask one tool, and keep what it answered.

    Raises:
        RuntimeError: it cannot be installed here, or the kit itself failed.
    """
    words = tool.words.replace("{bin}", str(binaries(name, tool)))
    command = [str(_OURS / "prowess"), "conformance", "--json", "--timeout", "30", "--jobs", "4", "--command", words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=PLACE)
    if done.returncode not in {0, 1}:
        raise RuntimeError(done.stderr.strip())
    report = json.loads(done.stdout)
    KEPT.mkdir(parents=True, exist_ok=True)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    kept = {"version": tool.version, "date": today, "report": report}
    (KEPT / f"{name}.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")


def tables() -> str:
    """The tables of every tool that has answered the cases as they are now."""
    kept = {name: json.loads(path.read_text()) for name in TOOLS if (path := KEPT / f"{name}.json").exists()}
    kept = {name: entry for name, entry in kept.items() if entry["report"]["suite"]["digest"] == suite().digest}
    reports: dict[str, Any] = {name: entry["report"] for name, entry in kept.items()}
    profiles = list(suite().profiles)
    count = len(suite().cases)
    dates = sorted({entry["date"] for entry in kept.values()})
    lines = [
        f"Run on {' and '.join(dates)}: {count} cases of version {suite().version}, `{suite().digest}`.",
        "",
        "Number of answers that agree with each profile:",
        "",
        *_row("tool", "version", *profiles, "no answer", "remark"),
        "|" + "---|" * (len(profiles) + 4),
    ]
    for name, report in reports.items():
        agrees = [str(report["profiles"][profile]["agrees"]) for profile in profiles]
        lines += _row(name, kept[name]["version"], *agrees, report["summary"]["no_answer"], TOOLS[name].remark)
    topics = [topic for topic in suite().topics if any(topic in report["topics"] for report in reports.values())]
    sizes = {topic: sum(case.topic == topic for case in suite().cases) for topic in topics}
    lines += [
        "",
        "By topic, compared with `spec`: answers that agree; in brackets those wrongly accepted and wrongly rejected:",
        "",
        *_row("tool", *(f"{topic} ({sizes[topic]})" for topic in topics)),
        "|" + "---|" * (len(topics) + 1),
    ]
    for name, report in reports.items():
        lines += _row(name, *(_cell(report["topics"][topic]) for topic in topics))
    lines += ["", "Command for each tool:", "", "```text"]
    lines += [f"{name}: {tool.words.replace('{bin}/', '')}" for name, tool in TOOLS.items() if name in reports]
    missing = [name for name in TOOLS if name not in reports]
    return "\n".join([*lines, "```", *(["", f"Not run here: {', '.join(missing)}."] if missing else [])])


def _row(*cells: object) -> list[str]:
    return [f"| {' | '.join(map(str, cells))} |"]


def _cell(counts: dict[str, int]) -> str:
    wrong = f" ({counts['accepts_wrongly']}, {counts['rejects_wrongly']})"
    return f"{counts['agrees']}{wrong if counts['agrees'] != counts['cases'] else ''}"


def main(arguments: list[str]) -> int:
    """Ask the tools and write the tables; 1 where one could not be asked."""
    failed = 0
    for name in [] if arguments == ["page"] else arguments or list(TOOLS):
        try:
            put(name, TOOLS[name])
        except RuntimeError as fault:
            failed = 1
            print(f"{name}: not asked, {fault}")
        else:
            print(f"{name}: asked")
    written = _TABLES.sub(lambda match: f"{match[1]}{tables()}\n{match[2]}", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(wrapped(written), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
