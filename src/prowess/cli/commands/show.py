"""`prowess show`: shows one skill for reading, or a summary of a folder of skills."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click
from msgspec.structs import asdict

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, ViewerOptions, begins_as_path, viewer_options
from prowess.cli.options.skill_completion import complete_skill
from prowess.cli.policy_effects import effect_at
from prowess.cli.targets import is_folder_of_skills, targets
from prowess.diagnostics import Severity
from prowess.errors import SkillNotFoundError, SkillParseError
from prowess.format.reading import read_skill, validate_skill
from prowess.format.skill import frontmatter_of
from prowess.report.skill_page import SkillCost, SkillPage, TriadSummary, cost_lines

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.skill import Skill

_BOXXY = "boxxy"


@click.command("show")
@click.argument("path", default=".", shell_complete=complete_skill)
@click.option(
    "--theme",
    type=click.Choice(("plain", "trit")),
    default="plain",
    help="trit: show the role of the skill and use its colours.",
)
@viewer_options
@json_option
def command(*, path: str, theme: str, viewer: ViewerOptions, as_json: bool) -> int:
    """Show a skill, with the tokens that each level of it costs a model.

    PATH is a skill, or a name that `prowess list` shows. For a folder of skills, prints a table of costs; with --theme
    trit, the skills that are valid in the profile boxxy, their roles, and whether the roles balance. On a terminal with
    colours, Markdown is rendered if rich is installed (pip install 'prowess[show]'); otherwise the text is plain.

    Example: prowess show examples/skills/csv-report --theme trit
    """
    is_name = _is_copy(path, viewer) or not os.path.exists(path)
    if not is_name and is_folder_of_skills(path):
        return (_roles if theme == "trit" else _costs)(path, as_json=as_json)
    try:
        skill = _skill_named(path, viewer, asks=not as_json) if is_name else read_skill(path)
    except SkillParseError as fault:
        output.error(f"{printable_line(str(fault))}; see prowess check {printable_line(path)}")
        return exit_codes.FAILED
    effect = effect_at(skill.root_dir)
    page = SkillPage(skill=skill, policy=None if effect is None else str(effect))
    roles = theme == "trit"
    if as_json:
        output.document({**page.as_dict(), **({} if effect is None else {"policy": effect})})
    elif (text := _drawn(page, roles=roles)) is not None:
        output.raw(text)
    else:
        output.raw("".join(f"{line}\n" for line in page.lines(roles=roles, width=output.width())))
    return exit_codes.OK


def _options(viewer: ViewerOptions) -> CatalogOptions:
    return CatalogOptions(roots=(), plugins=(), trust_project=False, quiet=False, **asdict(viewer))


def _is_copy(name: str, viewer: ViewerOptions) -> bool:
    """Whether `name` is the skill `plugin/name` or `name@plugin` of a package or plugin."""
    is_qualified = ("/" in name or "@" in name) and not begins_as_path(name)
    return is_qualified and _options(viewer).open(quiet=True, one=True).knows_copy(name)


def _skill_named(name: str, viewer: ViewerOptions, *, asks: bool) -> Skill:
    """Return the skill with this name. A word with a separator is a name only as `plugin/name`.

    Raises:
        click.UsageError: there is no such file or skill.
        SkillParseError: the skill cannot be read, or differs from the record of its package.
    """
    if os.sep in name and not _is_copy(name, viewer):
        raise click.UsageError(f"{name!r} does not exist")
    try:
        return _options(viewer).open(one=True, asks=asks).skill(name)
    except SkillNotFoundError as fault:
        raise click.UsageError(
            f"{printable_line(name)!r} does not exist here, and {printable_line(str(fault))}"
        ) from fault


def _drawn(page: SkillPage, *, roles: bool) -> str | None:
    """Return the page as rendered by rich, or None if output is not coloured or rich is not installed."""
    if not output.is_coloured(sys.stdout):
        return None
    try:
        from prowess.cli.rich_page import drawn  # Imported here because rich is optional and only used on a terminal.
    except ImportError:
        return None
    return drawn(page, roles=roles, width=shutil.get_terminal_size().columns)


def _costs(path: str, *, as_json: bool) -> int:
    costs: list[SkillCost] = []
    broken: list[dict[str, str]] = []
    for target in targets((path,)):
        try:
            costs.append(SkillCost.of(read_skill(target.directory or target.path), target.path))
        except SkillParseError as fault:
            broken.append({"path": target.path, "message": str(fault)})
    if as_json:
        total = asdict(SkillCost.total(costs, path))
        output.document({"skills": [asdict(cost) for cost in costs], "total": total, "broken": broken})
    else:
        for line in cost_lines(costs, path, output.width()):
            output.line(line)
        for one in broken:
            output.note(printable_line(f"not counted: {one['message']}; see prowess check {one['path']}"))
    return exit_codes.FAILED if broken else exit_codes.OK


def _roles(path: str, *, as_json: bool) -> int:
    names: list[str] = []
    invalid: list[tuple[str, Diagnostic]] = []
    for target in targets((path,)):
        document = target.read()
        found = [one for one in validate_skill(document, profile=_BOXXY) if one.severity is Severity.ERROR]
        if found:
            where = os.path.dirname(document.path or "") or path
            invalid += [(where, one) for one in found]
        else:
            names.append(frontmatter_of(document).name)
    broken = dict.fromkeys(where for where, _ in invalid)
    summary = TriadSummary.of(names)
    if as_json:
        faults = [{"path": where, "rule": one.rule, "message": one.message} for where, one in invalid]
        output.document({"valid": len(names), "invalid": len(broken), "messages": faults, **summary.as_dict()})
    else:
        output.raw("".join(f"{line}\n" for line in summary.lines(_coloured)))
        for _, one in invalid:
            output.line(f"{printable_line(str(one.location))} {one.rule}  {printable_line(one.message)}")
        output.line(f"{len(names)} valid, {len(broken)} invalid in the profile boxxy")
    return exit_codes.FAILED if invalid else exit_codes.OK


def _coloured(text: str, colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return output.styled(text, (red, green, blue))
