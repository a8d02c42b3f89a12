"""`prowess deploy`, `revoke`, `rollback` and `hosts` with `--store` or `--server`: the skills of an organisation."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import to_builtins
from msgspec.structs import replace

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.options.organisation_options import opened_organisation
from prowess.cli.organisation.waiting import enrolled_machines, wait_for_machines
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.cli.options.organisation_options import OrganisationOptions
    from prowess.governance.service.deployments import DeploymentResult


def deploy_shared(
    of: OrganisationOptions,
    tenants: Sequence[str],
    directories: Sequence[str],
    environments: Sequence[str],
    *,
    wait: bool,
    as_json: bool,
) -> int:
    """Deploy skills to every machine of the organisation, or of some tenants. Each tenant is a release of its own."""
    archive = _archive(directories)
    results: list[tuple[str, DeploymentResult]] = []
    for tenant in tenants or (EVERY,):
        with opened_organisation(of.in_tenant(tenant if tenants else None), "deploy", tenant=EVERY) as organisation:
            # Imported here because SQLAlchemy is slow.
            from prowess.governance.service.deployments import NewDeployment

            new = NewDeployment(archives=(archive,), environments=tuple(environments))
            results.append((organisation.tenant, organisation.deployments.add(new)))
    if as_json and len(results) > 1:
        output.document({"deployments": [{"tenant": tenant, **to_builtins(result)} for tenant, result in results]})
    else:
        for tenant, result in results:
            _print(tenant, result, as_json=as_json)
    codes = [wait_for_machines(of.in_tenant(tenant if tenants else None)) for tenant in tenants or (EVERY,) if wait]
    return max(codes, default=exit_codes.OK)


def _archive(directories: Sequence[str]) -> bytes:
    """Return one archive of several skills, each in a folder with its name."""
    # Imported here, as the next one, because only deployments with skills need them.
    from prowess.distribution.publishing.packing import pack, read_skill_files
    from prowess.format.reading import read_skill

    files = [
        replace(file, path=f"{read_skill(directory).name}/{file.path}")
        for directory in directories
        for file in read_skill_files(directory).files
    ]
    return pack(sorted(files, key=lambda file: file.path.encode()))


def revoke_shared(of: OrganisationOptions, skills: Sequence[str], *, wait: bool, as_json: bool) -> int:
    """Take skills away from every machine."""
    with opened_organisation(of, "deploy", tenant=EVERY) as organisation:
        from prowess.governance.service.deployments import RevokedSkills  # Imported here because SQLAlchemy is slow.

        result = organisation.deployments.revoke(RevokedSkills(skills=tuple(skills)))
        tenant = organisation.tenant
    return _finished(of, tenant, result, wait=wait, as_json=as_json)


def deprecate_shared(of: OrganisationOptions, skill: str, successor: str | None, *, wait: bool, as_json: bool) -> int:
    """Mark a deployed skill as deprecated."""
    with opened_organisation(of, "deploy", tenant=EVERY) as organisation:
        from prowess.governance.service.deployments import DeprecatedSkill  # Imported here because SQLAlchemy is slow.

        result = organisation.deployments.deprecate(DeprecatedSkill(skill=skill, successor=successor))
        tenant = organisation.tenant
    return _finished(of, tenant, result, wait=wait, as_json=as_json)


def roll_back_shared(of: OrganisationOptions, number: int | None, *, wait: bool, as_json: bool) -> int:
    """Go back to an earlier release."""
    with opened_organisation(of, "deploy", tenant=EVERY) as organisation:
        result = organisation.deployments.roll_back(number)
        tenant = organisation.tenant
    return _finished(of, tenant, result, wait=wait, as_json=as_json)


def show_shared_releases(of: OrganisationOptions, *, as_json: bool) -> int:
    """Print the releases, the present one first."""
    with opened_organisation(of, "use", tenant=EVERY) as organisation:
        # Imported here because SQLAlchemy is slow.
        from prowess.governance.service.listing import ListQuery, every_item

        releases = list(every_item(organisation.deployments.list, ListQuery()))
        place = organisation.place
    if as_json:
        rows = [{"number": one.number, "skills": [to_builtins(skill) for skill in one.skills]} for one in releases]
        output.document({"deployment": place, "releases": rows})
        return exit_codes.OK
    for one in releases:
        names = ", ".join(f"{skill.name} {skill.version or ''}".strip() for skill in one.skills)
        output.line(printable_line(f"{'*' if one.present else ' '} {one.number:>3}  {names or 'no skills'}"))
    return exit_codes.OK


def show_shared_hosts(of: OrganisationOptions, *, as_json: bool) -> int:
    """Print the enrolled machines, and the release that each has, of the organisation or of the tenant."""
    with opened_organisation(of, "audit", tenant=EVERY) as organisation:
        from prowess.governance.service.listing import ListQuery  # Imported here because SQLAlchemy is slow.

        present = next(iter(organisation.deployments.list(ListQuery(limit=1)).items), None)
        is_tenants = organisation.tenant != EVERY
    release = None if present is None else present.number
    machines = [(one, one.tenant_release if is_tenants else one.release) for one in enrolled_machines(of)]
    if as_json:
        rows = [
            {"host": one.name, "release": there, "at": _time(one.seen_at), "current": there == release}
            for one, there in machines
        ]
        output.document({"release": release, "hosts": rows})
        return exit_codes.OK
    behind = sum(there != release for _, there in machines)
    output.line(f"release {release or '-'}: {counted(len(machines), 'host')}, {behind} without it")
    for one, there in machines:
        state = "current" if there == release else "behind"
        output.line(printable_line(f"{one.name}  {there or '-'}  {state:<7}  {_time(one.seen_at)}"))
    return exit_codes.OK


def _finished(of: OrganisationOptions, tenant: str, result: DeploymentResult, *, wait: bool, as_json: bool) -> int:
    _print(tenant, result, as_json=as_json)
    return wait_for_machines(of) if wait else exit_codes.OK


def _print(tenant: str, result: DeploymentResult, *, as_json: bool) -> None:
    if as_json:
        output.document(to_builtins(result))
        return
    whose = "the organisation" if tenant == EVERY else f"the tenant {tenant}"
    told = f"release {result.release} {result.state} for {whose}: {counted(len(result.skills), 'skill')}"
    output.line(printable_line(told))
    for one in result.skills:
        change = "added" if one.name in result.added else "replaced" if one.name in result.replaced else ""
        output.line(printable_line(f"  {one.name}  {one.tree}{f'  {change}' if change else ''}"))
    for name in result.removed:
        output.line(printable_line(f"  {name}  removed"))


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))
