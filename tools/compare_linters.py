"""Compare other linters with `prowess check` on the public skills, and write the differences to a page.

    python -m tools.compare_linters FOLDER run [PEER]... [--raw DIR]
    python -m tools.compare_linters FOLDER page [--raw DIR] [--list KIND PEER]

`run` runs `prowess check` and the peers over FOLDER, made by `python -m tools.public_skills build FOLDER`, and stores
their findings in DIR (.cache/peers/said). `page` reads them and tools/peers/linter_kinds.toml, which maps the rules of
the tools to kinds of fault, and writes docs/reference/compared.md. Two tools agree on a skill if both find a fault of
that kind in it. The file of kinds must give a reason for findings that only a peer has; otherwise `page` exits with 1.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools import public_skills
from tools.hand_check import false_findings
from tools.peers.linters import PEERS, Run, Said, environment, prowess
from tools.wrap_pages import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOT = Path(__file__).resolve().parent.parent
_KINDS = _ROOT / "tools" / "peers" / "linter_kinds.toml"
_PAGE = _ROOT / "docs" / "reference" / "compared.md"
_BY_HAND = "<!-- The rest of the page is written by hand and kept when the page is generated again. -->\n"
_OURS = "prowess"
_ABOUT = """\
This page compares the findings of `prowess check` and of four other tools on the same {count} public skills, from
{repositories} repositories and {packages} packages. The skills are pinned by commit and digest in
[a list](../../tests/compat/public-skills.json). Each tool ran with its default settings, Prowess in the profile `spec`;
infos are included. Numbers are skills with at least one fault of that kind; they do not show which tool is right. If
another tool finds a kind of fault in skills in which Prowess does not, "Found by a peer and not by us" gives the
reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault: which rules of which tool mean it, as `id` or `id ~ pattern of the message`."""

    name: str
    rules: Mapping[str, list[str]]
    argued: Mapping[str, str]

    def means(self, tool: str, said: Said) -> bool:
        """Whether this finding is of this kind."""
        for rule in self.rules.get(tool, ()):
            name, _, pattern = rule.partition(" ~ ")
            if re.fullmatch(name, said.rule) and (not pattern or re.search(pattern, said.message)):
                return True
        return False


def kinds(path: Path = _KINDS) -> list[Kind]:
    """The kinds of the file, in its order."""
    result = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["kind"]:
        rules = {tool: entry[tool] for tool in (_OURS, *PEERS) if tool in entry}
        result.append(Kind(name=entry["name"], rules=rules, argued=entry.get("argued", {})))
    return result


def by_kind(tool: str, said: list[Said], known: list[Kind]) -> dict[str, set[str]]:
    """The skills in which the tool finds each kind; a rule that no kind names is a kind of its own."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in said:
        name = next((kind.name for kind in known if kind.means(tool, one)), f"`{one.rule}` of {tool}")
        found[name].add(one.skill)
    return dict(found)


