#!/usr/bin/env python3
"""Print a changelog section from the git history between two revisions.

Reads the repository that holds the working directory and writes nothing. Commits are sorted by the conventional form
of their subject, else by its first word; references/SORTING.md has the table.

Exit codes: 0 printed, 1 not a git repository or git failed, 2 wrong command line, 3 a revision does not exist,
4 git is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass

SECTIONS = {
    "Added": ("feat", "add introduce support allow implement create new"),
    "Fixed": ("fix bug", "fix fixes fixed correct repair prevent avoid handle"),
    "Changed": ("perf refactor", "change improve update rename move speed make use replace"),
    "Deprecated": ("deprecate", "deprecate"),
    "Removed": ("remove", "remove drop delete"),
    "Security": ("security", "secure harden"),
}
LEFT_OUT = {"ci", "build", "chore", "test", "tests", "style", "docs"}
BY_TYPE = {word: name for name, (types, _) in SECTIONS.items() for word in types.split()}
BY_WORD = {word: name for name, (_, words) in SECTIONS.items() for word in words.split()}
CONVENTIONAL = re.compile(r"(?P<type>[a-zA-Z]+)(?:\((?P<scope>[^)]+)\))?(?P<breaking>!)?:\s+(?P<subject>.+)")
REVERT = re.compile(r"This reverts commit ([0-9a-f]{7,40})")
MAX_COMMITS = 5000
# A repository's own settings may name programs to run; none of them is wanted here.
GIT = [
    "git", "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
    "-c", "log.showSignature=false", "-c", "color.ui=false",
]  # fmt: skip
# A folder that is mounted from elsewhere belongs to another user, and git refuses it unless told otherwise. Not by
# `-c`: git before 2.38 takes this setting from files alone.
SETTINGS = "[safe]\n\tdirectory = *\n"


class ChangelogError(Exception):
    """A reason to stop; `code` is the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Commit:
    """One commit, sorted."""

    hash: str
    section: str
    scope: str | None
    subject: str
    breaking: bool


def main() -> int:
    """Run the command line; return the exit code."""
    options = _arguments().parse_args()
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".gitconfig") as settings:
            settings.write(SETTINGS)
            settings.flush()
            os.environ.update(GIT_CONFIG_GLOBAL=settings.name, GIT_CONFIG_NOSYSTEM="1", LC_ALL="C.UTF-8")
            report = _report(options)
    except ChangelogError as fault:
        sys.stderr.write(f"changelog.py: {fault}\n")
        return fault.code
    print(json.dumps(report, indent=2, ensure_ascii=False) if options.json else _markdown(report))
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Print a changelog section from the git history.",
        epilog="Example: changelog.py --from v1.2.0 --version 1.3.0",
    )
    parser.add_argument("--repo", default=".", metavar="DIR", help="folder inside the repository (default: .)")
    parser.add_argument("--from", dest="start", metavar="REV", help="after this revision (default: the newest tag)")
    parser.add_argument("--to", dest="end", default="HEAD", metavar="REV", help="up to this revision (default: HEAD)")
    parser.add_argument("--version", default="Unreleased", metavar="NAME", help="heading (default: Unreleased)")
    parser.add_argument("--all", action="store_true", help="also chores, tests, documentation and the like")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    return parser


