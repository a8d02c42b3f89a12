"""`prowess machine unit` and `prowess admin unit`: units of systemd for the two services of an organisation."""

from __future__ import annotations

import os
import re
from importlib import resources

import click

from prowess._internal.own_command import own_command
from prowess.cli import exit_codes, output
from prowess.cli.organisation.shared_store_option import shared_store_option
from prowess.store.tenants import SQLITE

_PLAIN = re.compile(r"[A-Za-z0-9_./:@,=+-]+")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


@click.command(name="unit")
def machine_unit() -> int:
    """Print the unit of systemd that runs `prowess machine run`.

    \b
    Example:
      prowess machine unit | sudo tee /etc/systemd/system/prowess-machine.service
    """  # noqa: D301 -- click needs the control character
    output.raw(_unit("prowess-machine.service", [*own_command(), "machine", "run"]))
    return exit_codes.OK


@click.command(name="unit")
@shared_store_option
@click.option("--public-url", metavar="URL", help="The address that people use, as of `prowess admin serve`.")
@click.option("--user", default="prowess", show_default=True, metavar="NAME", help="The system user that runs it.")
def server_unit(*, url: str, public_url: str | None, user: str) -> int:
    """Print the unit of systemd that runs `prowess admin serve`.

    \b
    Example:
      prowess admin unit --store postgresql:///prowess --public-url https://skills.example.com
    """  # noqa: D301 -- click needs the control character
    if _USER.fullmatch(user) is None:
        raise click.BadParameter("write the name of a system user", param_hint="--user")
    directory = None
    if url.startswith(SQLITE):
        path = os.path.abspath(url.removeprefix(SQLITE))
        url, directory = f"{SQLITE}{path}", os.path.dirname(path)
    command = [*own_command(), "admin", "serve", "--store", url]
    if public_url is not None:
        command += ["--public-url", public_url]
    writable = "" if directory is None else f"ReadWritePaths={_quoted(directory)}\n"
    output.raw(_unit("prowess-server.service", command, USER=user, WRITABLE=writable))
    return exit_codes.OK


def _unit(name: str, command: list[str], **values: str) -> str:
    text = (resources.files("prowess.cli") / "units" / name).read_text(encoding="utf-8")
    for key, value in {"COMMAND": " ".join(map(_quoted, command)).replace("$", "$$"), **values}.items():
        text = text.replace(f"@{key}@", value)
    return text


def _quoted(word: str) -> str:
    """Return a word of a command as systemd reads it. Raises click.UsageError if it has control characters."""
    if not word.isprintable():
        raise click.UsageError("a unit cannot have control characters")
    word = word.replace("%", "%%")
    if _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
