"""Options of the commands that change or check installed skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli.options import json_option, together
from prowess.distribution.installation.plan import ACCEPTANCES
from prowess.lockfile.lock import LockedTarget

if TYPE_CHECKING:
    from prowess.lockfile.lock import CopyMode

scope_option = click.option(
    "--scope",
    "kind",
    type=click.Choice(("project", "personal")),
    default="project",
    help="The lock of this project (default), or your own lock for all projects.",
)
allow_host_option = click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="HOST",
    help="Another host that a source may lead to, for example the one with a registry's layers. Repeatable.",
)
deployment_key_option = click.option(
    "--key",
    "key_files",
    metavar="FILE",
    multiple=True,
    help="A private key that signs the release. Repeatable; the online key is found by itself if it is at its place.",
)
wait_option = click.option(
    "--wait", is_flag=True, help="With --store or --server: return when the enrolled machines follow; 1 if not in time."
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")


def _accepted(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    del context
    words = [word.strip() for text in given for word in text.split(",") if word.strip()]
    for word in words:
        if word not in ACCEPTANCES:
            raise click.BadParameter(f"{word!r} is none of {', '.join(ACCEPTANCES)}", param=parameter)
    return tuple(dict.fromkeys(words))


accept_option = click.option(
    "--accept",
    "accepted",
    metavar=",".join(ACCEPTANCES),
    multiple=True,
    callback=_accepted,
    help="Accept that skills change in these ways.",
)
change_options = together(scope_option, json_option, quiet_option)


def _complete_target(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    del context, parameter
    from prowess.catalog.other_agents.places import other_agents  # Imported here because only completion needs it.

    return [name for name in other_agents() if name.startswith(text)]


def _targets(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[LockedTarget, ...]:
    del context
    targets: dict[str, LockedTarget] = {}
    modes: dict[str, CopyMode] = {"": "copy", "copy": "copy", "link": "link"}
    for text in given:
        agent, _, mode = text.partition("=")
        if mode not in modes or not agent:
            raise click.BadParameter(f"{text!r}: write AGENT, AGENT=copy or AGENT=link", param=parameter)
        targets[agent] = LockedTarget(agent=agent, mode=modes[mode])
    return tuple(targets.values())


target_option = click.option(
    "--target",
    "targets",
    metavar="AGENT[=copy|link]",
    multiple=True,
    callback=_targets,
    shell_complete=_complete_target,
    help="Also put all installed skills where this agent reads them, now and at each change. Repeatable.",
)
