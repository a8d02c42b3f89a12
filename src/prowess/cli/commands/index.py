"""`prowess index`: builds, checks or removes the index of the catalog."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.catalog.matching.stems import stemmer_name
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.store.index_faults import UnusableIndexError

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.catalog.memo.index import Index

_USABLE = {"built", "updated", "current"}
_WORDS = {"match": "names and descriptions", "bodies": "instructions"}
_NO_STEMS = "words are compared as they are written: pip install 'prowess[match]' compares their stems"

_NO_WORDS = "words are not kept, because a skill is held back or has a scope, or `disabled` is set"


@click.command()
@catalog_options
@click.option("--match", is_flag=True, help="Also keep the words of names and descriptions, for `prowess match`.")
@click.option("--bodies", is_flag=True, help="Also keep the words of instructions, for `prowess match --bodies`.")
@click.option("--rebuild", is_flag=True, help="Read every skill again, and replace the index.")
@click.option("--remove", is_flag=True, help="Delete the index.")
@json_option
def command(*, skills: CatalogOptions, match: bool, bodies: bool, rebuild: bool, remove: bool, as_json: bool) -> int:
    """Bring the index of these sources up to date, and show its state.

    The index keeps what reading the skills gave, so that only files that changed are opened. It never changes an
    answer. Commands build it by themselves for large sets of skills; this command builds it for any set, and tells why
    an index was not used or cannot be written.

    \b
    Example:
      prowess index --root examples/skills
    """  # noqa: D301 -- click needs the control character
    if remove and (rebuild or match or bodies):
        raise click.UsageError("--remove excludes --rebuild, --match and --bodies")
    catalog = skills.open(quiet=True)
    index = catalog.index
    if index is None:
        answer: dict[str, object] = _off()
    else:
        try:
            answer = _removed(index) if remove else _refreshed(catalog, index, rebuild=rebuild)
            if answer["state"] in _USABLE and (match or bodies):
                answer = _with_words(catalog, index, answer, match=match, bodies=bodies)
        except UnusableIndexError as fault:
            answer = _answer(index, "unusable", str(fault))
    if as_json:
        output.document(answer)
    else:
        output.line(_line(answer))
        if answer["path"] is not None:
            output.line(output.shown_path(str(answer["path"])))
    return exit_codes.OK


def _off() -> dict[str, object]:
    reason = "--no-index or PROWESS_NO_INDEX switches it off"
    nothing = {"skills": 0, "directories": 0, "bytes": 0, "match": False, "bodies": False}
    return {"state": "off", "reason": reason, "path": None, **nothing, "stemmer": stemmer_name()}


def _removed(index: Index) -> dict[str, object]:
    return _answer(index, "removed" if index.remove() else "missing", None)


def _refreshed(catalog: Catalog, index: Index, *, rebuild: bool) -> dict[str, object]:
    index.least = 0
    if rebuild:
        index.remove()
    catalog.entries()
    reason = index.unwritten or (None if rebuild or index.unread == index.MISSING else index.unread)
    if index.unwritten is not None:
        return _answer(index, "unusable", reason)
    return _answer(index, index.change or ("current" if os.path.exists(index.path) else "unusable"), reason)


def _with_words(
    catalog: Catalog, index: Index, answer: dict[str, object], *, match: bool, bodies: bool
) -> dict[str, object]:
    """Write the words for `prowess match`, and return the answer with the new size and what is to be known of words."""
    useful = [
        catalog.rankings.store(bodies=with_bodies) for with_bodies in (False, True) if (match, bodies)[with_bodies]
    ]
    reason = answer["reason"] if all(useful) else _NO_WORDS
    return _answer(index, str(answer["state"]), None if reason is None else str(reason))


def _answer(index: Index, state: str, reason: str | None) -> dict[str, object]:
    counts = index.counts()
    size = os.path.getsize(index.path) if counts else 0
    numbers = {"skills": counts.get("skills", 0), "directories": counts.get("directories", 0), "bytes": size}
    words = {"match": counts.get("mhead", 0) > 0, "bodies": counts.get("bhead", 0) > 0, "stemmer": stemmer_name()}
    return {"state": state, "reason": reason, "path": index.path, **numbers, **words}


def _line(answer: dict[str, object]) -> str:
    state, reason = answer["state"], answer["reason"]
    skills, directories = int(str(answer["skills"])), int(str(answer["directories"]))
    searched = "1 directory" if directories == 1 else f"{directories} directories"
    size = f"{counted(skills, 'skill')}, {searched}, {answer['bytes']} bytes"
    text = {
        "off": "no index is used",
        "removed": "the index was removed",
        "missing": "there is no index",
        "unusable": "no index is used",
        "built": f"the index was built: {size}",
        "updated": f"the index was updated: {size}",
        "current": f"the index is up to date: {size}",
    }[str(state)]
    kept = " and ".join(name for key, name in _WORDS.items() if answer.get(key))
    if kept:
        stems = "" if answer["stemmer"] else f"; {_NO_STEMS}"
        text = f"{text}, with the words of {kept}{stems}"
    return text if reason is None else f"{text} ({printable_line(str(reason))})"
