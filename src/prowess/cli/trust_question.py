"""The question whether to trust a project, asked on a terminal before a command uses the catalog.

A command asks once about a project that is neither trusted nor refused, after a table of what the project would offer.
Both answers are stored. A command never asks if one of its streams is no terminal: a program that reads the output, or
that drives a session, must not be able to answer for a person.
"""

from __future__ import annotations

import os
import sys
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.text.terminal_text import counted, cut, printable_line
from prowess.catalog.ownership import SKILL_FOLDERS, project_root, stranger_in_project
from prowess.catalog.project import project_directories
from prowess.catalog.trust import TrustStore
from prowess.cli import output
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.catalog import Catalog, SkillEntry

_MOST_SKILLS = 30
_MOST_NAMES = 5
_LONGEST = 500  # characters of a text that is cut to the width of the terminal
_ATTEMPTS = 3
_YES, _NO = frozenset({"y", "yes"}), frozenset({"", "n", "no"})


def asked_about_project(catalog: Catalog, with_project: Callable[[], Catalog]) -> bool | None:
    """Ask whether to trust the project of the working directory, and store the answer.

    `catalog` is the catalog without the project's skills; `with_project` returns the one with them. Returns None if
    there is nothing to ask, or if the person gave no answer.
    """
    try:
        here = os.getcwd()
    except OSError:
        return None  # it was deleted, so there is no project
    if not any(
        os.path.isdir(f"{directory}/{folder}") for directory in project_directories(here) for folder in SKILL_FOLDERS
    ):
        return None
    project, store = project_root(here), TrustStore()
    if store.problem is not None or store.is_trusted(project) or store.is_refused(project):
        return None
    if stranger_in_project(project) is not None:
        return None  # it cannot be trusted; a notice states the reason
    listed = {entry.root_dir for entry in catalog.all_entries()}
    offered = [entry for entry in with_project().all_entries() if entry.root_dir not in listed]
    if not offered:
        return None
    output.raw_note("".join(f"{line}\n" for line in _table(project, offered)))
    answer = _answer()
    if answer is None:
        output.note("not decided; this question comes again")
        return None
    try:
        (store.trust if answer else store.refuse)(project)
    except OSError as fault:
        output.note(printable_line(f"the answer cannot be stored: {fault.strerror or fault}"))
        return None
    shown = printable_line(project)
    undo = f"prowess trust --revoke {shown}" if answer else f"prowess trust {shown}"
    output.note(f"{'trusted' if answer else 'not trusted'}; to change the answer: {undo}")
    return answer


def _answer() -> bool | None:
    """Return the answer, or None at the end of input or after answers that are neither yes nor no.

    What was typed before the question is dropped: a pasted text must not answer a question that nobody has read.
    """
    _drop_typed()
    for _ in range(_ATTEMPTS):
        output.raw_note("Trust this project and offer its skills to models that act for you? [y/N] ")
        line = sys.stdin.readline()
        if not line:
            output.raw_note("\n")
            return None
        if (said := line.strip().lower()) in _YES | _NO:
            return said in _YES
        output.note("please answer y or n")
    return None


def _drop_typed() -> None:
    if os.name == "posix":
        import termios  # Imported here: Windows does not have it.

        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _table(project: str, entries: Sequence[SkillEntry]) -> Iterator[str]:
    width = max(get_terminal_size().columns, 20)
    # The path is never cut: it is what the answer is about.
    yield printable_line(f"The project {project} offers {counted(len(entries), 'skill')}:")
    for entry in entries[:_MOST_SKILLS]:
        text = f"  {entry.name}: {' '.join(entry.written_description[:_LONGEST].split())}"
        yield cut(printable_line(text), width)
        facts = {"scripts": _scripts(entry), "tools": _tools(entry), "hooks": _hooks(entry)}
        for what, names in facts.items():
            if names:
                more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
                shown = ", ".join(name[:_LONGEST] for name in names[:_MOST_NAMES])
                yield cut(printable_line(f"    {what}: {shown}{more}"), width)
    if len(entries) > _MOST_SKILLS:
        yield f"  and {len(entries) - _MOST_SKILLS} more"


def _scripts(entry: SkillEntry) -> list[str]:
    try:
        with ContainedRoot(entry.root_dir) as root:
            return [name for name, _ in root.entries("scripts")]
    except (OSError, UnsafePathError):
        return []


def _tools(entry: SkillEntry) -> list[str]:
    written = entry.properties.get("allowed-tools")
    tools = written if isinstance(written, list) else [written]
    return [str(tool) for tool in tools if tool]


def _hooks(entry: SkillEntry) -> list[str]:
    return sorted({str(hook.event) for hook in entry.extended.hooks.entries})
