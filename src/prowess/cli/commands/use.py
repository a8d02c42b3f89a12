"""`prowess use`: prints the instructions of a skill from a source, without installing it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.files.session_table import first_argument_setting
from prowess._internal.places import prowess_home
from prowess._internal.text.terminal_text import printable_line
from prowess.catalog import Catalog, DirectorySource, Layer
from prowess.cli import exit_codes
from prowess.cli.one_activation import activated, print_instructions
from prowess.cli.options import json_option
from prowess.cli.options.package_options import allow_host_option, quiet_option
from prowess.cli.options.session_options import policy_option
from prowess.cli.packages.installing import skill_requests
from prowess.cli.packages.permission import permission_for
from prowess.distribution.installation.disk.staging import Stage, nothing_changed
from prowess.distribution.installation.fetching import Fetcher
from prowess.distribution.installation.permitted import facts_of
from prowess.distribution.installation.requests import SeveralSkillsError, chosen_offers
from prowess.distribution.installation.signers import Signers
from prowess.distribution.sources import Access
from prowess.errors import SkillNotFoundError

if TYPE_CHECKING:
    from prowess.distribution.installation.requests import SkillRequest
    from prowess.distribution.permission.permission import Permission
    from prowess.distribution.sources import Fetched


@click.command()
@click.argument("source", metavar="SOURCE[@VERSION]")
@click.option("--skill", "name", metavar="NAME", help="Use this skill of SOURCE.")
@click.option("--offline", is_flag=True, help="Contact no host; use only local sources.")
@allow_host_option
@policy_option
@json_option
@quiet_option
def command(
    *,
    source: str,
    name: str | None,
    offline: bool,
    allowed_hosts: tuple[str, ...],
    policy_file: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print the instructions of one skill from SOURCE as `prowess load` does. Nothing is kept, and nothing is run.

    SOURCE is the same as for `prowess install`. The policy applies as it does to an installation, with the signature,
    and so do the rules of a session and the audit log. Files of the skill cannot be read afterwards: install it for
    that.

    \b
    Example:
      prowess use ./skills --skill csv-report
    """  # noqa: D301 -- click needs the control character
    (request,) = skill_requests((source,), () if name is None else (name,))
    with Stage(prowess_home()) as stage:
        try:
            permission = permission_for("packages.install", "none", policy_file)
            access = Access(offline=offline, redirect_hosts=allowed_hosts)
            fetched = _fetched(request, stage, access, permission)
        except SeveralSkillsError as fault:
            raise click.UsageError(printable_line(str(fault))) from fault
        label = fetched.source
        place = DirectorySource(os.path.dirname(fetched.directory), layer=Layer.PLUGIN, label=label, named=True)
        catalog = Catalog(place, index=False)
        if (winner := catalog.get(fetched.name)).root_dir != os.path.realpath(fetched.directory):
            reason = f"{winner.root_dir} of the layer {winner.layer} is used instead"
            raise SkillNotFoundError(fetched.name, (), reason)
        with activated(catalog, fetched.name, policy_file=policy_file, scripts=False) as (session, notices):
            print_instructions(
                catalog,
                session,
                notices,
                first_argument=first_argument_setting(),
                as_json=as_json,
                quiet=quiet,
                expose_location=False,
            )
    return exit_codes.OK


def _fetched(request: SkillRequest, stage: Stage, access: Access, permission: Permission) -> Fetched:
    with Fetcher(stage, access, permission) as fetcher, nothing_changed(stage.home):
        source = fetcher.open(request.reference)
        offers = chosen_offers(request, source.offers(request.reference.version))
        if len(offers) > 1:
            raise SeveralSkillsError(request.reference.source, tuple(offer.name for offer in offers))
        fetched = fetcher.fetch(source, offers[0])
        facts = facts_of(fetched, request.reference, fetched.directory, Signers().verdict(fetched).signer)
        permission.calls.ask(permission.tool, permission.scope, [facts], final=True)
        return fetched
