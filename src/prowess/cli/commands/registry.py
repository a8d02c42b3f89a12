"""`prowess registry`: lists, searches, checks and serves registries of skills."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio
import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.cli.key_files import read_signing_key, read_verifying_key
from prowess.cli.options import json_option
from prowess.cli.options.http_options import http_place
from prowess.cli.options.package_options import allow_host_option
from prowess.cli.packages.permission import permission_for
from prowess.cli.packages.registries import configured_registries
from prowess.cli.skill_table import table
from prowess.distribution.publishing.directory_registry import DirectoryRegistry
from prowess.distribution.sources.index.document import has_index
from prowess.distribution.sources.protocol import Access
from prowess.distribution.sources.registries import list_registries, search
from prowess.errors import InvalidArgumentsError, MissingExtraError
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.sources.registries import RegisteredSkill, RegistryListing
    from prowess.lockfile.source_reference import SourceReference

_DEFAULT_ADDRESS = "127.0.0.1:8000"


@click.group(name="registry")
def command() -> None:
    """Make, list, search, check or serve registries of skills.

    Example: prowess registry search pdf
    """


@command.command(name="init")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
@click.option("--key", "root_file", required=True, metavar="ROOT", help="The private key of the root; keep it offline.")
@click.option("--online", "online_file", required=True, metavar="KEY", help="The private key that dates releases.")
@click.option("--signer", "signers", required=True, multiple=True, metavar="PUB", help="A public key that may sign.")
@click.option("--threshold", required=True, type=click.IntRange(1), metavar="N", help="How many signers must sign.")
@json_option
def init(
    *, directory: str, root_file: str, online_file: str, signers: tuple[str, ...], threshold: int, as_json: bool
) -> int:
    """Make a deployment in DIR, for `prowess deploy` and `prowess sync`.

    Hosts trust it by DIR/metadata/1.root.json, so bring that file to each host by another way. ROOT is needed again
    only to renew that file. KEY stays where it is; its path is written to DIR/online-key.

    \b
    Example:
      prowess key new root.key
      prowess key new online.key
      prowess registry init /srv/deployment --key root.key --online online.key \\
        --signer alice.key.pub --signer bob.key.pub --threshold 2
    """  # noqa: D301 -- click needs the control character
    # Imported here for the other commands.
    from prowess.distribution.deployment.repository_creation import create_repository

    public = [read_verifying_key(file) for file in signers]
    path = create_repository(
        directory,
        root=read_signing_key(root_file),
        online=read_signing_key(online_file),
        online_file=online_file,
        signers=public,
        threshold=threshold,
    )
    if as_json:
        row = {"root": path, "threshold": threshold, "signers": [key.fingerprint for key in public]}
        output.document({"registry": os.path.abspath(directory), **row})
    else:
        output.line(f"{output.shown_path(path)}: {threshold} of {counted(len(public), 'signer')} must sign a release")
        output.line("give this file to each host: prowess sync --root FILE")
    return exit_codes.OK


@command.command(name="list")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@allow_host_option
@json_option
def list_(*, sources: tuple[str, ...], allowed_hosts: tuple[str, ...], as_json: bool) -> int:
    """List the skills of a registry or of another source.

    SOURCE is one for `prowess install`: a site with an index (https://...), a directory, a repository, or oci://...
    Without SOURCE, the registries of the setting `registries` are listed.

    Example: prowess registry list https://skills.example.com
    """
    listing = _listing(_references(sources), allowed_hosts)
    return _printed(listing.skills, listing, as_json=as_json)


@command.command(name="search")
@click.argument("words", nargs=-1, required=True)
@click.option("--registry", "sources", metavar="SOURCE", multiple=True, help="Search here; defaults to `registries`.")
@allow_host_option
@json_option
def search_(*, words: tuple[str, ...], sources: tuple[str, ...], allowed_hosts: tuple[str, ...], as_json: bool) -> int:
    """Find skills of registries by words in name and description.

    A skill is found if its name or description contains every word.

    Example: prowess registry search pdf tables --registry https://skills.example.com
    """
    listing = _listing(_references(sources), allowed_hosts)
    return _printed(search(listing.skills, words), listing, as_json=as_json)


@command.command(name="refresh")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--online", "online_file", metavar="KEY", help="The online key of a deployment, if it was moved.")
@click.option("--key", "root_file", metavar="ROOT", help="The root key of a deployment, to renew its root too.")
@json_option
def refresh(*, directory: str, online_file: str | None, root_file: str | None, as_json: bool) -> int:
    """Compare artifacts of DIR with their digests, and write the index.

    Use it after files were restored or merged. An artifact that is missing or changed is reported, and nothing is
    written. If DIR is a deployment, its timestamp is signed anew with the online key. Run this every day: hosts refuse
    a timestamp that is older than 7 days, because somebody could hold back newer releases.

    Example: prowess registry refresh build/registry
    """
    if os.path.lexists(os.path.join(directory, "metadata")):
        return _refreshed_deployment(directory, online_file, root_file, as_json=as_json)
    if online_file or root_file:
        raise click.UsageError(f"{directory} is no deployment, so it has no keys")
    number = DirectoryRegistry(directory).refresh()
    if as_json:
        output.document({"registry": os.path.abspath(directory), "artifacts": number})
    else:
        output.line(f"{counted(number, 'artifact')} in {output.shown_path(os.path.abspath(directory))}: all unchanged")
    return exit_codes.OK


def _refreshed_deployment(directory: str, online_file: str | None, root_file: str | None, *, as_json: bool) -> int:
    from prowess.distribution.deployment.repository import DeploymentRepository  # Imported here as in `init`.

    repository = DeploymentRepository(directory)
    online = read_signing_key(online_file or repository.online_file())
    expires = repository.refresh(online, None if root_file is None else read_signing_key(root_file))
    shown = None if expires is None else expires.isoformat()
    if as_json:
        output.document({"registry": repository.directory, "expires": shown})
    elif shown is None:
        output.line(f"{output.shown_path(repository.directory)} has no release yet")
    else:
        output.line(f"{output.shown_path(repository.directory)}: signed anew, expires {shown}")
    return exit_codes.OK


@command.command(name="trust")
@click.argument("source", metavar="SOURCE")
@click.option("--root", "root_file", required=True, metavar="FILE", help="Its metadata/1.root.json, from its owner.")
@allow_host_option
@json_option
def trust(*, source: str, root_file: str, allowed_hosts: tuple[str, ...], as_json: bool) -> int:
    """Trust the root of the registry SOURCE.

    From now on, its index must have the signatures that the root demands.

    SOURCE is a site with an index or a directory that `prowess registry init` made. Get FILE from the owner of the
    registry by another way. Every command that reads skills from SOURCE then refuses an index that was changed, is
    older than one seen before, or whose date has expired.

    Example: prowess registry trust https://skills.example.com --root acme.root.json
    """
    from prowess.cli.packages.deployments import read_root  # Imported here as in `init`.
    from prowess.distribution.deployment.trusted_registries import trust_registry

    location = _registry(source)
    changed = trust_registry(location, read_root(root_file), allowed_hosts)
    if as_json:
        output.document({"registry": location, "changed": changed})
    else:
        output.line(printable_line(f"{'Trusted' if changed else 'Already trusted'}: {location}"))
    return exit_codes.OK


@command.command(name="forget")
@click.argument("source", metavar="SOURCE")
@json_option
def forget(*, source: str, as_json: bool) -> int:
    """Forget the root of the registry SOURCE.

    Its signatures are no longer asked for. Exits with 1 if there is none.

    Example: prowess registry forget https://skills.example.com
    """
    from prowess.distribution.deployment.trusted_registries import forget_registry  # Imported here as in `init`.

    location = _registry(source)
    changed = forget_registry(location)
    if as_json:
        output.document({"registry": location, "changed": changed})
    else:
        output.line(printable_line(f"{'Forgotten' if changed else 'Not trusted'}: {location}"))
    return exit_codes.OK if changed else exit_codes.FAILED


def _registry(source: str) -> str:
    (reference,) = _references((source,))
    if reference.kind not in {"index", "directory"}:
        raise click.UsageError(printable_line(f"{source} is neither a site with an index nor a directory"))
    return reference.location


@command.command(name="serve")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option("--http", "address", metavar="ADDR", default=_DEFAULT_ADDRESS, show_default=True, help="HOST:PORT.")
def serve(*, directory: str, address: str) -> int:
    """Serve a registry in DIR over HTTP on this machine until Ctrl-C.

    Only published files are served. Clients demand https from other machines, so use a web server with TLS for a team.

    Example: prowess registry serve build/registry --http 127.0.0.1:8000
    """
    place = http_place(address, None, (), allow_remote=None)
    try:
        from prowess.http_listener.listener import HttpListener, bound  # Imported here because uvicorn is an extra.
    except ImportError as fault:
        raise MissingExtraError("`registry serve`", "http", str(fault)) from fault
    from prowess.distribution.publishing.registry_server import registry_app  # Imported here for the other commands.

    with bound(place.host, place.port) as listening:
        listener = HttpListener(registry_app(os.path.abspath(directory)), listening)
        shown = output.shown_path(os.path.abspath(directory))
        output.note(f"serving {shown} at {listener.url(place.host, '/')}; stop with Ctrl-C")
        if not (has_index(directory) or os.path.isdir(os.path.join(directory, "metadata"))):
            output.note(f"nothing is published in {shown} yet: prowess publish PATH --to {shown}")
        anyio.run(listener.run)
    return exit_codes.OK


def _references(sources: Sequence[str]) -> tuple[SourceReference, ...]:
    if not sources:
        if found := configured_registries():
            return found
        raise click.UsageError("name a registry, or set `registries` in config.toml or PROWESS_REGISTRIES")
    try:
        return tuple(parse_reference(source) for source in sources)
    except InvalidArgumentsError as fault:
        raise click.UsageError(printable_line(str(fault))) from None


def _listing(references: Sequence[SourceReference], allowed_hosts: tuple[str, ...]) -> RegistryListing:
    with TemporaryDirectory() as scratch:
        ask = permission_for("packages.install", "none").before_fetch
        access = Access(redirect_hosts=allowed_hosts)
        return list_registries(references, ask=ask, scratch=scratch, access=access)


def _printed(skills: Sequence[RegisteredSkill], listing: RegistryListing, *, as_json: bool) -> int:
    for problem in listing.problems:
        output.note(printable_line(problem))
    if as_json:
        document = {"contacted": listing.contacted, "skills": to_builtins(skills), "problems": listing.problems}
        output.document(document)
        return exit_codes.OK
    if not skills:
        output.note("no skill found")
        return exit_codes.OK
    names = [printable_line(skill.name) for skill in skills]
    versions = [printable_line(skill.version or "-") for skill in skills]
    for line in table(names, versions, [skill.description for skill in skills]):
        output.line(line.rstrip("\n"))
    return exit_codes.OK
