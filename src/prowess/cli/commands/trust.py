"""`prowess trust`: decides which projects and installed packages may offer their skills."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from prowess._internal.places import working_directory
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.catalog.ownership import project_root
from prowess.catalog.trust import TrustStore
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.errors import LimitExceededError, StoreError, UnsafePathError

if TYPE_CHECKING:
    from prowess.catalog.sources.directory import DirectorySource
    from prowess.catalog.sources.packages.package import PackageSource
    from prowess.catalog.trust import TrustedPackage

_DIGITS = 12  # of a hash that is shown to a person


@click.command()
@click.argument("path", default=".", type=click.Path())
@click.option("--package", metavar="NAME", help="Trust an installed package instead: NAME, python:NAME or node:NAME.")
@click.option("--refuse", is_flag=True, help="Do not trust the project, and do not ask about it again.")
@click.option("--revoke", is_flag=True, help="Forget the decision about the project or package.")
@click.option("--list", "show", is_flag=True, help="List all decisions.")
@json_option
def command(*, path: str, package: str | None, refuse: bool, revoke: bool, show: bool, as_json: bool) -> int:
    """Trust the project at PATH (default: this directory), so that its skills are offered.

    The project is the nearest directory with .git at or above PATH, or else PATH itself. Decisions are stored in
    PROWESS_HOME/trust.json, by real path. Trust a project only if you would run its code: its skills are instructions
    to a model that acts for you.

    With --package, trust the skills of an installed Python or node package in its installed version. Another version
    must be trusted again.

    \b
    Example:
      prowess trust
      prowess trust --revoke ~/work/old-project
      prowess trust --package fastapi
    """  # noqa: D301 -- click needs the control character
    if refuse + revoke + show > 1:
        raise click.UsageError("--refuse, --revoke and --list exclude each other")
    if package is not None and (refuse or show or path != "."):
        raise click.UsageError("--package takes the place of PATH, and can be combined with --revoke only")
    store = TrustStore()
    if show:
        return _listed(store, as_json=as_json)
    if not os.path.isabs(path):
        working_directory()  # raises an error that names the cause if the working directory was deleted
    try:
        if package is not None:
            change = _package_revoked if revoke else _package_trusted
            return change(store, package, as_json=as_json)
        if revoke:
            return _revoked(store, path, as_json=as_json)
        return _decided(store, path, refuse=refuse, as_json=as_json)
    except OSError as fault:
        raise StoreError(store.path, fault.strerror or str(fault)) from fault


def _listed(store: TrustStore, *, as_json: bool) -> int:
    problem = store.problem
    if problem is not None:
        output.note(problem)
    trusted, refused, packages = store.listed(), store.refused(), list(store.packages().values())
    if as_json:
        rows = [_row(package) for package in packages]
        output.document(
            {"store": store.path, "trusted": trusted, "refused": refused, "packages": rows, "problem": problem}
        )
    elif trusted or refused or packages:
        lines = [*map(printable_line, trusted), *(f"{printable_line(path)} (refused)" for path in refused)]
        lines += [f"{printable_line(f'{one.name} {one.version}')} ({one.kind} package)" for one in packages]
        output.line("\n".join(lines))
    elif problem is None:
        output.note("no project is trusted; `prowess trust PATH` trusts one")
    return exit_codes.OK if problem is None else exit_codes.UNAVAILABLE


def _decided(store: TrustStore, path: str, *, refuse: bool, as_json: bool) -> int:
    if not os.path.isdir(path):
        raise click.BadParameter(f"{path!r} is not a directory", param_hint="PATH")
    real = (store.refuse if refuse else store.trust)(project_root(path))
    shown = printable_line(real)
    if as_json:
        output.document({"refused" if refuse else "trusted": real})
    elif refuse:
        output.line(f"Refused {shown}. Its skills stay held back, and no command asks; trust it with: prowess trust")
    else:
        output.line(f"Trusted {shown}. Its skills are offered from now on; undo with: prowess trust --revoke {shown}")
    return exit_codes.OK


def _revoked(store: TrustStore, path: str, *, as_json: bool) -> int:
    # The exact path is tried first, because a deleted project has no root that could be found.
    real, refused = os.path.realpath(path), {*store.refused()}
    revoked = store.revoke(path)
    if not revoked and os.path.isdir(path):
        real = os.path.realpath(project_root(path))
        revoked = store.revoke(real)
    if as_json:
        output.document({"revoked": revoked})
    else:
        shown, was = printable_line(real), "refused" if real in refused else "trusted"
        output.line(f"{shown} is no longer {was}." if revoked else f"{shown} was not trusted; nothing changed.")
    return exit_codes.OK


def _package_trusted(store: TrustStore, name: str, *, as_json: bool) -> int:
    # Imported here because most calls name a project.
    from prowess.catalog.sources.packages.package_trust import offer_of

    source = _installed(name)
    try:
        offer = offer_of(source)
    except (LimitExceededError, UnsafePathError) as fault:
        output.error(f"{printable_line(source.package.shown)} cannot be trusted: {printable_line(str(fault))}")
        return exit_codes.FAILED
    store.trust_package(offer.trusted)
    skills = sorted(entry.name for entry in offer.entries)
    for problem in offer.problems:
        output.note(printable_line(problem))
    if as_json:
        output.document({"trusted": {**_row(offer.trusted), "location": source.root, "skills": skills}})
        return exit_codes.OK
    shown = printable_line(source.package.shown)
    record = f"RECORD sha256:{offer.trusted.record[:_DIGITS]}" if offer.trusted.record else _hashed(offer.trusted)
    names = f": {', '.join(map(printable_line, skills))}" if skills else ""
    output.line(
        f"Trusted {shown} ({offer.trusted.kind} package in {output.shown_path(source.root)}, {record}). "
        f"It offers {counted(len(skills), 'skill')}{names}. "
        f"Undo with: prowess trust --package {printable_line(source.package.name)} --revoke"
    )
    return exit_codes.OK


def _hashed(package: TrustedPackage) -> str:
    return f"hashes of {counted(len(package.files), 'file')}"


def _installed(name: str) -> PackageSource:
    """Return the installed package with this name. Raises click.UsageError if there is none, or if it has no record."""
    # Imported here because most calls name a project.
    from prowess.catalog.sources.packages.package import PackageSource
    from prowess.catalog.sources.packages.package_trust import installed_packages, packages_with_skills

    found = installed_packages(os.getcwd(), name)
    packages = [source for source in found if isinstance(source, PackageSource)]
    if not packages:
        raise click.BadParameter(
            f"no package {name!r} with skills is installed in .venv, VIRTUAL_ENV, node_modules or the environment of "
            f"Prowess; {_known_packages(packages_with_skills(os.getcwd()))}",
            param_hint="--package",
        )
    if len(packages) > 1:
        kinds = " or ".join(f"{source.package.kind}:{source.package.name}" for source in packages)
        raise click.BadParameter(f"{name!r} is both a Python and a node package; name {kinds}", param_hint="--package")
    (source,) = packages
    if not source.is_trustable:
        raise click.BadParameter(f"{source.package.shown} cannot be trusted: {source.held}", param_hint="--package")
    return source


def _known_packages(found: list[DirectorySource]) -> str:
    if not found:
        return "no package there has skills"
    return f"packages with skills: {', '.join(sorted({part.label for part in found}))}"


def _package_revoked(store: TrustStore, name: str, *, as_json: bool) -> int:
    # Imported here because most calls name a project.
    from prowess.catalog.sources.packages.package_trust import trusted_keys

    revoked = [store.revoke_package(key) for key in trusted_keys(name, store)]
    if as_json:
        output.document({"revoked": any(revoked)})
    else:
        shown = printable_line(name)
        output.line(f"{shown} is no longer trusted." if any(revoked) else f"{shown} was not trusted; nothing changed.")
    return exit_codes.OK


def _row(package: TrustedPackage) -> dict[str, object]:
    row = package.as_row()
    return {**{key: row[key] for key in ("kind", "name", "version", "since")}, "record": package.record or None}
