"""`prowess pack`: writes one skill as an archive whose bytes depend on its files alone."""

from __future__ import annotations

import os

import click

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.text.canonical_json import sha256_of
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.distribution.publishing.package import read_package
from prowess.distribution.publishing.packing import ArchiveForm, pack

_FORMS: tuple[ArchiveForm, ...] = ("tar.gz", "zip")


@click.command()
@click.argument("path", type=click.Path())
@click.option("-o", "--output", "file", metavar="FILE", help="Write this file; defaults to NAME-VERSION.tar.gz.")
@click.option("--format", "form", type=click.Choice(_FORMS), help="Defaults to the ending of FILE, or else tar.gz.")
@click.option("--compress", is_flag=True, help="Compress; the bytes then depend on this machine's compression library.")
@json_option
def command(*, path: str, file: str | None, form: ArchiveForm | None, compress: bool, as_json: bool) -> int:
    """Pack the skill at PATH into one archive, with SKILL.md at its root.

    The same files give the same bytes on every system and every Python: entries are sorted, have no times and no
    owners, and are stored without compression. --compress gives this up for a smaller file. A skill with links or
    special files is refused. `prowess publish` checks a skill; this command only packs it.

    \b
    Example:
      prowess pack examples/skills/csv-report -o csv-report.tar.gz
    """  # noqa: D301 -- click needs the control character
    package = read_package(path)
    chosen = form or ("zip" if file is not None and file.endswith((".zip", ".skill")) else "tar.gz")
    data = pack(package.contents.files, chosen, compress=compress)
    target = file or f"{package.stem.replace('/', '-')}.{chosen}"
    write_atomically(os.path.abspath(target), data, 0o644)
    files = package.contents.files
    if as_json:
        output.document(
            {
                "name": package.name,
                "version": package.version,
                "path": os.path.abspath(target),
                "format": chosen,
                "artifact": sha256_of(data),
                "tree": package.contents.tree,
                "files": len(files),
                "bytes": len(data),
                "reproducible": not compress,
            }
        )
        return exit_codes.OK
    output.line(f"Packed {printable_line(package.stem)} into {output.shown_path(os.path.abspath(target))}.")
    output.line(f"{counted(len(files), 'file')}, {counted(len(data), 'byte')}, {sha256_of(data)}")
    if compress:
        output.note("compressed: another machine may write other bytes for the same files")
    return exit_codes.OK
