"""`prowess read-properties`: prints the properties of one skill as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from prowess.cli import exit_codes, output
from prowess.cli.options.profile_names import completing_names, require_profile
from prowess.compat.skills_ref import outcomes
from prowess.compat.skills_ref.parser import located
from prowess.errors import SkillParseError
from prowess.format import PROFILES, read_skill
from prowess.format.limits import FIELDS

if TYPE_CHECKING:
    from prowess.format import Skill

REFERENCE = "skills-ref"


@click.command("read-properties")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--profile",
    metavar="P",
    help=f"Profile to read the skill by: {', '.join(PROFILES)}.",
    shell_complete=completing_names(PROFILES),
)
@click.option("--json-full", is_flag=True, help="Print all data, with body, location, digest and findings.")
def command(*, path: Path, profile: str | None, json_full: bool) -> int:
    """Print the properties of one skill as JSON, byte for byte as the reference tool.

    PATH is a skill or its SKILL.md. With --profile, the skill must load in that profile. --json-full prints all data;
    for a skill that does not load, it prints {"loads": false, "diagnostics": [...]} and exits with 1.

    Example: prowess read-properties examples/skills/csv-report --json-full
    """
    if profile is not None:
        require_profile(profile)
    if profile is None and not json_full:
        return output.answer(outcomes.properties(path))
    directory = located(outcomes.skill_directory(path))
    try:
        skill = read_skill(directory, profile=profile or REFERENCE)
    except SkillParseError as fault:
        if not json_full:
            return output.answer(outcomes.failure(fault))
        from prowess.report.json_report import diagnostic_object  # Imported here because only `--json-full` needs it.

        output.document({"loads": False, "diagnostics": [diagnostic_object(found) for found in fault.diagnostics]})
        return exit_codes.FAILED
    output.document(everything(skill) if json_full else known_properties(skill))
    return exit_codes.OK


def known_properties(skill: Skill) -> dict[str, object]:
    """Return the six fields of the specification as the profile reads them."""
    properties = skill.frontmatter.properties()
    return {key: properties[key] for key in FIELDS if key in properties}


def everything(skill: Skill) -> dict[str, object]:
    """Return all data of the skill, as printed by `--json-full`.

    `allowed_tools` is null if the key is absent, which restricts no tool. `metadata_raw` has nested values as written.
    `extended` has the fields beyond the specification, typed. `manifest` is the content of `skill.manifest.yaml`.
    `digest` is null if the directory has none.
    """
    from prowess.report.json_report import diagnostic_object  # Imported here because only `--json-full` needs it.

    fields = skill.frontmatter
    return {
        "loads": True,
        "name": skill.name,
        "description": skill.description,
        "license": fields.license,
        "compatibility": fields.compatibility,
        "allowed_tools": None if fields.allowed_tools is None else list(map(str, fields.allowed_tools)),
        "metadata": dict(fields.metadata),
        "metadata_raw": dict(fields.metadata_raw),
        "extended": fields.extended.as_dict(),
        "manifest": skill.sidecar.as_dict(),
        "body": skill.body,
        "location": skill.location,
        "digest": skill.digest,
        "diagnostics": [diagnostic_object(found) for found in skill.diagnostics],
    }
