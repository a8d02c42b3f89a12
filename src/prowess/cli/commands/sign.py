"""`prowess sign`: signs skills with a key."""

from __future__ import annotations

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.key_files import read_signing_key
from prowess.cli.options import json_option
from prowess.cli.targets import targets
from prowess.distribution.signatures import sign_skill
from prowess.format.reading import read_skill


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--key", "key_file", required=True, metavar="FILE", help="The private key, in PEM or OpenSSH form.")
@json_option
def command(*, paths: tuple[str, ...], key_file: str, as_json: bool) -> int:
    """Sign skills: write skill.oms.sig into the directory of each.

    PATH is a skill or a folder of skills. The signature covers every file of the skill, name, version and tree digest,
    in the form of OpenSSF Model Signing, so that `model_signing verify key` accepts it too (keys on P-256, P-384 and
    P-521). It replaces the signature that is there.

    \b
    Example:
      prowess key new release.key
      prowess sign skills/csv-report --key release.key
    """  # noqa: D301 -- click needs the control character
    key = read_signing_key(key_file)
    skills = [(target.path, read_skill(target.directory or target.path)) for target in targets(paths)]
    signed = [(path, sign_skill(skill, key)) for path, skill in skills]
    signer = f"key {key.public.fingerprint}"
    if as_json:
        rows = [{"path": path, **to_builtins(one), "signer": signer} for path, one in signed]
        output.document({"signed": rows})
        return exit_codes.OK
    for path, one in signed:
        version = f" {one.version}" if one.version else ""
        output.line(f"signed {output.shown_path(path)}: {printable_line(one.name + version)}, {one.tree}")
    return exit_codes.OK
