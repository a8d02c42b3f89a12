"""`prowess add`: another name of `prowess install`."""

from __future__ import annotations

import click

from prowess.cli.commands import install

command = click.Command(
    "add",
    callback=install.command.callback,
    params=install.command.params,
    help=(install.command.help or "").replace("prowess install", "prowess add"),
)
