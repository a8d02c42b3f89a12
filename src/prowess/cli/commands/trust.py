"""`prowess trust`: decides which projects may offer their skills."""

from __future__ import annotations

import os

import click

from prowess._internal.places import working_directory
from prowess._internal.text.terminal_text import printable_line
from prowess.catalog.project import project_root
from prowess.catalog.trust import TrustStore
from prowess.cli import exit_codes, output
from prowess.errors import StoreError


@click.command()
@click.argument("path", default=".", type=click.Path())
@click.option("--revoke", is_flag=True, help="Stop trusting the project.")
@click.option("--list", "show", is_flag=True, help="List the trusted projects.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, path: str, revoke: bool, show: bool, as_json: bool) -> int:
    """Trust the project at PATH (default: this directory), so that its skills are offered.

    The project is the nearest directory with .git at or above PATH, or else PATH itself. Decisions are stored in
    PROWESS_HOME/trust.json, by real path. Trust a project only if you would run its code: its skills are instructions
    to a model that acts for you.

    \b
    Example:
      prowess trust
      prowess trust --revoke ~/work/old-project
    """  # noqa: D301 -- click needs the control character
    if revoke and show:
        raise click.UsageError("--revoke and --list exclude each other")
    store = TrustStore()
    if show:
        return _listed(store, as_json=as_json)
    if not os.path.isabs(path):
        working_directory()  # raises an error that names the cause if the working directory was deleted
    try:
        return _revoked(store, path, as_json=as_json) if revoke else _trusted(store, path, as_json=as_json)
    except OSError as fault:
        raise StoreError(store.path, fault.strerror or str(fault)) from fault


def _listed(store: TrustStore, *, as_json: bool) -> int:
    problem = store.problem
    if problem is not None:
        output.note(problem)
    trusted = store.listed()
    if as_json:
        output.document({"store": store.path, "trusted": list(trusted), "problem": problem})
    elif trusted:
        output.line("\n".join(map(printable_line, trusted)))
    elif problem is None:
        output.note("no project is trusted; `prowess trust PATH` trusts one")
    return exit_codes.OK if problem is None else exit_codes.UNAVAILABLE


def _trusted(store: TrustStore, path: str, *, as_json: bool) -> int:
    if not os.path.isdir(path):
        raise click.BadParameter(f"{path!r} is not a directory", param_hint="PATH")
    real = store.trust(project_root(path))
    if as_json:
        output.document({"trusted": real})
    else:
        shown = printable_line(real)
        output.line(f"Trusted {shown}. Its skills are offered from now on; undo with: prowess trust --revoke {shown}")
    return exit_codes.OK


def _revoked(store: TrustStore, path: str, *, as_json: bool) -> int:
    # The exact path is tried first, because a deleted project has no root that could be found.
    real, revoked = os.path.realpath(path), store.revoke(path)
    if not revoked and os.path.isdir(path):
        real = os.path.realpath(project_root(path))
        revoked = store.revoke(real)
    if as_json:
        output.document({"revoked": revoked})
    else:
        shown = printable_line(real)
        output.line(f"{shown} is no longer trusted." if revoked else f"{shown} was not trusted; nothing changed.")
    return exit_codes.OK