def run(folder: Path, names: list[str], raw: Path) -> int:
    """Run the tools and keep what they said; 1 where ours failed on anything."""
    sources = public_skills.pinned()
    if different := public_skills.verify(folder, sources):
        raise SystemExit(f"not the skills of the list: {', '.join(different[:5])}")
    skills = public_skills.skill_directories(folder, sources)
    raw.mkdir(parents=True, exist_ok=True)
    status = 0
    for name in names or [_OURS, *PEERS]:
        try:
            if name == _OURS:
                done = prowess(Path(sys.executable).parent, folder, skills)
                status = int(bool(done.failed))
            else:
                done = PEERS[name].run(environment(PEERS[name], _ROOT / ".cache" / "peers"), folder, skills)
        except RuntimeError as fault:
            print(f"{name}: skipped, {fault}")
            continue
        kept = {"seconds": done.seconds, "failed": done.failed, "said": [asdict(one) for one in done.said]}
        (raw / f"{name}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=0), encoding="utf-8")
        print(f"{name}: {len(done.said)} findings in {done.seconds:.0f} s", *done.failed, sep="\n  ", flush=True)
    return status


def kept(raw: Path) -> dict[str, Run]:
    """What the tools said when they last ran."""
    result = {}
    for name in (_OURS, *PEERS):
        path = raw / f"{name}.json"
        if path.exists():
            entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            said = [Said(**one) for one in entry["said"]]
            result[name] = Run(said=said, seconds=entry["seconds"], failed=entry["failed"])
    return result


def page(runs: Mapping[str, Run], known: list[Kind]) -> tuple[str, list[str]]:
    """The text of the page, and the kinds that are neither found by us nor argued."""
    tools = {name: by_kind(name, done.said, known) for name, done in runs.items()}
    peers = [name for name in tools if name != _OURS]
    order = [kind.name for kind in known]
    others = sorted({name for found in tools.values() for name in found} - set(order))
    sources = public_skills.pinned()
    count = sum(len(source.skills) for source in sources)
    repositories = sum(not source.wheel for source in sources)
    lines = [
        "# Comparison with other linters",
        "",
        "Generated by `python -m tools.compare_linters FOLDER page`.",
        "",
        _ABOUT.format(count=count, repositories=repositories, packages=len(sources) - repositories),
        "",
        "| tool | version | findings | skills with findings | failed runs |",
        "|---|---|---|---|---|",
    ]
    for name, done in runs.items():
        version = "this one" if name == _OURS else PEERS[name].package.partition("==")[2]
        skills = len({one.skill for one in done.said})
        lines.append(f"| {name} | {version} | {len(done.said)} | {skills} | {len(done.failed)} |")
    lines += _by_rule(runs[_OURS])
    lines += ["", "## Kinds of fault", "", f"| kind | {' | '.join(tools)} |", "|---|" + "---|" * len(tools)]
    for name in [*order, *(other for other in others if f" of {_OURS}" in other)]:
        counts = [len(found.get(name, ())) for found in tools.values()]
        if any(counts):
            lines.append(f"| {name} | {' | '.join(str(number or '') for number in counts)} |")
    lines += ["", "## Found by a peer and not by us", "", "| kind | peer | skills | why |", "|---|---|---|---|"]
    open_kinds = []
    reasons = {kind.name: kind.argued for kind in known}
    for name in [*order, *others]:
        for peer in peers:
            more = tools[peer].get(name, set()) - tools[_OURS].get(name, set())
            if not more:
                continue
            reason = reasons.get(name, {}).get(peer, reasons.get(name, {}).get("all", ""))
            if not reason:
                open_kinds.append(f"{name}: {peer}, {len(more)} skills")
            lines.append(f"| {name} | {peer} | {len(more)} | {reason or 'open'} |")
    lines += ["", "## Found by us and not by a peer", "", f"| kind | {' | '.join(peers)} |"]
    lines.append("|---|" + "---|" * len(peers))
    for name in [*order, *(other for other in others if f" of {_OURS}" in other)]:
        ours = tools[_OURS].get(name, set())
        counts = [len(ours - tools[peer].get(name, set())) for peer in peers]
        if any(counts):
            lines.append(f"| {name} | {' | '.join(str(number or '') for number in counts)} |")
    return "\n".join(lines) + "\n", open_kinds


def _by_rule(ours: Run) -> list[str]:
    """The table of our findings by rule."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in ours.said:
        found[one.severity, one.rule].append(one.skill)
    lines = ["", "## Our findings by rule", "", "| rule | severity | findings | skills |", "|---|---|---|---|"]
    for (severity, rule), skills in sorted(found.items(), key=lambda row: (row[0][0], -len(row[1]))):
        lines.append(f"| `{rule}` | {severity} | {len(skills)} | {len(set(skills))} |")
    false, judged = false_findings()
    return [
        *lines,
        "",
        f"Two readers judged {judged} randomly drawn errors and warnings independently of each other. At least one",
        f"reader called {len(false)} of them false. [A list](../../tests/compat/hand-check.json) has the ids and",
        "reasons; `python -m tools.hand_check` draws and counts.",
    ]


def _list(runs: Mapping[str, Run], known: list[Kind], name: str, peer: str) -> None:
    ours = by_kind(_OURS, runs[_OURS].said, known).get(name, set())
    matching = [kind for kind in known if kind.name == name]
    for one in runs[peer].said:
        first = next((kind for kind in known if kind.means(peer, one)), None)
        same = first in matching if matching else first is None and f"`{one.rule}` of {peer}" == name
        if same and one.skill not in ours:
            print(f"{one.file}:{one.line} {one.rule} {one.message[:160]}")


def main(arguments: list[str]) -> int:
    """Run the tools, or write the page; 1 where something is neither found nor argued."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare_linters", description="Linters side by side.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", choices=("run", "page"))
    parser.add_argument("peers", nargs="*", help="run these alone")
    parser.add_argument("--raw", type=Path, default=_ROOT / ".cache" / "peers" / "said")
    parser.add_argument("--list", nargs=2, metavar=("KIND", "PEER"), help="show what the peer alone finds, and stop")
    options = parser.parse_args(arguments)
    if options.command == "run":
        return run(options.folder.resolve(), options.peers, options.raw)
    runs, known = kept(options.raw), kinds()
    if options.list:
        _list(runs, known, *options.list)
        return 0
    text, open_kinds = page(runs, known)
    _, mark, kept_text = _PAGE.read_text(encoding="utf-8").partition(f"\n{_BY_HAND}")
    _PAGE.write_text(wrapped(f"{text}{mark}{kept_text}"), encoding="utf-8")
    print(*open_kinds, sep="\n")
    return int(bool(open_kinds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
