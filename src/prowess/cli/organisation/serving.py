"""`prowess admin serve`: the HTTP interface and the pages of an organisation's server."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.audit.central import signer_of
from prowess.cli.options.http_options import http_place
from prowess.cli.options.login_options import LoginOptions, login_options
from prowess.cli.organisation.shared_store_option import shared_store_option
from prowess.errors import MissingExtraError, SignatureError

if TYPE_CHECKING:
    from prowess.audit.transparency.sequencer import LogSigner

_DEFAULT_ADDRESS = "127.0.0.1:8420"


@click.command(name="serve")
@shared_store_option
@click.option("--http", "address", metavar="ADDR", default=_DEFAULT_ADDRESS, show_default=True, help="HOST:PORT.")
@click.option(
    "--allow-host", "hosts", multiple=True, metavar="NAME", help="Host name that clients may use. Repeatable."
)
@login_options
def serve_organisation(*, url: str, address: str, hosts: tuple[str, ...], login: LoginOptions) -> int:
    """Serve the interface /api/v1 and the pages of an organisation until SIGTERM or Ctrl-C.

    It listens on this machine alone: for others, put a web server with TLS in front of it, and give its address with
    --public-url. It signs the logs of all tenants if the key of the organisation is on this machine. People log in with
    tokens, and with --oidc by an issuer too.

    \b
    Example:
      prowess admin serve --store postgresql:///prowess --public-url https://skills.example.com
    """  # noqa: D301 -- click needs the control character
    place = http_place(address, None, (), allow_remote=None)
    try:
        import anyio  # Imported here, as the next ones, because starlette and uvicorn are extras and take long.

        from prowess.http_server.server import OrganisationServer
        from prowess.http_server.serving import serve
    except ImportError as fault:
        raise MissingExtraError("`admin serve`", "server", str(fault)) from fault
    settings = login.settings(place.host, place.port)
    server = OrganisationServer(url, _signer(url), settings)
    known = hosts if settings.public_url is None else (*hosts, urlsplit(settings.public_url).hostname or "")
    try:
        if server.logins.issuer is not None and (why := server.logins.issuer.unreachable()) is not None:
            _tell(f"people cannot log in by the issuer until it can be used: {why}")
        stopped_by = anyio.run(serve, server, place.host, place.port, known, _tell)
    except OSError as fault:
        output.error(f"cannot listen at {place.host}, port {place.port}: {fault.strerror or fault}")
        return exit_codes.USAGE
    finally:
        server.close()
    return exit_codes.OK if stopped_by is None else exit_codes.SIGNALLED + stopped_by


def _signer(url: str) -> LogSigner | None:
    try:
        return signer_of(url, None)
    except SignatureError as fault:
        output.note(printable_line(f"{fault}; records wait without a place in the log, and no bundle is signed"))
        return None


def _tell(sentence: str) -> None:
    output.note(printable_line(sentence))
