"""`prowess approve`: approves one skill, for the policy that asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess._internal.text.canonical_json import is_digest
from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.approvals.shown import confirmed, told
from prowess.cli.approvals.voting import LocalVoting, ballot_of
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.organisation_options import OrganisationOptions, organisation_options_beside_catalog
from prowess.cli.options.session_options import policy_option
from prowess.cli.options.skill_completion import complete_skill
from prowess.cli.organisation.waiting import waits_for_machines
from prowess.execution.interpreters import has_interpreter
from prowess.format.name import normalise
from prowess.governance.approving import VoteRefusedError
from prowess.policy.facts.capabilities import file_facts
from prowess.policy.roles import ROLES

if TYPE_CHECKING:
    from prowess.cli.approvals.shown import ShownApproval, Voting

_OTHERS = "for several people, demand approvals in the policy of the machine, or vote with --store"


@click.command()
@click.argument("name", shell_complete=complete_skill)
@catalog_options
@policy_option
@organisation_options_beside_catalog
@waits_for_machines
@click.option("--digest", metavar="D", help="The digest that you have looked at. Another one is refused.")
@click.option("--reason", metavar="TEXT", help="Why you approve the skill. It is kept with the approval.")
@click.option(
    "--role", type=click.Choice(ROLES), help="The role in which you approve (default: the first of the rule)."
)
@click.option("--until", metavar="DAY", help="The last day of the approval, for example 2026-12-31.")
@click.option("--key", "key_file", metavar="FILE", help="Also sign the approval with this private key.")
@json_option
def command(
    *,
    name: str,
    skills: CatalogOptions,
    policy_file: str | None,
    of: OrganisationOptions,
    digest: str | None,
    reason: str | None,
    role: str | None,
    until: str | None,
    key_file: str | None,
    as_json: bool,
) -> int:
    """Approve the skill NAME, with exactly the files that it has now.

    The approval is written beside the policy file that asks for it, so it needs the right to write there. Any change
    of the skill makes it void. On a terminal, the skill is shown and you are asked.

    Exits with 0 if the vote was written, also if more people have to approve.

    \b
    Example:
      prowess approve csv-report --root examples/skills --reason "reviewed by security"
    """  # noqa: D301 -- click needs the control character
    if digest is not None and not is_digest(digest):
        raise click.BadParameter("write sha256: and 64 lowercase hexadecimal digits", param_hint="--digest")
    ballot = ballot_of("approve", reason, role, until, key_file)
    voting: Voting
    if of.server_url is not None:
        # Imported here because the types of the services take long to import.
        from prowess.cli.organisation.approvals import ServerVoting

        voting = server = ServerVoting(of.in_tenant(skills.tenant))
        asked = server.about(*((normalise(name), digest, None) if digest else _skill_here(skills, name)))
    else:
        voting = local = LocalVoting(policy_file, of, skills)
        asked = _asked_here(local, skills, name, digest, quiet=as_json)
    if not asked:
        output.error(f"no policy asks for an approval of {printable_line(name)}; nothing was written")
        output.note("prowess policy show lists the policy files, prowess why NAME the decision about one skill")
        return exit_codes.FAILED
    waiting = _to_answer(asked, ballot.role, of)
    if not all(confirmed(one, "Approve") for one in waiting):
        output.note("nothing was approved")
        return exit_codes.FAILED
    answered = [voting.vote(one, ballot, "once") if one in waiting else one for one in asked]
    if as_json:
        rows = [one.row for one in answered]
        first_open = next((row for row in rows if row["state"] != "approved"), rows[0])
        output.document({**first_open, "approvals": rows})
        return exit_codes.OK
    for one in answered:
        output.line(told(one.item))
        if one.item.state == "waiting" and one.is_own_file:
            output.note(f"only you can write {output.shown_path(one.place)}; {_OTHERS}")
    return exit_codes.OK


def _asked_here(
    voting: LocalVoting, skills: CatalogOptions, name: str, digest: str | None, *, quiet: bool
) -> list[ShownApproval]:
    """Return the questions about the skill that is here. Raises VoteRefusedError if it has another digest, or none."""
    catalog, name = skills.open_one(name, quiet=quiet)
    entry = catalog.get(name)
    skill = catalog.skill(entry.name, entry.location)
    if skill.digest is None:
        first = skill.manifest.obstacles[0]
        raise VoteRefusedError(f"{name!r} has no digest, because {first!r} is a link or no regular file; replace it")
    if digest is not None and digest != skill.digest:
        raise VoteRefusedError(f"{name!r} has changed: you looked at {digest}, and it is {skill.digest} now")
    return voting.about(entry, catalog)


def _to_answer(asked: list[ShownApproval], role: str | None, of: OrganisationOptions) -> list[ShownApproval]:
    """Return the questions that the vote is about: those that are not approved, or all."""
    waiting = [one for one in asked if one.item.state != "approved"] or asked
    # A rule that does not ask for the given role is left to others; if none asks for it, the vote is refused.
    waiting = [one for one in waiting if role in one.item.roles] or waiting
    if of.given:
        return waiting
    # The rules of an organisation are left to its server.
    return [one for one in waiting if not one.is_of_organisation] or waiting


def _skill_here(skills: CatalogOptions, name: str) -> tuple[str, str, tuple[str, ...] | None]:
    """Return the name, the digest and the capabilities of the skill that is here.

    Raises SkillNotFoundError, and VoteRefusedError if the skill has no digest.
    """
    catalog, name = skills.open_one(name, quiet=True)
    entry = catalog.get(name)
    skill = catalog.skill(entry.name, entry.location)
    if skill.digest is None:
        raise VoteRefusedError(f"{name!r} has no digest here; look at the question, and give its digest with --digest")
    capabilities = file_facts(skill, (), has_interpreter)["capabilities"]
    return normalise(name), skill.digest, capabilities
