"""`prowess read`: one file of one skill, byte for byte, and never a file of anything else."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

import click

from prowess._internal.contained import ContainedRoot, check_relative
from prowess._internal.terminal_text import printable
from prowess.cli import exit_codes, output
from prowess.cli.catalog_options import catalog_options, open_catalog
from prowess.errors import NotAFileError, ResourceNotFoundError, UnavailableError

if TYPE_CHECKING:
    from prowess._internal.contained import OpenedFile
    from prowess.catalog import SkillEntry

_PART = 1 << 20
_MOST_ENTRIES = 50
_LEFT_OUT = ".git"  # belongs to no digest, so to no skill


@click.command()
@click.argument("name")
@click.argument("path")
@catalog_options
def command(  # noqa: PLR0917 -- click passes options by name
    name: str,
    path: str,
    roots: tuple[str, ...],
    plugins: tuple[str, ...],
    trust_project: bool,  # noqa: FBT001 -- click passes options by name
    quiet: bool,  # noqa: FBT001 -- as trust_project
) -> int:
    """Print the file PATH of the skill NAME.

    A pipe gets the exact bytes; on a terminal, control characters are escaped. PATH is relative to the skill's
    directory. Links, other skills and everything outside are refused.

    \b
    Example:
      prowess read csv-report SKILL.md --root examples/skills
    """  # noqa: D301 -- click looks for the character itself
    entry = open_catalog(roots, plugins, trust_project=trust_project, quiet=quiet).get(name)
    try:
        _print(entry, path)
    except FileNotFoundError:
        raise ResourceNotFoundError(entry.name, path, _suggestions(entry, path)) from None
    except PermissionError as fault:
        raise UnavailableError(f"{path!r} of skill {entry.name!r} ({fault.strerror})") from fault
    return exit_codes.OK


def _print(entry: SkillEntry, path: str) -> None:
    if _LEFT_OUT in check_relative(path):
        raise FileNotFoundError(path)
    with ContainedRoot(entry.root_dir) as root:
        try:
            opened = root.open(path)
        except IsADirectoryError:
            raise NotAFileError(entry.name, path, _holds(root, path)) from None
        with opened as file:
            if sys.stdout.isatty():
                _show(file)
                return
            at = 0
            while (part := file.read(_PART, at)) and output.raw_bytes(part):
                at += len(part)


def _show(file: OpenedFile) -> None:
    """Print a file to a terminal, which must not act on what stands in it; bytes that are no UTF-8 are escapes too."""
    decoder = getincrementaldecoder("utf-8")("backslashreplace")
    at = 0
    while part := file.read(_PART, at):
        at += len(part)
        output.raw(printable(decoder.decode(part)))
    output.raw(printable(decoder.decode(b"", final=True)))


def _holds(root: ContainedRoot, path: str) -> tuple[str, ...]:
    names = [f"{name}/" if kind == "directory" else name for name, kind in root.entries(path) if name != _LEFT_OUT]
    more = (f"and {len(names) - _MOST_ENTRIES} more",) if len(names) > _MOST_ENTRIES else ()
    return (*names[:_MOST_ENTRIES], *more)


def _suggestions(entry: SkillEntry, path: str) -> tuple[str, ...]:
    # Imported here: only a wrong path pays for it.
    from prowess._internal.tree_digest import read_tree
    from prowess.catalog.match import close_names

    paths = {file.path: file.path for file in read_tree(entry.root_dir).files}
    by_name = {path.rpartition("/")[2]: path for path in reversed(paths)}
    found = [*close_names(path, paths), *(by_name[name] for name in close_names(path.rpartition("/")[2], by_name))]
    return tuple(dict.fromkeys(found))[:3]
