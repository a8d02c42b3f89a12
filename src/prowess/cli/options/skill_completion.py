"""Shell completion of skill names and script paths.

A shell inserts the chosen word and prints descriptions unchanged. So words with characters that are special in a shell
are not offered, and a description is one printable line.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.catalog import Catalog
from prowess.cli.options.catalog_options import ViewerOptions, is_path
from prowess.errors import SkillError
from prowess.format.reading import read_skill

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

# special characters of shells; a comma separates the fields of a completion
_SIGNS = re.compile(r"""[\s"'`$\\;&|<>()*?\[\]{}~#!^=,]""")


def complete_skill(context: click.Context, parameter: click.Parameter, text: str) -> list[CompletionItem]:
    """Complete a skill's name or path."""
    del parameter
    from click.shell_completion import CompletionItem  # Imported here because only shell completion needs it.

    if is_path(text):
        return [CompletionItem(text, type="dir")]
    with suppress(SkillError):
        entries = [entry for entry in _offered(context).entries(prefix=text) if _is_plain(entry.name)]
        return [CompletionItem(entry.name, help=printable_line(entry.description)) for entry in entries]
    return []


def complete_script(context: click.Context, parameter: click.Parameter, text: str) -> list[CompletionItem]:
    """Complete a script of the skill given before it, by its path or its path inside `scripts`."""
    del parameter
    from click.shell_completion import CompletionItem  # imported here for the same reason

    name = str(context.params["name"])
    with suppress(SkillError):
        skill = read_skill(name) if is_path(name) else _offered(context).skill(name)
        paths = [file.path for file in skill.resources if file.kind == "script"]
        paths += [path.partition("/")[2] for path in paths]
        return [CompletionItem(path) for path in paths if path.startswith(text) and _is_plain(path)]
    return []


def _is_plain(word: str) -> bool:
    return word.isprintable() and not word.startswith("-") and _SIGNS.search(word) is None


def _offered(context: click.Context) -> Catalog:
    given = context.params
    viewer = ViewerOptions(**{name: given.get(name) for name in ViewerOptions.__struct_fields__}).keywords()
    if roots := given.get("roots"):
        return Catalog(*roots, **viewer)
    return Catalog.discover(
        plugins=given.get("plugins") or (), trust_project=bool(given.get("trust_project")), **viewer
    )