def _report(options: argparse.Namespace) -> dict:
    repo = options.repo
    _git(repo, "rev-parse", "--git-dir")
    end = _revision(repo, options.end)
    start = _revision(repo, options.start) if options.start else None
    name = options.start
    if start is None:
        name = _git(repo, "describe", "--tags", "--abbrev=0", end, may_fail=True).strip() or None
        if name and _revision(repo, name) == end:  # HEAD is the release itself: what came before it is wanted
            name = _git(repo, "describe", "--tags", "--abbrev=0", f"{end}^", may_fail=True).strip() or None
        start = _revision(repo, name) if name else None
    commits, left_out = _commits(repo, start, end, everything=options.all)
    date = _git(repo, "log", "-1", "--format=%cs", end).strip()
    groups: dict[str, list[dict]] = {}
    for commit in commits:
        entry = {"hash": commit.hash, "scope": commit.scope, "subject": commit.subject}
        groups.setdefault("Breaking" if commit.breaking else commit.section, []).append(entry)
    return {
        "version": options.version,
        "date": date,
        "range": f"{name}..{options.end}" if name else f"everything up to {options.end}",
        "commits": len(commits) + left_out,
        "left_out": left_out,
        "shallow": _git(repo, "rev-parse", "--is-shallow-repository").strip() == "true",
        "sections": {key: groups[key] for key in ("Breaking", *SECTIONS, "Other") if key in groups},
    }


def _git(repo: str, *arguments: str, may_fail: bool = False) -> str:
    try:
        done = subprocess.run([*GIT, "-C", repo, *arguments], capture_output=True, check=False)
    except FileNotFoundError as fault:
        message = "git is not installed here"
        raise ChangelogError(message, 4) from fault
    if done.returncode and not may_fail:
        message = done.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed"
        raise ChangelogError(message, 1)
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")


def _revision(repo: str, name: str) -> str:
    found = _git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", may_fail=True)
    if not found:
        tags = _git(repo, "tag", "--sort=-creatordate").split()[:5]
        known = f"the newest tags are {', '.join(tags)}" if tags else "the repository has no tags"
        message = f"there is no revision {name!r}; {known}"
        raise ChangelogError(message, 3)
    return found.strip()


def _commits(repo: str, start: str | None, end: str, *, everything: bool) -> tuple[list[Commit], int]:
    span = f"{start}..{end}" if start else end
    text = _git(repo, "log", "--no-merges", f"--max-count={MAX_COMMITS}", "-z", "--format=%H%x1f%s%x1f%b", span)
    records = [record.split("\x1f") for record in text.split("\0") if record.strip()]
    reverted = {found[1] for _, _, body in records for found in [REVERT.search(body)] if found}
    kept: list[Commit] = []
    left_out = 0
    for full, subject, body in records:
        cancels = REVERT.search(body)
        inside = cancels and any(other.startswith(cancels[1]) for other, _, _ in records)
        commit = _sort(full, subject, body)
        if inside or any(full.startswith(other) for other in reverted) or (commit is None and not everything):
            left_out += 1
            continue
        kept.append(commit or Commit(full[:7], "Other", None, subject, breaking=False))
    return kept, left_out


def _sort(full: str, subject: str, body: str) -> Commit | None:
    """Return the commit in its section, or None where its type is one that users do not notice."""
    found = CONVENTIONAL.fullmatch(subject)
    breaking = "BREAKING CHANGE:" in body or "BREAKING-CHANGE:" in body
    if found and (found["type"].lower() in BY_TYPE or found["type"].lower() in LEFT_OUT):
        kind = found["type"].lower()
        breaking = breaking or bool(found["breaking"])
        if kind in LEFT_OUT and not breaking:
            return None
        return Commit(full[:7], BY_TYPE.get(kind, "Changed"), found["scope"], found["subject"], breaking=breaking)
    first = subject.partition(" ")[0].lower().strip(":,.")
    return Commit(full[:7], BY_WORD.get(first, "Other"), None, subject, breaking=breaking)


def _markdown(report: dict) -> str:
    note = f"<!-- {report['range']}: {report['commits']} commits, {report['left_out']} left out -->"
    lines = [f"## {report['version']} - {report['date']}", "", note]
    if report["shallow"]:
        lines += ["<!-- shallow clone: older commits are missing -->"]
    if not report["sections"]:
        lines += ["", "No changes that users notice."]
    for name, entries in report["sections"].items():
        lines += ["", f"### {name}"]
        for entry in entries:
            scope = f"**{entry['scope']}:** " if entry["scope"] else ""
            lines.append(f"- {scope}{entry['subject']} ({entry['hash']})")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
